import { open } from 'node:fs/promises';
import { InvalidMedia, type MediaProperties } from './media-formats.ts';

/** The index of a long video takes several megabytes. */
const MOOV_BYTES_MAX = 64_000_000;

type Read = (offset: number, length: number) => Promise<Buffer>;

interface Box {
  type: string;
  /** Offset of the body in the file. */
  start: number;
  end: number;
}

/** ISO/IEC 14496-12. The boxes must fill the file exactly, which detects a truncated file without decoding it. */
export async function inspectMp4(source: Uint8Array | string, size: number): Promise<MediaProperties> {
  if (typeof source !== 'string') {
    const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
    return readProperties(async (offset, length) => bytes.subarray(offset, offset + length), size);
  }
  const file = await open(source);
  try {
    return await readProperties(async (offset, length) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    }, size);
  } finally {
    await file.close();
  }
}

async function readProperties(read: Read, size: number): Promise<MediaProperties> {
  const boxes = await boxesOf(read, size);
  const ftyp = boxes[0];
  if (ftyp?.type !== 'ftyp')
    throw new InvalidMedia('does not begin with an ftyp box, so it is not an MP4 video; export it as MP4');
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
  return moovProperties(await read(moov.start, moov.end - moov.start));
}

/** The top-level boxes of the file. */
async function boxesOf(read: Read, size: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; at < size; ) {
    const box = boxAt(await read(at, 16), at);
    if (box === null || box.end > size) {
      if (boxes.length === 0)
        throw new InvalidMedia('does not begin with an ftyp box, so it is not an MP4 video; export it as MP4');
      const where =
        box === null ? 'after its last whole box' : `in its ${box.type} box, which should end at byte ${box.end}`;
      throw new InvalidMedia(`is cut short: it has ${size} bytes and ends ${where}; send the whole file again`);
    }
    boxes.push(box);
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

function moovProperties(moov: Buffer): MediaProperties {
  try {
    const mvhd = childrenOf(moov, 'mvhd')[0];
    if (!mvhd) throw new InvalidMedia('has no mvhd box; export it again as MP4');
    const long = mvhd[0] === 1;
    const scale = mvhd.readUInt32BE(long ? 20 : 12);
    const duration = long ? Number(mvhd.readBigUInt64BE(24)) : mvhd.readUInt32BE(16);
    if (scale === 0 || duration === 0 || duration === (long ? 2 ** 64 : 0xffff_ffff)) {
      throw new InvalidMedia('does not tell how long it is; export it as MP4 without fragments');
    }
    const video = childrenOf(moov, 'trak').find((trak) =>
      childrenOf(trak, 'mdia').some((mdia) =>
        childrenOf(mdia, 'hdlr').some((hdlr) => hdlr.toString('latin1', 8, 12) === 'vide'),
      ),
    );
    const tkhd = video && childrenOf(video, 'tkhd')[0];
    if (!tkhd) throw new InvalidMedia('has no video track; export it again with its pictures');
    return { ...sizeOf(tkhd), duration_ms: Math.round((duration * 1000) / scale) };
  } catch (error) {
    // The field lies beyond its box.
    if (error instanceof RangeError) throw new InvalidMedia('has a damaged moov box; export it again as MP4');
    throw error;
  }
}

function childrenOf(body: Buffer, type: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 8 <= body.length; ) {
    const box = boxAt(body.subarray(at, at + 16), at);
    if (box === null || box.end > body.length) throw new RangeError('a box ends beyond its parent');
    if (box.type === type) found.push(body.subarray(box.start, box.end));
    at = box.end;
  }
  return found;
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
