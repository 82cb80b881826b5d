import type { Chapter } from '../../src/desk/papers/media.ts';

// Silence in MP3 and M4A, made by hand.

const KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATE = 44_100;

/** A silent frame of MPEG-1 layer III: 1152 samples of mono at 44.1 kHz. */
export function mp3Frame(kbits = 64): Buffer {
  const frame = Buffer.alloc(Math.floor((144 * kbits * 1000) / RATE));
  frame.writeUInt32BE((0xfffb_00c4 | ((KBITS.indexOf(kbits) + 1) << 12)) >>> 0);
  return frame;
}

/** A frame with the header that names the frames after it. */
export function xingFrame(frames: number): Buffer {
  const frame = mp3Frame();
  frame.write('Xing', 21, 'latin1');
  frame.writeUInt32BE(1, 25);
  frame.writeUInt32BE(frames, 29);
  return frame;
}

/** The number of frames that last so long; `mp3` rounds up. */
export const framesOf = (seconds: number): number => Math.ceil((seconds * RATE) / 1152);
export const mp3Milliseconds = (frames: number): number => Math.round((frames * 1152 * 1000) / RATE);

/** Silence of at least so many seconds, after a tag. */
export function mp3(seconds: number, { tag, kbits = [64] }: { tag?: Buffer; kbits?: number[] } = {}): Buffer {
  const frames = kbits.map(mp3Frame);
  return Buffer.concat([
    ...(tag === undefined ? [] : [tag]),
    ...Array.from({ length: framesOf(seconds) }, (_, n) => frames[n % frames.length] as Buffer),
  ]);
}

const syncsafe = (value: number): number[] => [21, 14, 7, 0].map((bits) => (value >> bits) & 0x7f);

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, i * 4);
  return bytes;
}

export function id3Frame(id: string, body: Uint8Array, version = 3): Buffer {
  const size = version === 4 ? Buffer.from(syncsafe(body.length)) : u32(body.length);
  return Buffer.concat([Buffer.from(id, 'latin1'), size, Buffer.alloc(2), body]);
}

/** A tag of ID3v2 around these frames, with some padding. */
export function id3(frames: readonly Uint8Array[], { version = 3, flags = 0 } = {}): Buffer {
  const body = Buffer.concat([...frames, Buffer.alloc(20)]);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([version, 0, flags, ...syncsafe(body.length)]), body]);
}

/** The frame of a chapter, its title in UTF-16 (version 2.3) or UTF-8 (2.4). */
export function chapFrame({ time, title }: Chapter, version = 3): Buffer {
  const text =
    version === 4
      ? Buffer.concat([Buffer.from([3]), Buffer.from(title)])
      : Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(title, 'utf16le'), Buffer.alloc(2)]);
  const start = Math.round(time * 1000);
  const times = u32(start, start + 1, 0xffff_ffff, 0xffff_ffff);
  return id3Frame('CHAP', Buffer.concat([Buffer.from(`c${start}\0`), times, id3Frame('TIT2', text, version)]), version);
}

export function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

/** A silent frame of AAC-LC: 1024 samples of mono. */
const AAC_FRAME = Buffer.from([0x00, 0xc8, 0x00, 0x80, 0x23, 0x80]);
const MATRIX = u32(65_536, 0, 0, 0, 65_536, 0, 0, 0, 0x4000_0000);

interface M4a {
  seconds: number;
  /** Nero's list of chapters. */
  listed?: readonly Chapter[];
  /** A track of texts that the sound refers to, as Apple's programs write it. */
  texts?: readonly Chapter[];
  codec?: string;
  /** Another track, such as `vide`. */
  handler?: string;
}

