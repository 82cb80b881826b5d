import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folded, matchQuote, missingTerms } from '../../../src/desk/sources/match.ts';
import { sourceText } from '../../../src/desk/sources/source-text.ts';
import { textPool } from '../../../src/desk/sources/text-pool.ts';

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
});

test('numbers are compared as what they mean, names as words', () => {
  const missing = (statement: string, text: string) => missingTerms(statement, text, folded(text));
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
  const task = {
    contentType: 'application/pdf',
    cited: [{ statement: 'It is 12 m and 13 m', quote: 'is twelve metres deep' }],
  };
  const { text, found } = await pool.find({ ...task, bytes: pdf(['The harbour is twelve', 'metres deep: 12 m.']) });
  assert.equal(text, 'The harbour is twelve\nmetres deep: 12 m.');
  assert.deepEqual(found, [{ quote: { start: 12, end: 33 }, nearest: null, missing: ['13'] }]);
  await assert.rejects(pool.find({ ...task, bytes: Buffer.from('%PDF-1.4 nothing') }));
  const after = await pool.find({ ...task, contentType: 'text/plain', bytes: Buffer.from('ä is twelve metres deep') });
  assert.deepEqual(after.found[0]?.quote, { start: 3, end: 24 }, 'places count bytes of UTF-8');
});

test('a source that does not end leaves those behind it their time', async (t) => {
  const pool = textPool({ deadline: 2_000 });
  t.after(() => pool.close());
  const cited = Array.from({ length: 2_000 }, (_, n) => ({
    statement: 'It is.',
    quote: `the harbour ${n} is not deep`,
  }));
  const bytes = Buffer.from('the harbour is deep. '.repeat(50_000));
  const slow = pool.find({ contentType: 'text/plain', bytes, cited });
  const next = pool.find({ contentType: 'text/plain', bytes: Buffer.from('It is so.'), cited: [] });
  await assert.rejects(slow);
  assert.equal((await next).text, 'It is so.');
});
