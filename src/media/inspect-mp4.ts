import type { Chapter } from '../desk/papers/media.ts';
import { damagedChapters, requireFew, soundProperties } from './chapters.ts';
import type { Read } from './media-bytes.ts';
import { InvalidMedia, type MediaProperties } from './media-formats.ts';

/** The largest index (moov box). That of a long video takes several megabytes. */
const MOOV_BYTES_MAX = 64_000_000;

interface Box {
  type: string;
  /** Offset of the body in the file. */
  start: number;
  end: number;
}

/** Top-level boxes of a file; a file in fragments has two for every few seconds. */
const BOXES_MAX = 50_000;

const NO_MP4 = 'does not begin with an ftyp box, so it is not MP4; export it as MP4';

/**
 * ISO/IEC 14496-12. The boxes must fill the file exactly, which detects a truncated file without decoding it.
 * `media_type` is `video/mp4`, or `audio/mp4` for sound alone.
 */
export async function inspectMp4(read: Read, size: number, media_type: string): Promise<MediaProperties> {
  const boxes = await boxesOf(read, size);
  const ftyp = boxes[0];
  if (ftyp?.type !== 'ftyp') throw new InvalidMedia(NO_MP4);
  const brand = (await read(ftyp.start, 4)).toString('latin1');
  if (brand === 'qt  ') throw new InvalidMedia('is a QuickTime film, not MP4; export it as MP4');
  const moov = boxes.find(({ type }) => type === 'moov');
  if (!moov)
    throw new InvalidMedia('has no moov box: it is truncated or was never finished; send the whole file again');
  if (!boxes.some(({ type, start, end }) => type === 'mdat' && end > start)) {
    throw new InvalidMedia('has no mdat box with pictures and sound; export it again as MP4');
  }
  if (moov.end - moov.start > MOOV_BYTES_MAX)
    throw new InvalidMedia('has an index that is too large; export it again as MP4');
  const index = await read(moov.start, moov.end - moov.start);
  try {
    // No box has this type, so this checks the whole index.
    childrenOf(index, '').next();
    const duration_ms = durationOf(index);
    if (media_type === 'video/mp4') return { ...pictureSize(index), duration_ms: Math.round(duration_ms) };
    const sound = soundTrack(index);
    const listed = listedChapters(index);
    return soundProperties(duration_ms, listed.length > 0 ? listed : await trackChapters(read, index, sound));
  } catch (error) {
    // The field lies beyond its box.
    if (error instanceof RangeError) throw new InvalidMedia('has a damaged moov box; export it again as MP4');
    throw error;
  }
}

/** The top-level boxes of the file. */
async function boxesOf(read: Read, size: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; at < size; ) {
    const box = boxAt(await read(at, 16), at);
    if (box === null || box.end > size) {
      if (boxes.length === 0) throw new InvalidMedia(NO_MP4);
      const where =
        box === null ? 'after its last whole box' : `in its ${box.type} box, which should end at byte ${box.end}`;
      throw new InvalidMedia(`is cut short: it has ${size} bytes and ends ${where}; send the whole file again`);
    }
    if (boxes.push(box) > BOXES_MAX)
      throw new InvalidMedia(`has more than ${BOXES_MAX} boxes; export it as MP4 without fragments`);
    at = box.end;
  }
  return boxes;
}

/** Null when invalid. Size 1: 64 bits follow. Size 0, to the file's end, is rejected: it could be truncated. */
function boxAt(header: Buffer, at: number): Box | null {
  if (header.length < 8) return null;
  const type = header.toString('latin1', 4, 8);
  const short = header.readUInt32BE(0);
  if (short !== 1) return short < 8 ? null : { type, start: at + 8, end: at + short };
  if (header.length < 16) return null;
  const long = Number(header.readBigUInt64BE(8));
  return long < 16 ? null : { type, start: at + 16, end: at + long };
}

/** In ms. */
function durationOf(moov: Buffer): number {
  const mvhd = child(moov, 'mvhd');
  if (!mvhd) throw new InvalidMedia('has no mvhd box; export it again as MP4');
  const long = mvhd[0] === 1;
  const scale = mvhd.readUInt32BE(long ? 20 : 12);
  const duration = long ? Number(mvhd.readBigUInt64BE(24)) : mvhd.readUInt32BE(16);
  if (scale === 0 || duration === 0 || duration === (long ? 2 ** 64 : 0xffff_ffff)) {
    throw new InvalidMedia('does not tell how long it is; export it as MP4 without fragments');
  }
  return (duration * 1000) / scale;
}

function pictureSize(moov: Buffer): { width: number; height: number } {
  const tkhd = child(tracksOf(moov, 'vide').next().value, 'tkhd');
  if (!tkhd) throw new InvalidMedia('has no video track; export it again with its pictures');
  return sizeOf(tkhd);
}

/** The audio track of a file that has no others, except for the texts and pictures of its chapters. */
function soundTrack(moov: Buffer): Buffer {
  const sound = tracksOf(moov, 'soun').next().value;
  if (sound === undefined) throw new InvalidMedia('has no audio track; export it again with its sound');
  const chapters = new Set(chapterTracks(sound));
  for (const track of tracksOf(moov, 'vide')) {
    if (chapters.has(trackId(track))) continue;
    throw new InvalidMedia('has a video track; name it .mp4 and give it as video, or export the sound alone');
  }
  const codec = child(sound, 'mdia', 'minf', 'stbl', 'stsd')?.toString('latin1', 12, 16);
  if (codec === 'mp4a') return sound;
  throw new InvalidMedia(
    `has sound in ${JSON.stringify(codec ?? '')}, which not every browser plays; export it as AAC`,
  );
}

