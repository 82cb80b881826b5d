import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { inspectMedia } from '../../src/media/inspect.ts';
import { IMAGE_BYTES_MAX } from '../../src/media/media-formats.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { Fault } from '../../src/shared/fault.ts';

/** A picture with enough detail that half of its file is not all of it. */
const picture = sharp({
  create: {
    width: 320,
    height: 200,
    channels: 3,
    background: '#888',
    noise: { type: 'gaussian', mean: 128, sigma: 40 },
  },
});
const PICTURES = {
  png: await picture.clone().png().toBuffer(),
  jpg: await picture.clone().jpeg().toBuffer(),
  webp: await picture.clone().webp().toBuffer(),
  avif: await picture.clone().avif({ effort: 0 }).toBuffer(),
  gif: await picture.clone().gif().toBuffer(),
};

function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value | 0, i * 4);
  return bytes;
}

const UPRIGHT = [65_536, 0, 0, 0, 65_536, 0, 0, 0, 0x4000_0000];
const TURNED = [0, 65_536, 0, -65_536, 0, 0, 0, 0, 0x4000_0000];
const FTYP = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41', 'latin1'));
const MDAT = box('mdat', Buffer.alloc(1000, 7));

interface Film {
  duration?: number;
  handler?: string;
  matrix?: number[];
}

/** A moov box with one track of 1280 by 720, in thousandths of a second. */
function moov({ duration = 25_584, handler = 'vide', matrix = UPRIGHT }: Film = {}): Buffer {
  const mvhd = box('mvhd', words(0, 0, 0, 1000, duration, 65_536), Buffer.alloc(76));
  const tkhd = box('tkhd', words(3, 0, 0, 1, 0, duration, 0, 0, 0, 0, ...matrix, 1280 * 65_536, 720 * 65_536));
  const hdlr = box('hdlr', words(0, 0), Buffer.from(handler), Buffer.alloc(13));
  return box('moov', mvhd, box('trak', tkhd, box('mdia', hdlr)));
}

