import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { withoutLocation } from '../../src/media/picture-location.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

const LATITUDE = '59/1 20/1 1234/100';
const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" exif:GPSLatitude="59,20.2N" dc:creator="A. Body"><exif:GPSLongitude>18,3.6E</exif:GPSLongitude></rdf:Description></rdf:RDF></x:xmpmeta>`;

const plain = sharp({ create: { width: 60, height: 40, channels: 3, background: '#48c' } });
const placed = () =>
  plain
    .clone()
    .withMetadata({ orientation: 6, icc: 'p3' })
    .withExifMerge({ IFD0: { Copyright: 'A. Body' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: LATITUDE } })
    .withXmp(XMP);

/** The rationals of the latitude, in both byte orders. */
const RATIONALS = [Buffer.from([59, 0, 0, 0, 1, 0, 0, 0]), Buffer.from([0, 0, 0, 59, 0, 0, 0, 1])];
const tells = (bytes: Uint8Array) =>
  RATIONALS.some((one) => Buffer.from(bytes).includes(one)) || Buffer.from(bytes).includes('59,20');

for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
  test(`the location is removed from a ${format} file, and nothing else`, async () => {
    const before = await placed().toFormat(format).toBuffer();
    assert(tells(before));
    const after = withoutLocation(before);
    assert(after !== null);
    assert(!tells(after));
    if (format !== 'png') assert.equal(after.length, before.length);
    const [was, is] = [await sharp(before).metadata(), await sharp(after).metadata()];
    assert.equal(is.orientation, was.orientation);
    assert.deepEqual(is.icc, was.icc);
    assert.match(is.exif?.toString('latin1') ?? '', /A\. Body/);
    assert.match(is.xmpAsString ?? '', /dc:creator="A\. Body"/);
    assert.doesNotMatch(is.xmpAsString ?? '', /GPSL/);
    assert.deepEqual(await sharp(after).raw().toBuffer(), await sharp(before).raw().toBuffer());
    assert.equal(withoutLocation(after), null, 'nothing is left to take out');
  });
}

test('a picture without a location is left alone, and so are random bytes', async () => {
  assert.equal(withoutLocation(await plain.clone().jpeg().toBuffer()), null);
  assert.equal(withoutLocation(await plain.clone().png().withMetadata({ orientation: 3 }).toBuffer()), null);
  for (const hostile of [
    'Exif\0\0',
    'Exif\0\0II*\0\xff\xff\xff\xff',
    'eXIfMM\0*\0\0\0\x08\xff\xff',
    '\x89PNG\r\n\x1a\n\xff\xff\xff\xffeXIf',
  ])
    assert.equal(withoutLocation(Buffer.from(hostile, 'latin1')), null);
});

test('the location goes also without a mark before it, and beside a damaged entry', async () => {
  const avif = await placed().avif().toBuffer();
  avif.fill(0, avif.indexOf('Exif\0\0', 0, 'latin1'), avif.indexOf('Exif\0\0', 0, 'latin1') + 6);
  const jpeg = await placed().jpeg().toBuffer();
  // The number of its numbers: the tag and the type of the latitude stand before it.
  const at = jpeg.indexOf(Buffer.from([2, 0, 5, 0])) + 4;
  assert(at > 4);
  jpeg.fill(0x7f, at, at + 4);
  for (const picture of [avif, jpeg]) {
    const after = withoutLocation(picture);
    assert(after !== null && !tells(after));
  }
});

test('a picture that is made to take long to look through is refused', async () => {
  const jpeg = await plain.clone().jpeg().toBuffer();
  const heads = Buffer.from('Exif\0\0II*\0\x08\0\0\0\xff\xff'.repeat(50_000), 'latin1');
  assert.throws(() => withoutLocation(Buffer.concat([jpeg, heads])), /more EXIF data/);
  const body = Buffer.concat([Buffer.from('zTXtXML:com.adobe.xmp\0\0', 'latin1'), deflateSync('x')]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  const png = await plain.clone().png().toBuffer();
  const packed = Buffer.concat([png.subarray(0, 33), ...Array(11).fill(chunk), png.subarray(33)]);
  assert.throws(() => withoutLocation(packed), /more than 10 texts/);
});

test('EXIF data that a PNG keeps as compressed text goes whole', async () => {
  const png = await plain.clone().png().toBuffer();
  const body = Buffer.concat([Buffer.from('zTXtRaw profile type exif\0\0', 'latin1'), deflateSync('exif 4 00')]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), chunk.length - 4);
  assert.deepEqual(withoutLocation(Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)])), png);
});

/** A PNG that says it is larger than it is. */
async function boasting(): Promise<Buffer> {
  const png = await plain.clone().png().toBuffer();
  png.writeUInt32BE(20_000, 16);
  png.writeUInt32BE(20_000, 20);
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29);
  return png;
}

test('bad pictures get one line each, and a location reaches neither the database’s files nor the tree', async (t) => {
  const folder = tempFolder(t);
  const at = join(folder, 'content/quay');
  const write = (path: string, bytes: string | Uint8Array) => {
    mkdirSync(join(at, path, '..'), { recursive: true });
    writeFileSync(join(at, path), bytes);
  };
  write('paper.yaml', 'nameplate: The Quay\nsections: [News]\n');
  const original = await placed().jpeg().toBuffer();
  write('media/placed.jpg', original);
  write('media/huge.png', await boasting());
  const noisy = { type: 'gaussian' as const, mean: 128, sigma: 30 };
  const whole = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#000', noise: noisy } })
    .jpeg()
    .toBuffer();
  write('media/short.jpg', whole.subarray(0, whole.length / 2));
  write('media/really.png', whole);
  write('media/cmyk.jpg', await plain.clone().toColourspace('cmyk').jpeg().toBuffer());
  const said = await run(t, folder, ['file', '--no-press']);
  const lines = said.stderr
    .trim()
    .split('\n')
    .filter((line) => line.includes('quay/media'));
  assert.deepEqual(
    lines.map((line) => line.replace(/^quay\/media\/(\S+):1 file: media\/\S+ /, '$1 ')).sort(),
    [
      'huge.png has more than 100 million pixels; make it smaller.',
      'really.png holds JPEG, not PNG as its name says; rename it or export it as PNG.',
      'short.jpg is truncated or damaged: its pixels cannot all be read; send the whole JPEG file again.',
    ],
    said.stderr,
  );
  const pressed = await run(t, folder, ['press']);
  assert.equal(pressed.code, 0, pressed.stderr);
  const shown = readFileSync(join(folder, 'papers/quay/media/placed.jpg'));
  assert(!tells(shown));
  assert.equal(sha256(readFileSync(join(at, 'media/placed.jpg'))), sha256(original), 'the desk’s own file stays');
});