/** The list of chapters that most programs write (`chpl`): times in units of 100 ns, titles of at most 255 bytes. */
function listedChapters(moov: Buffer): Chapter[] {
  const chpl = child(moov, 'udta', 'chpl');
  if (chpl === undefined) return [];
  const chapters: Chapter[] = [];
  try {
    let at = chpl[0] === 1 ? 8 : 4;
    const count = chpl.readUInt8(at++);
    while (chapters.length < count) {
      const [time, end] = [milliseconds(Number(chpl.readBigUInt64BE(at)) / 1e7), at + 9 + chpl.readUInt8(at + 8)];
      if (end > chpl.length) throw new RangeError('a title ends beyond its box');
      chapters.push({ time, title: chpl.toString('utf8', at + 9, end) });
      at = end;
    }
  } catch (error) {
    if (error instanceof RangeError) throw damagedChapters();
    throw error;
  }
  return chapters;
}

/** Chapters as Apple's programs write them: a text track that the audio track refers to (QuickTime File Format). */
async function trackChapters(read: Read, moov: Buffer, sound: Buffer): Promise<Chapter[]> {
  const ids = new Set(chapterTracks(sound));
  const track = tracksOf(moov, 'text').find((text) => ids.has(trackId(text)));
  const mdhd = child(track, 'mdia', 'mdhd');
  const table = child(track, 'mdia', 'minf', 'stbl');
  const [stts, stsz, stsc] = [child(table, 'stts'), child(table, 'stsz'), child(table, 'stsc')];
  const [stco, co64] = [child(table, 'stco'), child(table, 'co64')];
  const chunks = stco ?? co64;
  if (!mdhd || !stts || !stsz || !stsc || !chunks) return [];
  const count = stsz.readUInt32BE(8);
  requireFew(count);
  const scale = mdhd.readUInt32BE(mdhd[0] === 1 ? 20 : 12) || 1;
  const chapters: Chapter[] = [];
  let [time, run, left, group] = [0, -1, 0, 0];
  for (let chunk = 0; chapters.length < count; chunk++) {
    let offset = stco ? stco.readUInt32BE(8 + chunk * 4) : Number(chunks.readBigUInt64BE(8 + chunk * 8));
    // Chunks are numbered from 1, and each group begins at one.
    while (group + 1 < stsc.readUInt32BE(4) && stsc.readUInt32BE(8 + (group + 1) * 12) <= chunk + 1) group++;
    for (let n = stsc.readUInt32BE(12 + group * 12); n > 0 && chapters.length < count; n--) {
      const size = stsz.readUInt32BE(4) || stsz.readUInt32BE(12 + chapters.length * 4);
      chapters.push({ time: milliseconds(time / scale), title: sampleText(await read(offset, Math.min(size, 1024))) });
      offset += size;
      for (; left === 0; run++) left = stts.readUInt32BE(16 + run * 8);
      time += stts.readUInt32BE(12 + run * 8);
      left--;
    }
  }
  return chapters;
}

/** A text that is prefixed with its length, in UTF-8 or, after a byte order mark, in UTF-16. */
function sampleText(sample: Buffer): string {
  const text = sample.subarray(2, 2 + sample.readUInt16BE(0));
  return new TextDecoder(text[0] === 0xfe && text[1] === 0xff ? 'utf-16be' : 'utf-8').decode(text);
}

const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** The tracks of a kind, such as `vide`. */
function* tracksOf(moov: Buffer, handler: string): Generator<Buffer, undefined> {
  for (const trak of childrenOf(moov, 'trak')) {
    if (child(trak, 'mdia', 'hdlr')?.toString('latin1', 8, 12) === handler) yield trak;
  }
}

function trackId(trak: Buffer): number {
  const tkhd = child(trak, 'tkhd');
  return tkhd?.readUInt32BE(tkhd[0] === 1 ? 20 : 12) ?? 0;
}

/** The ids of the tracks that hold the chapters of a track. */
function chapterTracks(trak: Buffer): number[] {
  const chap = child(trak, 'tref', 'chap') ?? Buffer.alloc(0);
  return Array.from({ length: Math.min(8, Math.floor(chap.length / 4)) }, (_, n) => chap.readUInt32BE(n * 4));
}

/** The first box at a path of types. */
function child(body: Buffer | undefined, ...path: string[]): Buffer | undefined {
  return path.reduce<Buffer | undefined>((at, type) => at && childrenOf(at, type).next().value, body);
}

/** A generator, because a moov of the largest size has room for millions of boxes. */
function* childrenOf(body: Buffer, type: string): Generator<Buffer, undefined> {
  for (let at = 0; at + 8 <= body.length; ) {
    const box = boxAt(body.subarray(at, at + 16), at);
    if (box === null || box.end > body.length) throw new RangeError('a box ends beyond its parent');
    if (box.type === type) yield body.subarray(box.start, box.end);
    at = box.end;
  }
}

/** The last two fields, in 16.16 fixed point. A quarter turn in the preceding matrix swaps them. */
function sizeOf(tkhd: Buffer): { width: number; height: number } {
  const end = tkhd[0] === 1 ? 96 : 84;
  const width = Math.round(tkhd.readUInt32BE(end - 8) / 65_536);
  const height = Math.round(tkhd.readUInt32BE(end - 4) / 65_536);
  if (width === 0 || height === 0) throw new InvalidMedia('has pictures of no size; export it again as MP4');
  const turned = tkhd.readInt32BE(end - 44) === 0 && tkhd.readInt32BE(end - 40) !== 0;
  return turned ? { width: height, height: width } : { width, height };
}
