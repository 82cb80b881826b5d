import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceText } from '../../../src/desk/sources/source-text.ts';
import { textPool } from '../../../src/desk/sources/text-pool.ts';
import { folded, matchQuote, missingTerms, numberValues } from '../../../src/proof/quote-match.ts';

const html = (text: string, type = 'text/html') => sourceText(Buffer.from(text), type);

test('the text of a page is what readers see', async () => {
  const page = `<!doctype html><html><head><title>Tides &amp; ferries</title><style>p{}</style></head><body>
    <nav><a href=/>Home</a></nav><h1>The <em>harbour</em></h1><script>var a = "<p>not this</p>";</script>
    <p>It is 12&nbsp;m\n deep.<br>And wide.</p><table><tr><td>one<td>two</table><!-- no --><template><p>no</p></template>`;
  assert.equal(await html(page), 'Tides & ferries\nThe harbour\nIt is 12 m deep.\nAnd wide.\none\ntwo');
  assert.equal(await html('<head><title>T</title><body>without an end'), 'T\nwithout an end');
  assert.equal(await html('<svg><title>no</title></svg><p>a<b>b</b>c'), 'abc');
  assert.equal(await html('<svg class="icon"/><math/><p>a<svg><svg/></svg>b'), 'a\nb');
  assert.equal(await html(`${'<div><b>'.repeat(200_000)}deep`), 'deep');
  assert.equal(await sourceText(Buffer.from('GIF89a'), 'image/gif'), null);
  assert.equal(await html('{"a": 1}', 'application/json'), '{"a": 1}');
});

