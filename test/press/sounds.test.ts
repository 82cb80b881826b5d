import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Chapter } from '../../src/desk/papers/media.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import { Fault } from '../../src/shared/fault.ts';
import { tempFolder } from '../support/app-context.ts';
import {
  box,
  chapFrame,
  framesOf,
  id3,
  id3Frame,
  m4a,
  mp3,
  mp3Frame,
  mp3Milliseconds,
  xingFrame,
} from '../support/sounds.ts';

const CHAPTERS: Chapter[] = [
  { time: 0, title: 'Good morning' },
  { time: 1.5, title: 'Ebbe – und Flut' },
  { time: 4.25, title: '潮汐 🌊' },
];
const MP3 = 'media/cast/x.mp3';
const M4A = 'media/cast/x.m4a';

async function refused(path: string, source: Uint8Array | string, message: RegExp): Promise<void> {
  await assert.rejects(inspectMedia(path, source), (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, 'invalid_request');
    assert.ok(error.message.startsWith(`${path} `), error.message);
    assert.match(error.message, message);
    assert.match(error.message, /; .{10,}\.$/, 'it names a cure');
    return true;
  });
}

const lengthOf = async (bytes: Uint8Array) => (await inspectMedia(MP3, bytes)).duration_ms;

describe('MP3', () => {
  it('is as long as its frames, from bytes and from a file, whatever their bit rates', async (t) => {
    const bytes = mp3(10, { kbits: [64, 320, 32, 128] });
    const file = join(tempFolder(t), 'x.mp3');
    await writeFile(file, bytes);
    const media = await inspectMedia(MP3, bytes);
    assert.deepEqual(await inspectMedia(MP3, file), media);
    const { digest: _, ...rest } = media;
    assert.deepEqual(rest, {
      path: MP3,
      media_type: 'audio/mpeg',
      bytes: bytes.length,
      width: null,
      height: null,
      duration_ms: mp3Milliseconds(framesOf(10)),
    });
  });

  it('does not count the frame of a Xing header, and sees by it that frames are missing', async () => {
    const sound = mp3(2);
    const frames = framesOf(2);
    assert.equal(await lengthOf(Buffer.concat([xingFrame(frames), sound])), mp3Milliseconds(frames));
    await refused(MP3, Buffer.concat([xingFrame(frames * 2), sound]), /cut short: it has 77 of the 154 frames/);
  });

  it('may have tags before, between and after the frames, and zeros', async () => {
    const sound = mp3(1);
    const ape = Buffer.alloc(32 + 40);
    ape.write('APETAGEX', 'latin1');
    ape.writeUInt32LE(40, 12);
    const id1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125, 'x')]);
    const tag = id3([id3Frame('TIT2', Buffer.from('\0Tide'))]);
    const bytes = Buffer.concat([tag, Buffer.alloc(999), sound, tag, sound, ape, id1]);
    assert.equal(await lengthOf(bytes), mp3Milliseconds(2 * framesOf(1)));
  });

  it('gives its chapters in order, of ID3 2.3 and 2.4, past pictures of any size', async () => {
    for (const version of [3, 4]) {
      const art = id3Frame('APIC', Buffer.alloc(3_000_000, 7), version);
      const marks = [2, 0, 1].map((n) => chapFrame(CHAPTERS[n] as Chapter, version));
      const { chapters } = await inspectMedia(MP3, mp3(5, { tag: id3([art, ...marks], { version }) }));
      assert.deepEqual(chapters, CHAPTERS, `2.${version}`);
    }
    // Unsynchronized: each FF 00 stands for FF.
    const plain = id3([chapFrame({ time: 1, title: 'ÿ' })], { flags: 0x80 });
    const body = Buffer.from(plain.subarray(10).toString('latin1').replace(/\xff/g, '\xff\0'), 'latin1');
    const head = Buffer.from(plain.subarray(0, 10));
    head.writeUInt8(body.length, 9);
    const { chapters } = await inspectMedia(MP3, mp3(2, { tag: Buffer.concat([head, body]) }));
    assert.deepEqual(chapters, [{ time: 1, title: 'ÿ' }]);
  });

  it('is refused when it was cut short anywhere', async () => {
    const tag = id3([chapFrame({ time: 0, title: 'a' })]);
    const bytes = mp3(0.5, { tag });
    const frame = mp3Frame().length;
    for (let length = 1; length < bytes.length; length += 13) {
      // Nothing tells that whole frames are missing, unless a header names their number.
      if (length > tag.length && (length - tag.length) % frame === 0) continue;
      await refused(MP3, bytes.subarray(0, length), /cut short|does not begin|damaged|no sound/);
    }
    await refused(MP3, bytes.subarray(0, bytes.length - 1), /last frame should end at byte \d+, and it has \d+ bytes/);
  });

  it('is refused when it is something else', async () => {
    await refused(MP3, new Uint8Array(), /is empty/);
    await refused(MP3, Buffer.alloc(5000), /no sound/);
    await refused(MP3, Buffer.from('<!doctype html><title>404</title>'.repeat(50)), /holds HTML or XML/);
    await refused(MP3, m4a({ seconds: 1 }), /MP4 file; name it \.m4a/);
    await refused(MP3, Buffer.from('RIFF\0\0\0\0WAVEfmt '), /WAVE/);
    await refused(MP3, Buffer.from('hello, this is no sound'), /does not begin with a frame/);
    await refused(MP3, Buffer.concat([mp3(1), Buffer.from('<p>oops</p>')]), /damaged: no frame begins at byte \d+/);
    const [free, two, slow] = [mp3Frame(), mp3Frame(), mp3Frame()];
    free.writeUInt8(0x00, 2);
    two.writeUInt8(0xfd, 1);
    await refused(MP3, Buffer.concat(Array(500).fill(free)), /free format/);
    await refused(MP3, Buffer.concat(Array(50).fill(two)), /layer I or II/);
    slow.writeUInt32BE(0xfffb_58c4);
    await refused(MP3, Buffer.concat([mp3(1), slow]), /from 44100 to 32000 samples/);
    await refused(MP3, Buffer.concat([Buffer.from('ID3\x03\0\0\x7f\x7f\x7f\x7f', 'latin1'), mp3(1)]), /cut short.*ID3/);
    await refused(
      MP3,
      mp3(1, { tag: id3([id3Frame('APIC', Buffer.alloc(17_000_000))]) }),
      /ID3 tag of 170000\d\d bytes/,
    );
    await refused(MP3, mp3(1, { tag: Buffer.concat(Array(500).fill(id3([]))) }), /no frame|does not begin/);
  });

  it('is refused for chapters that no player can show', async () => {
    const tagged = (...frames: Buffer[]) => mp3(5, { tag: id3(frames) });
    const many = Array.from({ length: 10_000 }, (_, n) => chapFrame({ time: n / 2000, title: `No. ${n}` }));
    await refused(MP3, tagged(...many), /has 10000 chapters, more than the 500/);
    await refused(MP3, tagged(chapFrame({ time: 9, title: 'Late' })), /"Late" at 9 s, after its end/);
    const twice = ['One', 'Two'].map((title) => chapFrame({ time: 1, title }));
    await refused(MP3, tagged(...twice), /where another one begins/);
    await refused(MP3, tagged(id3Frame('CHAP', Buffer.from('name\0\0'))), /damaged chapter mark/);
    const { chapters } = await inspectMedia(MP3, tagged(chapFrame({ time: 0, title: ' \u0007 ' })));
    assert.equal(chapters, undefined, 'one without a title is left out');
  });
});

