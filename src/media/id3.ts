import type { Chapter } from '../desk/papers/media.ts';
import { damagedChapters, requireFew } from './chapters.ts';

/** Bytes of the header of an ID3v2 tag, and of a footer. */
export const ID3_HEADER = 10;

interface Frame {
  id: string;
  body: Buffer;
}

/** The length of the tag that begins with this header, in bytes; null when none does (id3.org, ID3v2.4.0, 3.1). */
export function id3Length(header: Buffer): number | null {
  if (header.length < ID3_HEADER || header.toString('latin1', 0, 3) !== 'ID3') return null;
  const size = syncsafe(header, 6);
  const hasFooter = (header.readUInt8(5) & 0x10) !== 0;
  return size === null ? null : ID3_HEADER + size + (hasFooter ? ID3_HEADER : 0);
}

/** The chapters of a whole tag (id3.org, "ID3v2 Chapter Frame Addendum"). Skips its pictures. */
export function id3Chapters(tag: Buffer): Chapter[] {
  const [version, flags] = [tag.readUInt8(3), tag.readUInt8(5)];
  // Version 2.2 has no chapters.
  if (version !== 3 && version !== 4) return [];
  let body = tag.subarray(ID3_HEADER);
  if (version === 3 && (flags & 0x80) !== 0) body = resynchronized(body);
  if ((flags & 0x40) !== 0) body = body.subarray(extendedHeader(body, version));
  const chapters: Chapter[] = [];
  try {
    for (const frame of framesIn(body, version)) {
      if (frame.id !== 'CHAP') continue;
      chapters.push(chapterOf(frame.body, version));
    }
  } catch (error) {
    if (error instanceof RangeError) throw damagedChapters();
    throw error;
  }
  requireFew(chapters.length);
  return chapters;
}

function extendedHeader(body: Buffer, version: number): number {
  if (body.length < 4) return 0;
  return version === 4 ? (syncsafe(body, 0) ?? 0) : body.readUInt32BE(0) + 4;
}

/** The frames up to the padding. */
function* framesIn(body: Buffer, version: number): Iterable<Frame> {
  for (let at = 0; at + 10 <= body.length; ) {
    const id = body.toString('latin1', at, at + 4);
    const size = version === 4 ? syncsafe(body, at + 4) : body.readUInt32BE(at + 4);
    const start = at + 10;
    if (!/^[A-Z0-9]{4}$/.test(id) || size === null || size === 0 || start + size > body.length) return;
    at = start + size;
    const format = body.readUInt8(start - 1);
    // Skips compressed and encrypted frames, which have other flags in 2.4 than in 2.3.
    if ((format & (version === 4 ? 0x0c : 0xc0)) !== 0) continue;
    const isUnsynchronized = version === 4 && (format & 0x02) !== 0;
    const plain = body.subarray(start + (version === 4 && (format & 0x01) !== 0 ? 4 : 0), at);
    yield { id, body: isUnsynchronized ? resynchronized(plain) : plain };
  }
}

function chapterOf(body: Buffer, version: number): Chapter {
  const name = body.indexOf(0);
  if (name < 0) throw new RangeError('the chapter has no identifier');
  const time = body.readUInt32BE(name + 1) / 1000;
  let title = '';
  for (const frame of framesIn(body.subarray(name + 17), version)) {
    if (frame.id === 'TIT2') title = textOf(frame.body);
  }
  return { time, title };
}

const ENCODINGS = ['latin1', 'utf-16le', 'utf-16be', 'utf-8'] as const;

/** A text frame, up to its first NUL. */
function textOf(body: Buffer): string {
  const encoding = body.readUInt8(0);
  const hasBigMark = encoding === 1 && body[1] === 0xfe && body[2] === 0xff;
  const label = hasBigMark ? 'utf-16be' : (ENCODINGS[encoding] ?? 'latin1');
  return new TextDecoder(label).decode(body.subarray(1)).split('\0', 1)[0] ?? '';
}

/** Removes the zeros that keep a tag from looking like sound: `FF 00` stands for `FF`. */
function resynchronized(body: Buffer): Buffer {
  const plain = Buffer.alloc(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    plain[length++] = byte;
    if (byte === 0xff && body[at + 1] === 0) at++;
  }
  return plain.subarray(0, length);
}

/** 28 bits in four bytes; null when a byte has its highest bit set. */
function syncsafe(bytes: Buffer, at: number): number | null {
  const value = bytes.readUInt32BE(at);
  if ((value & 0x8080_8080) !== 0) return null;
  return ((value >>> 24) << 21) | (((value >>> 16) & 0x7f) << 14) | (((value >>> 8) & 0x7f) << 7) | (value & 0x7f);
}