test('an XHTML page may close any element at once', async () => {
  const page = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Tides</title><script src="a.js"/>
    <style><![CDATA[p{}]]></style></head><body><iframe src="b"/><p>12&nbsp;m<br/>deep<textarea/><![CDATA[ at <low> tide]]></p></body></html>`;
  assert.equal(await html(page, 'application/xhtml+xml; charset=utf-8'), 'Tides\n12 m\ndeep\nat <low> tide');
  assert.equal(await html('<title/><p>deep', 'application/xhtml+xml'), 'deep');
  assert.equal(await html('<p>a<script src="a.js"/>b</script>c'), 'a\nc', 'in HTML this ends no element');
});

test('a page that lies about its charset is read', async () => {
  const latin = Buffer.from('<p>Zürich', 'latin1');
  assert.equal(await sourceText(latin, 'text/html; charset=utf-8'), 'Z�rich');
  assert.equal(await sourceText(Buffer.from('<p>Zürich'), 'text/html; charset=latin1'), 'Zürich');
  assert.equal(await sourceText(latin, 'text/html; charset=nonsense'), 'Zürich');
  assert.equal(await sourceText(Buffer.from('\ufeff<p>Zürich', 'utf16le'), 'text/html; charset=utf-8'), 'Zürich');
  assert.equal(await sourceText(Buffer.from([0xff, 0xfe, 0x00]), 'text/html'), '�');
});

const place = (quote: string, text: string) => {
  const { found } = matchQuote(quote, folded(text));
  return found === null ? null : text.slice(found.start, found.end);
};

test('a quote is found whatever printers vary', () => {
  const text = 'He said: “The har-\nbour isn’t deep – 12 m at\n low tide, ﬁfty at high.” Then he left.';
  for (const quote of [
    'The harbour isn’t deep',
    "the harbour isn't deep - 12 m at low tide",
    'THE HARBOUR ISN´T DEEP',
    '"The harbour isn‘t deep — 12 m at low tide, fifty at high."',
    'The harbour […] fifty at high',
    'The harbour ... at high',
  ]) {
    assert.ok(place(quote, text)?.includes('bour'), quote);
  }
  assert.equal(place('low tide, fifty', text), 'low tide, ﬁfty');
  assert.equal(place('he left.', text), 'he left.');
  assert.equal(place('fifty at high … The harbour', text), null, 'in another order');
  assert.equal(place('the sea', text), null);
  assert.equal(place('…', text), null);
  assert.equal(place('Ångström', 'A\u030angstro\u0308m'), 'A\u030angstro\u0308m');
  assert.equal(place('港は深い', 'この港は深いです'), '港は深い');
});

test('a quote that is not there has its nearest passage', () => {
  const text = `${'Nothing of this kind is said here. '.repeat(50)}The harbour is twelve metres deep at low tide, the office says. ${'More of it. '.repeat(50)}`;
  const { found, nearest } = matchQuote('The harbour is twenty metres deep at low tide', folded(text));
  assert.equal(found, null);
  assert.equal(nearest?.distance, 3);
  assert.equal(text.slice(nearest?.start, nearest?.end), 'The harbour is twelve metres deep at low tide');
  assert.equal(matchQuote('Completely other words about kites', folded(text)).nearest, null);
  assert.deepEqual(matchQuote('ab', folded('xyz')), { found: null, nearest: null });
  assert.equal(matchQuote('ﷺ'.repeat(300), folded('x')).nearest, null, 'it would be compared for seconds');
});

test('numbers are compared as what they mean, names as words', () => {
  const missing = (statement: string, text: string) => missingTerms(statement, numberValues(text), folded(text));
  assert.deepEqual(
    missing('It cost 1,234.50 and 7 people saw 1 234 of 3.14.', 'Es kostete 1.234,5, für 7, 1234, 3,14'),
    [],
  );
  assert.deepEqual(missing('It rose by 12 to 40,000', 'by 12.0 to 40.000'), []);
  assert.deepEqual(missing('It rose by 12 to 41', 'by 120 to 4.1'), ['12', '41']);
  assert.deepEqual(missing('In ٢٠٢٤ it was १२', '2024 and 12'), []);
  assert.deepEqual(missing('The office of Anna Berg in Oslo said 3', 'in oslo, ANNA said'), ['3', 'Berg']);
  assert.deepEqual(missing('1'.repeat(5_000), '1'), ['1'.repeat(20)]);
});

/** A PDF of one page with these lines, as small as a reader accepts. */
function pdf(lines: readonly string[]): Buffer {
  const content = `BT /F1 12 Tf 20 200 Td 14 TL ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  return Buffer.from(
    `%PDF-1.4\n${objects.map((object, n) => `${n + 1} 0 obj${object}endobj\n`).join('')}trailer<</Root 1 0 R>>`,
  );
}

test('the text of a PDF is found on a thread, and a damaged one says so', async (t) => {
  const pool = textPool();
  t.after(() => pool.close());
  const cited = [{ statement: 'It is 12 m and 13 m', quote: 'is twelve metres deep' }];
  const find = (bytes: Buffer, contentType = 'application/pdf') => pool.find({ bytes, contentType }, cited);
  const { text, found } = await find(pdf(['The harbour is twelve', 'metres deep: 12 m.']));
  assert.equal(text, 'The harbour is twelve\nmetres deep: 12 m.');
  assert.deepEqual(found, [{ quote: { start: 12, end: 33 }, nearest: null, missing: ['13'] }]);
  await assert.rejects(find(Buffer.from('%PDF-1.4 nothing')));
  const after = await find(Buffer.from('ä is twelve metres deep'), 'text/plain');
  assert.deepEqual(after.found[0]?.quote, { start: 3, end: 24 }, 'places count bytes of UTF-8');
  assert.deepEqual(await find(Buffer.from('GIF89a'), 'image/gif'), { text: null, digest: null, found: [] });
});

const quotes = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ statement: `It is ${n}.`, quote: `the harbour ${n} is not deep` }));
const plain = (text: string) => ({ contentType: 'text/plain', bytes: Buffer.from(text) });

test('a source that does not end leaves those behind it their time', async (t) => {
  const pool = textPool({ deadline: 2_000, work: Number.POSITIVE_INFINITY });
  t.after(() => pool.close());
  const slow = pool.find(plain('the harbour is deep. '.repeat(50_000)), quotes(4_000));
  const next = pool.find(plain('It is so.'), []);
  await assert.rejects(slow);
  assert.equal((await next).text, 'It is so.');
});

test('many quotes of one source take turns with other sources', async (t) => {
  const [source, cited] = [plain('The harbour is deep, in 7. '.repeat(40)), quotes(25)];
  const whole = textPool({ work: Number.POSITIVE_INFINITY });
  const pool = textPool({ work: 5_000 });
  t.after(() => Promise.all([whole.close(), pool.close()]));
  const ended: string[] = [];
  const done = (name: string) => () => void ended.push(name);
  const many = pool.find(source, cited);
  const other = pool.find(plain('It is so.'), quotes(1));
  await Promise.all([many.finally(done('many')), other.finally(done('other'))]);
  assert.deepEqual(ended, ['other', 'many']);
  assert.deepEqual(await many, await whole.find(source, cited));
  assert.equal((await many).found.length, 25);
});