describe('M4A', () => {
  it('gives its length, and the chapters of both forms', async () => {
    for (const form of [{}, { listed: CHAPTERS }, { texts: CHAPTERS }, { texts: CHAPTERS.slice(0, 2) }]) {
      const bytes = m4a({ seconds: 5, ...form });
      const { digest: _, ...media } = await inspectMedia(M4A, bytes);
      const chapters = form.listed ?? form.texts;
      assert.deepEqual(media, {
        path: M4A,
        media_type: 'audio/mp4',
        bytes: bytes.length,
        width: null,
        height: null,
        duration_ms: 5016,
        ...(chapters === undefined ? {} : { chapters }),
      });
    }
  });

  it('is refused when it has pictures, or sound that few browsers play', async () => {
    await refused(M4A, m4a({ seconds: 1, handler: 'vide' }), /has a video track; name it \.mp4/);
    await refused(M4A, m4a({ seconds: 1, codec: 'alac' }), /sound in "alac"/);
    await refused('media/cast/x.mp4', m4a({ seconds: 1 }), /no video track/);
    await refused(M4A, mp3(1), /not begin with an ftyp box/);
    const late = m4a({ seconds: 1, listed: [{ time: 60, title: 'Late' }] });
    await refused(M4A, late, /after its end/);
    await refused(M4A, m4a({ seconds: 1, texts: CHAPTERS }), /after its end/);
  });

  it('is refused when it was cut short anywhere, and does not go astray on any damage', async () => {
    const bytes = m4a({ seconds: 0.1, texts: [{ time: 0, title: 'a' }], listed: [{ time: 0, title: 'b' }] });
    for (let length = 1; length < bytes.length; length += 7) {
      await refused(M4A, bytes.subarray(0, length), /cut short|ftyp|mdat|moov/);
    }
    const tables = m4a({ seconds: 0.1, texts: CHAPTERS.map(({ title }, n) => ({ time: n / 100, title })) });
    for (const whole of [bytes, tables]) {
      for (let i = 0; i < whole.length; i++) {
        const damaged = Buffer.from(whole);
        damaged[i] = 0xff;
        await inspectMedia(M4A, damaged).catch((error) => assert.ok(error instanceof Fault, String(error)));
      }
    }
  });

  it('is refused with more boxes than a file of sound has', async () => {
    const bytes = Buffer.concat([m4a({ seconds: 0.1 }), Buffer.concat(Array(50_001).fill(box('free')))]);
    await refused(M4A, bytes, /more than 50000 boxes/);
  });
});
