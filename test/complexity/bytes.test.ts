import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspectMp4 } from '../../src/media/inspect-mp4.ts';
import { readAnswer } from '../../src/records/probe/dns/answer.ts';
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
  const read = (bytes: Uint8Array) => inspectMp4(bytes, bytes.length);
  for (const [what, make] of Object.entries(FILMS)) await assertLinear(what, make, read, { longest: VIDEO });
  for (const shape of SHAPES) {
    const text = repeated(shape, ['', '']);
    const whole = (length: number) =>
      Buffer.concat([film(Buffer.from(text(length / 2))), Buffer.from(text(length / 2))]);
    await assertLinear(`a film of ${JSON.stringify(shape)}`, whole, read, { longest: VIDEO });
  }
});