const FILM = Buffer.concat([FTYP, moov(), MDAT]);
const svg = (body: string, attributes = 'viewBox="0 0 16 9"') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${body}</svg>`,
  );
const CAPTIONS = Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\nGood morning.\n');

/** Refused with one sentence that names the file and matches. */
async function refused(path: string, source: Uint8Array | string, message: RegExp): Promise<void> {
  await assert.rejects(inspectMedia(path, source), (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, 'invalid_request');
    assert.ok(error.message.startsWith(`${path} `), error.message);
    assert.match(error.message, message);
    assert.match(error.message, /\.$/);
    return true;
  });
}

describe('pictures', () => {
  for (const [extension, bytes] of Object.entries(PICTURES)) {
    it(`takes a whole .${extension}`, async () => {
      const path = `media/art/x.${extension}`;
      const { color, ...found } = await inspectMedia(path, bytes);
      // These pictures are noise, whose commonest colour is a matter of chance.
      assert.match(color ?? '', /^#[0-9a-f]{6}$/);
      assert.deepEqual(found, {
        path,
        digest: sha256(bytes),
        media_type: `image/${extension === 'jpg' ? 'jpeg' : extension}`,
        bytes: bytes.length,
        width: 320,
        height: 200,
        duration_ms: null,
      });
    });

    it(`finds a .${extension} that was cut short anywhere`, async () => {
      for (const share of [0.02, 0.3, 0.6, 0.97]) {
        await refused(`media/art/x.${extension}`, bytes.subarray(0, Math.floor(bytes.length * share)), /send|export/);
      }
    });

    it(`does not take a .${extension} by another name`, async () => {
      const other = extension === 'png' ? 'jpg' : 'png';
      await refused(`media/art/x.${other}`, bytes, /not (PNG|JPEG)/);
    });
  }

  it('gives the displayed size, turned and of one frame', async () => {
    const turned = await picture.clone().jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const { width, height } = await inspectMedia('media/art/x.jpeg', turned);
    assert.deepEqual([width, height], [200, 320]);
    const frames = [PICTURES.png, await sharp(PICTURES.png).negate().png().toBuffer()];
    const moving = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    const shown = await inspectMedia('media/art/x.gif', moving);
    assert.deepEqual([shown.width, shown.height], [320, 200]);
  });

  it('rejects empty, oversized and mismatched files', async () => {
    await refused('media/art/x.png', new Uint8Array(), /is empty/);
    await refused('media/art/x.png', new Uint8Array(IMAGE_BYTES_MAX + 1), /more than the 20971520/);
    await refused('media/art/x.png', Buffer.from('hello'), /not a PNG/);
    for (const name of ['x.html', 'x.exe', 'x', 'x.svgz', '.png.js']) {
      await refused(`media/art/${name}`, PICTURES.png, /not in a supported format/);
    }
  });
});

describe('SVG', () => {
  const inspect = (bytes: Uint8Array) => inspectMedia('media/art/x.svg', bytes);
  const bad = (bytes: Uint8Array, message: RegExp) => refused('media/art/x.svg', bytes, message);

  it('takes its size from width and height, or from the viewBox', async () => {
    const sizes = {
      'viewBox="0 0 1600 900"': [1600, 900],
      'viewBox="0,0,1600,900" width="320"': [320, 180],
      'width="10px" height="20"': [10, 20],
      'viewBox="0 0 4 2" width="100%" height="100%"': [4, 2],
    };
    for (const [attributes, size] of Object.entries(sizes)) {
      const { width, height, media_type } = await inspect(svg('', attributes));
      assert.deepEqual([width, height, media_type], [...size, 'image/svg+xml'], attributes);
    }
    await bad(svg('', ''), /viewBox/);
    await bad(svg('', 'viewBox="0 0 0 9"'), /viewBox/);
  });

  it('takes styles, gradients, uses and embedded pictures', async () => {
    const pixel = `data:image/png;base64,${PICTURES.png.toString('base64')}`;
    await inspect(
      svg(`<style>.a { fill: url(#g) }</style><linearGradient id="g"/><g id="b"/><use href="#b"/><use xlink:href="#b"/>
        <rect class="a" style="fill: url('#g')" fill="url(#g)"/><image href="${pixel}"/><title>onload = 1</title>`),
    );
    await inspect(Buffer.concat([Buffer.from('\ufeff<?xml version="1.0"?><!-- drawn by hand -->'), svg('')]));
  });

  const hostile: [name: string, bytes: Uint8Array, message: RegExp][] = [
    ['a script', svg('<script>1</script>'), /script/],
    ['a script of another prefix', svg('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>'), /script/],
    [
      'foreign content',
      svg('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>'),
      /foreignObject/,
    ],
    ['a handler', svg('<g onclick="x()"/>'), /onclick/],
    ['a handler on the root', svg('', 'viewBox="0 0 1 1" OnLoad="x()"'), /OnLoad/],
    ['a link', svg('<a href="#b"/>'), /an? a element/],
    ['a link that changes', svg('<g><set attributeName="href" to="javascript:x()"/></g>'), /set/],
    ['a picture from elsewhere', svg('<image href="https://example.org/x.png"/>'), /example\.org/],
    ['a picture without a scheme', svg('<image xlink:href="//example.org/x.png"/>'), /example\.org/],
    ['a file beside it', svg('<use href="other.svg#a"/>'), /other\.svg/],
    ['an SVG in a data address', svg('<image href="data:image/svg+xml;base64,PHN2Zz4="/>'), /data:image\/svg/],
    ['a script address', svg('<use href="&#106;avascript:x()"/>'), /javascript/],
    ['an imported style', svg('<style>@import "//example.org/x.css";</style>'), /imports/],
    ['an imported style in CDATA', svg('<style><![CDATA[@import "x.css";]]></style>'), /imports/],
    ['a style from elsewhere', svg('<g style="fill:url(https://example.org/x)"/>'), /example\.org/],
    ['an attribute from elsewhere', svg('<g filter="URL( \'https://example.org/x\' )"/>'), /example\.org/],
    ['an escaped address', svg('<g style="fill:\\75rl(https://example.org/x)"/>'), /escape/],
    [
      'a style sheet',
      Buffer.from('<?xml-stylesheet href="x.css"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
      /xml-style/,
    ],
    [
      'entities',
      Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>'),
      /DOCTYPE/,
    ],
    [
      'elements too deep',
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<g>'.repeat(100)}${'</g>'.repeat(100)}</svg>`),
      /nested deeper than 100 levels/,
    ],
    ['a style too long', svg(`<style>${'.a{}'.repeat(250_001)}</style>`), /a style longer than 1000000 characters/],
    ['no namespace', Buffer.from('<svg viewBox="0 0 1 1"/>'), /namespace/],
    ['a page', Buffer.from('<html xmlns="http://www.w3.org/1999/xhtml"/>'), /html/],
    ['an open element', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><g>'), /well-formed/],
    ['an attribute twice', svg('<g id="a" id="b"/>'), /well-formed/],
    ['other bytes', Buffer.from([0xff, 0xfe, 0x3c]), /UTF-8/],
    ['a PNG', PICTURES.png, /UTF-8/],
    ['no element', Buffer.from('<!-- -->'), /svg|well-formed/],
  ];
  for (const [name, bytes, message] of hostile) it(`refuses ${name}`, () => bad(bytes, message));

  it('finds one that was cut short anywhere', async () => {
    const whole = svg('<g id="a"><title>Tide</title></g>');
    for (let length = 1; length < whole.length; length++) {
      await assert.rejects(inspect(whole.subarray(0, length)), Fault, whole.subarray(0, length).toString());
    }
  });
});