/** Silence in an MP4 file of sound alone, 44.1 kHz mono. */
export function m4a({ seconds, listed, texts, codec = 'mp4a', handler }: M4a): Buffer {
  const frames = Math.ceil((seconds * RATE) / 1024);
  const samples = frames * 1024;
  const duration = Math.round((samples * 1000) / RATE);
  const ftyp = box('ftyp', Buffer.from('M4A \0\0\x02\0M4A mp42isom', 'latin1'));
  const titles = (texts ?? []).map(({ title }) => Buffer.from(title));
  const lines = titles.map((title) => Buffer.concat([Buffer.from([title.length >> 8, title.length & 255]), title]));
  const sound = Buffer.concat(Array(frames).fill(AAC_FRAME));
  const mdat = box('mdat', sound, ...lines);
  const soundAt = ftyp.length + 8;
  const config = Buffer.from([
    ...[0, 0, 0, 0, 3, 22, 0, 1, 0, 4, 14, 0x40, 0x15, 0, 0, 0, 0, 0, 0x7d, 0, 0, 0, 0x7d, 0],
    ...[5, 2, 0x12, 0x08, 6, 1, 2],
  ]);
  const entry = box(
    codec,
    ...[u32(0, 1, 0, 0), Buffer.from([0, 1, 0, 16, 0, 0, 0, 0]), u32(RATE << 16), box('esds', config)],
  );
  const parts = {
    sound: box(
      'stbl',
      box('stsd', u32(0, 1), entry),
      box('stts', u32(0, 1, frames, 1024)),
      box('stsc', u32(0, 1, 1, frames, 1)),
      box('stsz', u32(0, AAC_FRAME.length, frames)),
      box('stco', u32(0, 1, soundAt)),
    ),
    texts: box(
      'stbl',
      box('stsd', u32(0, 1), box('text', Buffer.alloc(43))),
      box('stts', u32(0, lines.length, ...(texts ?? []).flatMap((_, n) => [1, lengthMs(texts ?? [], n, duration)]))),
      // The first two in one chunk, each other in its own.
      box('stsc', lines.length > 2 ? u32(0, 2, 1, 2, 1, 2, 1, 1) : u32(0, 1, 1, 1, 1)),
      box('stsz', u32(0, 0, lines.length, ...lines.map((line) => line.length))),
      box('stco', textChunks(lines, soundAt + sound.length)),
    ),
  };
  const refers = texts === undefined ? [] : [box('tref', box('chap', u32(2)))];
  const tracks = [
    track(1, 'soun', { scale: RATE, length: samples, duration }, parts.sound, refers),
    ...(texts === undefined ? [] : [track(2, 'text', { scale: 1000, length: duration, duration }, parts.texts)]),
    ...(handler === undefined ? [] : [track(3, handler, { scale: 1000, length: duration, duration }, parts.sound)]),
  ];
  const udta = listed === undefined ? [] : [box('udta', chpl(listed))];
  const mvhd = box('mvhd', u32(0, 0, 0, 1000, duration, 65_536), Buffer.from([1, 0]), Buffer.alloc(10), MATRIX);
  return Buffer.concat([ftyp, mdat, box('moov', mvhd, ...tracks, ...udta)]);
}

const lengthMs = (texts: readonly Chapter[], n: number, end: number): number =>
  Math.round((texts[n + 1]?.time ?? end / 1000) * 1000) - Math.round((texts[n]?.time ?? 0) * 1000);

function textChunks(lines: readonly Buffer[], start: number): Buffer {
  let at = start;
  const offsets: number[] = [];
  for (const [n, line] of lines.entries()) {
    if (n !== 1 || lines.length <= 2) offsets.push(at);
    at += line.length;
  }
  return u32(0, offsets.length, ...offsets);
}

interface Times {
  scale: number;
  length: number;
  /** In ms. */
  duration: number;
}

function track(id: number, handler: string, { scale, length, duration }: Times, stbl: Buffer, refers: Buffer[] = []) {
  const tkhd = box('tkhd', u32(7, 0, 0, id, 0, duration, 0, 0, 0, 0x0100_0000), MATRIX, u32(0, 0));
  const mdhd = box('mdhd', u32(0, 0, 0, scale, length, 0x55c4_0000));
  const hdlr = box('hdlr', u32(0, 0), Buffer.from(handler, 'latin1'), Buffer.alloc(13));
  const dinf = box('dinf', box('dref', u32(0, 1), box('url ', u32(1))));
  return box('trak', tkhd, ...refers, box('mdia', mdhd, hdlr, box('minf', box('smhd', u32(0, 0)), dinf, stbl)));
}

export function chpl(chapters: readonly Chapter[]): Buffer {
  const rows = chapters.map(({ time, title }) => {
    const name = Buffer.from(title).subarray(0, 255);
    const head = Buffer.alloc(9);
    head.writeBigUInt64BE(BigInt(Math.round(time * 1e7)));
    head.writeUInt8(name.length, 8);
    return Buffer.concat([head, name]);
  });
  return box('chpl', Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, chapters.length]), ...rows);
}
