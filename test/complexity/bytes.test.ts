import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspectMp3 } from '../../src/media/inspect-mp3.ts';
import { inspectMp4 } from '../../src/media/inspect-mp4.ts';
import { reading } from '../../src/media/media-bytes.ts';
import { readAnswer } from '../../src/records/probe/dns/answer.ts';
import { chapFrame, id3, id3Frame, mp3Frame } from '../support/sounds.ts';
import { assertLinear, repeated, SHAPES } from './growth.ts';

/** No answer over TCP is longer (RFC 1035, section 4.2.2). */
const MESSAGE = 64 * 1024;
const VIDEO = 128 * 1024;

const u16 = (value: number) => [value >> 8, value & 0xff];
const label = (text: string) => [text.length, ...Buffer.from(text)];
/** A record of class IN. */
const record = (owner: number[], type: number, data: number[]) => [
  ...[...owner, ...u16(type), ...u16(1), 0, 0, 0, 60],
  ...[...u16(data.length), ...data],
];
/** The name of the question. */
const POINTER = [0xc0, 12];
const A = 1;
const CNAME = 5;
const TXT = 16;

/** An answer with as many records as fit into a length. */
function answerOf(length: number, recordAt: (index: number) => number[]): Uint8Array {
  const bytes = [...label('a'), ...label('example'), 0, ...u16(A), ...u16(1)];
  let count = 0;
  for (; count < 0xffff; count++) {
    const next = recordAt(count);
    if (12 + bytes.length + next.length > length) break;
    bytes.push(...next);
  }
  return Uint8Array.from([0, 0, 0x81, 0x80, ...u16(1), ...u16(count), 0, 0, 0, 0, ...bytes]);
}

const name = (index: number) => [...label(`n${index}`), 0];
const ANSWERS: Record<string, (index: number) => number[]> = {
  'many addresses': (index) => record(POINTER, A, [192, 0, index >> 8, index & 0xff]),
  'many addresses of others': (index) => record(name(index), A, [192, 0, 2, 1]),
  'a chain of aliases': (index) => record(index === 0 ? POINTER : name(index), CNAME, name(index + 1)),
  'aliases of one name': (index) => record(POINTER, CNAME, name(index)),
  'long texts': () => record(POINTER, TXT, label('"\\'.repeat(100))),
  'empty texts': () => record(POINTER, TXT, [0, 0, 0, 0, 0, 0, 0, 0]),
  'long names': () =>
    record(
      [
        ...Array(30)
          .fill(label('é'.repeat(3)))
          .flat(),
        0,
      ],
      A,
      [192, 0, 2, 1],
    ),
  'names in many parts': () => record([...Array(120).fill(label('a')).flat(), 0], CNAME, POINTER),
};

test('answers of DNS servers are read in a time that grows with them', async () => {
  for (const [what, recordAt] of Object.entries(ANSWERS)) {
    for (const type of ['A', 'TXT', 'CNAME'] as const) {
      const read = (bytes: Uint8Array) => readAnswer({ name: 'a.example', type }, bytes);
      await assertLinear(`${what} for ${type}`, (length) => answerOf(length, recordAt), read, { longest: MESSAGE });
    }
  }
  const [first] = readAnswer(
    { name: 'a.example', type: 'A' },
    answerOf(100, ANSWERS['many addresses'] as never),
  ).values;
  assert.equal(first, '192.0.0.0', 'these are answers');
  for (const shape of SHAPES) {
    const text = repeated(shape, ['', '']);
    const header = [0, 0, 0x81, 0x80, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0];
    const message = (length: number) => Buffer.concat([Buffer.from(header), Buffer.from(text(length))]);
    const read = (bytes: Uint8Array) => readAnswer({ name: 'a.example', type: 'A' }, bytes);
    await assertLinear(`an answer of ${JSON.stringify(shape)}`, message, read, { longest: MESSAGE });
  }
});

const box = (type: string, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};
const times = (length: number, part: Buffer) => Buffer.concat(Array(Math.floor(length / part.length)).fill(part));
const mvhd = () => {
  const body = Buffer.alloc(100);
  body.writeUInt32BE(1_000, 12);
  body.writeUInt32BE(1_000, 16);
  return box('mvhd', body);
};
const film = (...moov: Buffer[]) =>
  Buffer.concat([box('ftyp', Buffer.from('isom')), box('mdat', Buffer.from('x')), box('moov', mvhd(), ...moov)]);

/** Boxes within one another, each as deep as the length lets it be. */
function nested(length: number, types: readonly string[]): Buffer {
  const bytes = Buffer.alloc(length - (length % 8));
  for (let at = 0; at < bytes.length; at += 8) {
    bytes.writeUInt32BE(bytes.length - at, at);
    bytes.write(types[(at / 8) % types.length] ?? '', at + 4, 'latin1');
  }
  return bytes;
}