describe('MP4', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inspect-'));
  });
  after(() => rm(folder, { recursive: true }));
  const bad = (bytes: Uint8Array, message: RegExp) => refused('media/cast/x.mp4', bytes, message);

  it('reports length and size, from bytes and from a file', async () => {
    const file = join(folder, 'x.mp4');
    for (const film of [FILM, Buffer.concat([FTYP, MDAT, moov(), box('free', Buffer.alloc(9))])]) {
      await writeFile(file, film);
      const media = await inspectMedia('media/cast/x.mp4', film);
      assert.deepEqual(media, {
        path: 'media/cast/x.mp4',
        digest: sha256(film),
        media_type: 'video/mp4',
        bytes: film.length,
        width: 1280,
        height: 720,
        duration_ms: 25_584,
      });
      assert.deepEqual(await inspectMedia('media/cast/x.mp4', file), media);
    }
  });

  it('gives the displayed size', async () => {
    const { width, height } = await inspectMedia('x.mp4', Buffer.concat([FTYP, moov({ matrix: TURNED }), MDAT]));
    assert.deepEqual([width, height], [720, 1280]);
  });

  it('finds one that was cut short anywhere, or has more than it should', async () => {
    const file = join(folder, 'cut.mp4');
    for (let length = 1; length < FILM.length; length += 7) {
      await bad(FILM.subarray(0, length), /cut short|ftyp|mdat|moov/);
    }
    await writeFile(file, FILM.subarray(0, FILM.length - 1));
    await refused('media/cast/x.mp4', file, /cut short/);
    await bad(Buffer.concat([FILM, Buffer.from('abc')]), /cut short/);
    await bad(Buffer.concat([FILM, Buffer.alloc(5000)]), /cut short/);
  });

  it('rejects files that are not MP4, or do not state their length', async () => {
    await bad(PICTURES.avif, /moov/);
    await bad(PICTURES.png, /ftyp/);
    await bad(Buffer.from('<html></html> and so on'), /ftyp/);
    await bad(Buffer.concat([box('ftyp', Buffer.from('qt  \0\0\0\0')), moov(), MDAT]), /QuickTime/);
    await bad(Buffer.concat([FTYP, moov()]), /mdat/);
    await bad(Buffer.concat([FTYP, moov(), box('mdat')]), /mdat/);
    await bad(Buffer.concat([FTYP, moov({ handler: 'soun' }), MDAT]), /video track/);
    await bad(Buffer.concat([FTYP, moov({ duration: 0 }), MDAT]), /how long/);
    await bad(Buffer.concat([FTYP, box('moov', words(9, 0x6d766864, 0)), MDAT]), /damaged|mvhd/);
  });

  it('does not go astray on any damage', async () => {
    for (let i = 0; i < FILM.length - MDAT.length; i++) {
      const damaged = Buffer.from(FILM);
      damaged[i] = 0xff;
      await inspectMedia('media/cast/x.mp4', damaged).catch((error) =>
        assert.ok(error instanceof Fault, String(error)),
      );
    }
  });
});

describe('captions', () => {
  it('are WebVTT in UTF-8', async () => {
    const { media_type, width } = await inspectMedia('media/cast/x.vtt', CAPTIONS);
    assert.deepEqual([media_type, width], ['text/vtt', null]);
    await inspectMedia('media/cast/x.vtt', Buffer.concat([Buffer.from('\ufeff'), CAPTIONS]));
    for (const text of ['1\n00:00:00,000 --> 00:00:02,000\nHi', 'WEBVTTX', 'webvtt\n']) {
      await refused('media/cast/x.vtt', Buffer.from(text), /WEBVTT/);
    }
    await refused('media/cast/x.vtt', Buffer.concat([CAPTIONS, Buffer.from([0xe9])]), /UTF-8/);
  });
});

it('takes every media file of the papers in content/', async () => {
  const content = fileURLToPath(new URL('../../content/', import.meta.url));
  const files = await readdir(content, { recursive: true, withFileTypes: true });
  let inspected = 0;
  for (const file of files) {
    const whole = join(file.parentPath, file.name);
    if (!file.isFile() || !whole.includes('/media/')) continue;
    const media = await inspectMedia(whole.slice(content.length).replace(/^[^/]+\//, ''), whole);
    assert.equal(media.digest, sha256(await readFile(whole)));
    inspected++;
  }
  assert.ok(inspected > 0);
});
