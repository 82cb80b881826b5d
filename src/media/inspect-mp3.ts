import { soundProperties } from './chapters.ts';
import { ID3_HEADER, id3Chapters, id3Length } from './id3.ts';
import type { Read } from './media-bytes.ts';
import { InvalidMedia, type MediaProperties } from './media-formats.ts';

/** How many bytes of a file are in memory at a time. */
const CHUNK = 256 * 1024;
/** Tags are read whole for their chapters. Beyond this they hold pictures that no player shows. */
const ID3_BYTES_MAX = 16 * 1024 * 1024;

/** The most tags between and after the frames, which joined files have. */
const TAGS_MAX = 100;

const AGAIN = 'export it again as MP3';
const WHOLE = 'send the whole file again';

/** Bit rates of layer III in kbit/s, by the index in the header: of MPEG-1, then of MPEG-2 and 2.5. */
const BITRATES = [
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;

/** The first bytes of other formats, for the message. */
const OTHERS: readonly [RegExp, string][] = [
  [/^\s*</, 'HTML or XML'],
  [/^.{4}ftyp/s, 'an MP4 file; name it .m4a'],
  [/^RIFF/, 'a WAVE file'],
  [/^OggS/, 'an Ogg file'],
  [/^fLaC/, 'a FLAC file'],
  [/^\xff[\xf0\xf1\xf8\xf9]/, 'AAC without a container; put it into an .m4a file'],
  [/^\xff[\xe4-\xe7\xf4-\xf7\xfc\xfd]/, 'MPEG audio of layer I or II'],
];

/** The header of a frame of layer III (ISO/IEC 11172-3, 2.4.1.3 and 13818-3). */
interface Frame {
  /** In bytes. */
  length: number;
  samples: number;
  /** Samples per second. */
  rate: number;
  isMono: boolean;
}

/**
 * Counts the frames of an MP3 file, which gives its duration at any bit rate, and shows whether it is complete: frames,
 * tags and zeros must fill the file, and there must be as many frames as its Xing or VBRI header says.
 */
export async function inspectMp3(read: Read, size: number): Promise<MediaProperties> {
  const start = await tagEnd(read, 0, size);
  const chapters = start === 0 ? [] : id3Chapters(await read(0, start));
  let [chunk, base] = [await read(start, CHUNK), start];
  let first: Frame | null = null;
  let [frames, declared, tags] = [0, 0, 0];
  for (let at = start; at < size; ) {
    if (at - base + 4 > chunk.length) [chunk, base] = [await read(at, CHUNK), at];
    const frame = frameAt(chunk, at - base);
    if (frame === null) {
      const zeros = zerosAt(chunk, at - base);
      const next = zeros > 0 ? at + zeros : ++tags > TAGS_MAX ? null : await otherEnd(read, at, size);
      if (next === null) throw notFrame(first === null ? chunk : null, at);
      at = next;
      continue;
    }
    if (first !== null && first.rate !== frame.rate) {
      throw new InvalidMedia(`changes from ${first.rate} to ${frame.rate} samples per second at byte ${at}; ${AGAIN}`);
    }
    if (at + frame.length > size) {
      throw new InvalidMedia(
        `is cut short: its last frame should end at byte ${at + frame.length}, and it has ${size} bytes; ${WHOLE}`,
      );
    }
    if (first === null) {
      first = frame;
      declared = declaredFrames(await read(at, frame.length), frame);
    }
    frames++;
    at += frame.length;
  }
  // The frame with the header is silent; some programs count it.
  const sounding = declared > 0 ? frames - 1 : frames;
  if (first === null || sounding === 0) throw new InvalidMedia(`has no sound; ${AGAIN}`);
  if (declared > frames) {
    throw new InvalidMedia(`is cut short: it has ${sounding} of the ${declared} frames that it names; ${WHOLE}`);
  }
  return soundProperties((sounding * first.samples * 1000) / first.rate, chapters);
}

/** The frame at an offset of the chunk; null when there is none. Throws for free format, whose frames have any length. */
function frameAt(chunk: Buffer, at: number): Frame | null {
  if (at + 4 > chunk.length) return null;
  const header = chunk.readUInt32BE(at);
  const version = (header >>> 19) & 3;
  const isOne = version === 3;
  const bitrate = (header >>> 12) & 15;
  const rate = (header >>> 10) & 3;
  // Eleven bits of sync, layer III, and none of the reserved values.
  if (header >>> 21 !== 0x7ff || version === 1 || ((header >>> 17) & 3) !== 1 || bitrate === 15 || rate === 3)
    return null;
  if (bitrate === 0) throw new InvalidMedia(`is in free format, which few players read; ${AGAIN}`);
  const samplesPerSecond = [44_100, 48_000, 32_000][rate] ?? 0;
  const sampled = isOne ? samplesPerSecond : version === 2 ? samplesPerSecond / 2 : samplesPerSecond / 4;
  const bits = (BITRATES[isOne ? 0 : 1][bitrate - 1] ?? 0) * 1000;
  const samples = isOne ? 1152 : 576;
  return {
    length: Math.floor((samples * bits) / 8 / sampled) + ((header >>> 9) & 1),
    samples,
    rate: sampled,
    isMono: ((header >>> 6) & 3) === 3,
  };
}

/** The number of frames in the Xing or VBRI header; 0 when the first frame has none. */
function declaredFrames(frame: Buffer, { samples, isMono }: Frame): number {
  const side = samples === 1152 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const xing = frame.toString('latin1', 4 + side, 8 + side);
  if ((xing === 'Xing' || xing === 'Info') && frame.length >= 16 + side) {
    // A header without the number: 1, because the frame is silent all the same.
    return (frame.readUInt32BE(8 + side) & 1) === 0 ? 1 : frame.readUInt32BE(12 + side);
  }
  return frame.toString('latin1', 36, 40) === 'VBRI' && frame.length >= 54 ? frame.readUInt32BE(50) : 0;
}

/** The end of an ID3v2 tag at an offset; the offset itself when there is none. */
async function tagEnd(read: Read, at: number, size: number): Promise<number> {
  const length = id3Length(await read(at, ID3_HEADER));
  if (length === null) return at;
  if (at + length > size) {
    throw new InvalidMedia(
      `is cut short: its ID3 tag should end at byte ${at + length}, and it has ${size} bytes; ${WHOLE}`,
    );
  }
  if (length > ID3_BYTES_MAX) {
    throw new InvalidMedia(
      `has an ID3 tag of ${length} bytes, more than the ${ID3_BYTES_MAX} that are allowed; take its pictures out`,
    );
  }
  return at + length;
}

/** The end of an ID3v1, ID3v2 or APE tag at an offset; null when there is none. */
async function otherEnd(read: Read, at: number, size: number): Promise<number | null> {
  const bytes = await read(at, 32);
  if (at === size - 128 && bytes.toString('latin1', 0, 3) === 'TAG') return size;
  // The size of an APEv2 tag does not count its header.
  if (bytes.toString('latin1', 0, 8) === 'APETAGEX' && bytes.length === 32) {
    const end = at + 32 + bytes.readUInt32LE(12);
    return end <= size ? end : null;
  }
  const end = await tagEnd(read, at, size);
  return end === at ? null : end;
}

function zerosAt(chunk: Buffer, start: number): number {
  let at = start;
  while (chunk[at] === 0) at++;
  return at - start;
}

/** `start` is the beginning of the file if no frame was found, else null. */
function notFrame(start: Buffer | null, at: number): InvalidMedia {
  if (start === null) return new InvalidMedia(`is damaged: no frame begins at byte ${at}; ${AGAIN}`);
  const text = start.toString('latin1', 0, 64);
  const other = OTHERS.find(([pattern]) => pattern.test(text))?.[1];
  const holds = other === undefined ? 'does not begin with a frame of MPEG audio' : `holds ${other}`;
  return new InvalidMedia(`${holds}, so it is not MP3${other?.includes(';') ? '' : `; ${AGAIN}`}`);
}