const FILMS: Record<string, (length: number) => Uint8Array> = {
  'many boxes at the top': (length) => Buffer.concat([film(), times(length, box('free'))]),
  'many indexes': (length) => Buffer.concat([film(), times(length, box('moov'))]),
  'many tracks': (length) => film(times(length, box('trak'))),
  'many tracks with their parts': (length) =>
    film(times(length, box('trak', box('mdia', box('hdlr', Buffer.alloc(12)))))),
  'a track of many parts': (length) => film(box('trak', times(length, box('mdia')))),
  'a part of many handlers': (length) => film(box('trak', box('mdia', times(length, box('hdlr', Buffer.alloc(12)))))),
  'boxes within one another': (length) => film(nested(length, ['trak', 'mdia', 'hdlr'])),
  zeros: (length) => Buffer.alloc(length),
};

test('videos are measured in a time that grows with them', async () => {
  const read = (bytes: Uint8Array) => reading(bytes, (bytesAt) => inspectMp4(bytesAt, bytes.length, 'video/mp4'));
  for (const [what, make] of Object.entries(FILMS)) await assertLinear(what, make, read, { longest: VIDEO });
  for (const shape of SHAPES) {
    const text = repeated(shape, ['', '']);
    const whole = (length: number) =>
      Buffer.concat([film(Buffer.from(text(length / 2))), Buffer.from(text(length / 2))]);
    await assertLinear(`a film of ${JSON.stringify(shape)}`, whole, read, { longest: VIDEO });
  }
});

const index = (...stbl: Buffer[]) =>
  film(
    box(
      'trak',
      box('tref', box('chap', u32(0))),
      box('mdia', box('hdlr', Buffer.from('\0\0\0\0\0\0\0\0soun')), mp4a()),
    ),
    box(
      'trak',
      box('mdia', box('mdhd', Buffer.alloc(24)), box('hdlr', Buffer.from('\0\0\0\0\0\0\0\0text')), texts(stbl)),
    ),
  );
const u32 = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from([0, 0, ...u16(value)])));
const mp4a = () => box('minf', box('stbl', box('stsd', u32(0, 1, 0), Buffer.from('mp4a'))));
const texts = (stbl: Buffer[]) => box('minf', box('stbl', ...stbl));
const endless = (length: number) => times(length, u32(0));

const SOUNDS: Record<string, (length: number) => Uint8Array> = {
  ...FILMS,
  'durations of nothing': (length) =>
    index(
      box('stts', endless(length)),
      box('stsz', u32(0, 2, 500)),
      box('stsc', u32(0, 1, 1, 1, 1)),
      box('stco', endless(99)),
    ),
  'groups of nothing': (length) =>
    index(
      box('stts', u32(0, 1, 500, 1)),
      box('stsz', u32(0, 2, 500)),
      box('stsc', u32(0, 65_535), endless(length)),
      box('stco', endless(99)),
    ),
  'chunks of nothing': (length) =>
    index(
      box('stts', u32(0, 1, 500, 1)),
      box('stsz', u32(0, 2, 500)),
      box('stsc', u32(0, 1, 1, 0, 1)),
      box('stco', endless(length)),
    ),
};

test('sounds are measured in a time that grows with them', async () => {
  const m4a = (bytes: Uint8Array) => reading(bytes, (bytesAt) => inspectMp4(bytesAt, bytes.length, 'audio/mp4'));
  for (const [what, make] of Object.entries(SOUNDS))
    await assertLinear(`${what} in an M4A`, make, m4a, { longest: VIDEO });
  const frame = mp3Frame(32);
  const odd = Buffer.concat([Buffer.alloc(1), frame]);
  const mp3s: Record<string, (length: number) => Uint8Array> = {
    frames: (length) => times(length, frame),
    'frames with a zero between': (length) => times(length, odd),
    zeros: (length) => Buffer.alloc(length),
    'empty tags': (length) => times(length, id3([])),
    'a tag of frames': (length) => id3([times(length, id3Frame('PRIV', Buffer.alloc(1)))]),
    'a tag of chapters': (length) => id3([times(length, chapFrame({ time: 1, title: 'a' }))]),
    'a chapter of titles': (length) =>
      id3([
        id3Frame('CHAP', Buffer.concat([Buffer.alloc(17), times(length, id3Frame('TIT2', Buffer.from([1, 0xfe])))])),
      ]),
    'an unsynchronized tag': (length) => id3([Buffer.alloc(length, 0xff)], { flags: 0x80 }),
  };
  const mp3 = (bytes: Uint8Array) => reading(bytes, (bytesAt) => inspectMp3(bytesAt, bytes.length));
  for (const [what, make] of Object.entries(mp3s))
    await assertLinear(`${what} in an MP3`, make, mp3, { longest: VIDEO });
  for (const shape of SHAPES) {
    const text = repeated(shape, ['', '']);
    const whole = (length: number) =>
      Buffer.concat([id3([Buffer.from(text(length / 2))]), Buffer.from(text(length / 2))]);
    await assertLinear(`an MP3 of ${JSON.stringify(shape)}`, whole, mp3, { longest: VIDEO });
  }
});
