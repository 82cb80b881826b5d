import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { markdownOf } from '../../../packages/import/src/html-markdown.ts';
import { tidyHtml } from '../../../packages/import/src/tidy-html.ts';
import { openZip } from '../../../packages/import/src/zip.ts';
import type { Scope } from '../../support/app-context.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { folderOf, here, importHere, WXR_FOOT, WXR_HEAD, wxr, wxrItem, zipOf } from './archives.ts';

/** Imports a file that must be refused as a whole, with nothing filed. */
async function refusal(t: Scope, name: string, content: string | Buffer): Promise<string> {
  const { app, write } = here(t);
  const error = await importHere(app, write(name, content)).then(
    () => assert.fail('it was imported'),
    (thrown: Error) => thrown,
  );
  assert.deepEqual([...app.store.desk.entries()], [], 'nothing was filed');
  assert.doesNotMatch(error.message, /\n/, 'one line');
  return error.message;
}

test('XML that is damaged, in a wrong encoding, or full of entities files nothing', async (t) => {
  const whole = wxr({});
  assert.match(await refusal(t, 'cut.xml', whole.slice(0, -20)), /cut\.xml is not XML .* get the export again$/);
  assert.match(
    await refusal(
      t,
      'bytes.xml',
      Buffer.concat([Buffer.from(WXR_HEAD), Buffer.from([0xe9, 0x20]), Buffer.from(WXR_FOOT)]),
    ),
    /not UTF-8; save the file in UTF-8/,
  );
  assert.match(
    await refusal(t, 'klingon.xml', whole.replace('UTF-8', 'x-klingon')),
    /"x-klingon", an unknown encoding/,
  );
  const laughs = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "${'ha'.repeat(100)}"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>`;
  for (const entity of ['b', 'x']) {
    const file = whole
      .replace(/<\?xml.*\?>/, laughs)
      .replace('<title>The Old Quay</title>', `<title>&${entity};</title>`);
    assert.match(await refusal(t, 'laughs.xml', file), /undefined entity/);
  }
  assert.match(await refusal(t, 'none.xml', '<html><body/></html>'), /has no items/);
});

test('a text without an end is not read into memory', async (t) => {
  const { folder, app } = here(t);
  const file = join(folder, 'endless.xml');
  writeFileSync(file, `${WXR_HEAD}<item><title><![CDATA[`);
  const part = Buffer.alloc(1_000_000, 'x');
  for (let count = 0; count < 40; count++) writeFileSync(file, part, { flag: 'a' });
  await assert.rejects(
    importHere(app, file),
    /a text of more than 32000000 characters after line \d+; no piece is so long/,
  );
});

test('a piece that is refused says why, and the others come in', async (t) => {
  const { app, write } = here(t);
  const deep = '<div>'.repeat(2_000);
  const file = write(
    'odd.xml',
    `${WXR_HEAD}${[
      wxrItem({ name: 'sound' }),
      wxrItem({ name: 'year-0', date: '0000-00-00 00:00:00' }),
      wxrItem({ name: 'early', date: '0012-01-01 00:00:00' }),
      wxrItem({ name: 'no-day', date: '2019-02-31 00:00:00' }),
      wxrItem({ name: 'deep', html: deep }),
      wxrItem({ name: 'long', html: `<p>${'word '.repeat(450_000)}</p>` }),
      wxrItem({ name: 'huge', html: 'x'.repeat(16_100_000) }),
      wxrItem({ name: 'empty', html: '<script>1</script>' }),
    ].join('')}${WXR_FOOT}`,
  );
  const { filed, refused } = await importHere(app, file);
  assert.equal(filed, 1);
  assert.deepEqual(
    refused.map((line) => line.replace(/^(.{0,90}).*$/, '$1')),
    [
      'null published_at: the archive has no date of it; set one where it was published, or make ',
      'early published_at: "0012-01-01T00:00:00.000Z": is before the year 1600; correct the date',
      'no-day published_at: "2019-02-31T00:00:00Z": is not a time such as 2019-05-20T00:00:00Z',
      'null prose: its HTML nests more than 1000 elements; take the innermost out',
      'null prose: its HTML has 2250007 characters, more than 2000000; split the piece',
      'null prose: the piece is longer than 16 MB; split it',
      'empty prose: the piece has no text; write it',
    ],
  );
});

test('no script, frame, handler or odd address of HTML comes through', () => {
  const html = `<p onclick="x()" style="x">a<img src="javascript:x" onerror="x()"><img src="data:image/png;base64,AA"></p>
    <a href=" jAvascript:alert(1)">b</a><a href="vbscript:x">c</a><a href="https://d.example/?a=1&amp;b=(2)">d</a>
    <iframe srcdoc="<script>1</script>"></iframe><object data="x"><p>e</p></object><svg><script>1</script></svg>
    <form action="x"><input value="f"><button>g</button></form><style>h</style><noscript>i</noscript>
    <template>j</template><math><mtext>k</mtext></math><title>l</title><textarea>m</textarea>&lt;script&gt;n&lt;/script&gt;`;
  const tidy = tidyHtml(html, { base: 'https://old.example/' });
  const markdown = markdownOf(tidy.html, () => null);
  assert.equal(markdown.replace(/\s+/g, ' '), 'a bc[d](https://d.example/?a=1&b=\\(2\\)) \\<script>n\\</script>');
  assert.equal(tidy.pictures.length, 0);
});

test('hostile HTML takes time in proportion to its length', { skip: ONLY_WIDE }, () => {
  const time = (html: string): number => {
    const start = performance.now();
    markdownOf(tidyHtml(html, { base: null }).html, () => null);
    return performance.now() - start;
  };
  time('<p>warm</p>'.repeat(2_000));
  for (const part of [
    '<li>x',
    '<b>',
    '</p>',
    '<br>x',
    '<td>x',
    '<a href=b>c',
    '*_[<',
    '<p>x',
    '<blockquote>x</blockquote>',
  ]) {
    const open = part === '<b>' ? '<b>'.repeat(900) + '<p>x'.repeat(25_000) : part.repeat(25_000);
    assert.ok(time(open) < 15_000, `25,000 times ${part}`);
  }
  assert.ok(time(`<a ${Array.from({ length: 50_000 }, (_, n) => `a${n}=1`).join(' ')}>x</a>`) < 5_000);
});

test('a ZIP archive is read where it is, and no name in it leads elsewhere', async (t) => {
  const { folder, write } = here(t);
  const file = await zipOf(join(folder, 'sound.zip'), { 'posts.csv': 'post_id\n', 'aa/evil.html': 'x' });
  const patched = (from: string, to: string) => {
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
    return write(`${to.replace(/\W/g, '_')}.zip`, bytes);
  };
  for (const name of ['../../evil.', '/etc/evil.x']) {
    await assert.rejects(
      openZip(patched('aa/evil.html', name.padEnd(12, 'h'))),
      /is not a sound ZIP archive \((?:invalid relative path|absolute path)/,
    );
  }
  await assert.rejects(openZip(write('cut.zip', readFileSync(file).subarray(0, 60))), /not a sound ZIP archive/);
});

test('a file of a ZIP archive has no more bytes than it says, and no more than are wanted', async (t) => {
  const { folder, write } = here(t);
  const file = await zipOf(join(folder, 'bomb.zip'), { 'posts.csv': Buffer.alloc(20_000_000, 'a') });
  assert.ok(readFileSync(file).length < 100_000);
  const bomb = await openZip(file);
  await assert.rejects(bomb.text('posts.csv', 1_000_000), /posts\.csv in .* has more than 1000000 bytes; split it/);
  bomb.close();
  const bytes = readFileSync(file);
  const central = bytes.indexOf('PK\x01\x02');
  bytes.writeUInt32LE(10, central + 24);
  const lying = await openZip(write('lying.zip', bytes));
  await assert.rejects(lying.text('posts.csv', 50_000_000), /not a sound ZIP archive \(too many bytes in the stream/);
  lying.close();
});

test('a folder gives no file outside of itself', async (t) => {
  const { folder, app } = here(t);
  writeFileSync(join(folder, 'secret.png'), 'secret');
  const site = folderOf(join(folder, 'site'), {
    '_config.yml': 'title: Old\n',
    '_posts/2019-05-20-out.md':
      '---\ntitle: Out\ncategories: News\n---\nA text ![a](../../secret.png) ![b](/../secret.png) ![c](link.png) ![d](file:///etc/passwd)\n',
    '_posts/2019-05-21-bad.md': '---\ntitle: [\n---\nText\n',
    '_posts/2019-05-22-open.md': '---\ntitle: Open\nText\n',
    '_posts/2019-05-23-latin.md': Buffer.from('---\ntitle: Caf\u00e9\n---\nText\n', 'latin1'),
    '_posts/2019-05-24-alias.md': `---\na: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`)}]`).join('\n')}\n---\nText\n`,
  });
  symlinkSync(join(folder, 'secret.png'), join(site, '_posts/link.png'));
  symlinkSync(join(folder), join(site, '_posts/loop'));
  const { filed, refused, notes } = await importHere(app, site);
  assert.equal(filed, 1);
  assert.equal(notes.filter((note) => /was left out/.test(note)).length, 3);
  assert.doesNotMatch(app.store.desk.archive('quay').storyBySlug('out')?.prose ?? '', /!\[|media\//);
  assert.deepEqual(
    refused.map((line) => line.replace(/^(.{0,60}).*$/s, '$1')),
    [
      'null front matter: its front matter cannot be read (Flow seq',
      'null front matter: its front matter has no end; close it wit',
      'null file: the file is not in UTF-8; save it in UTF-8',
      'null front matter: its front matter cannot be read (Excessiv',
    ],
  );
});

test('Ghost: what is not JSON, is cut, or is of something else', async (t) => {
  assert.match(
    await refusal(t, 'a.json', '{"db":[{"data":{"posts":[{"title":"x"'),
    /a\.json is cut short; get the export again/,
  );
  assert.match(
    await refusal(t, 'b.json', '{"db":[{"data":{"posts":[nope'),
    /b\.json is not JSON .*get the export again/,
  );
  assert.match(await refusal(t, 'c.json', '{"data":[]}'), /has no tables of a Ghost site/);
});
