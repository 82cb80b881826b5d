import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { NO_MAPPING, Pictures } from '../../../packages/import/src/index.ts';
import { jsonLines } from '../../../src/desk/ingest/import-lines.ts';
import { createdPaper } from '../../../src/desk/ingest/import-paper.ts';
import { askMapping, openOther, readMapping } from '../../../src/desk/ingest/other-systems.ts';
import { intakeOf } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { envIn } from '../../support/app-context.ts';
import { folderOf, here, importHere, SITE, wxr, zipOf } from './archives.ts';

test('categories that cannot all be sections: the limit, the names and the cure', async (t) => {
  const { app, write } = here(t);
  const of = (...names: string[]) =>
    write('old.xml', wxr(...names.map((name, n) => ({ name: `piece-${n}`, categories: [name] }))));
  const cure =
    'map categories to fewer or other sections with --map FILE, or name one for all others with --section NAME';
  for (const [names, message] of [
    [
      Array.from({ length: 45 }, (_, n) => `Topic ${n}`),
      `a paper has at most 40 sections, and with the 45 that the archive adds ("Topic 0", "Topic 1", "Topic 10" …) it would have 45; ${cure}`,
    ],
    [['News', 'NEWS!'], `the section "NEWS!": it would have the same address as "News"; ${cure}`],
    [
      ['x'.repeat(70)],
      `the section "${'x'.repeat(70)}": 70 characters are more than 60; shorten it (it begins "${'x'.repeat(40)}"); ${cure}`,
    ],
    [['a\u202eb'], /^the section "a\\u202eb": U\+202E RIGHT-TO-LEFT OVERRIDE at character 2 .*--map FILE/],
  ] as const) {
    const error = await importHere(app, of(...names)).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Fault, String(error));
    if (typeof message === 'string') assert.equal(error.message, message);
    else assert.match(error.message, message);
  }
  assert.deepEqual([...app.store.desk.entries()], [], 'nothing was filed');
  const mapping = { sections: { 'NEWS!': 'News' }, authors: {}, section: 'Notes' };
  assert.equal((await importHere(app, of('News', 'NEWS!'), { mapping })).filed, 2);
});

test('a category in another normalization form is the same section, the second time too', async (t) => {
  const { app, write } = here(t);
  const file = write('old.xml', wxr({ categories: ['Cafe\u0301'] }));
  assert.deepEqual((await importHere(app, file)).refused, []);
  const { filed, unchanged } = await importHere(app, file);
  assert.deepEqual([filed, unchanged, app.store.desk.paper('quay')?.sections], [0, 1, ['Caf\u00e9']]);
});

test('an import keeps the sections that another has added since it began', async (t) => {
  const { app, write } = here(t);
  const lines = (section: string) => jsonLines(write(`${section}.jsonl`, JSON.stringify({ section })));
  const intake = intakeOf(app);
  intake.openSigningKey();
  const [news, sport] = [
    await createdPaper(intake, 'quay', lines('News'), undefined),
    await createdPaper(intake, 'quay', lines('Sport'), undefined),
  ];
  for (const { create } of [news, sport, news, sport]) app.store.database.transact(create);
  assert.deepEqual(app.store.desk.paper('quay')?.sections, ['News', 'Sport']);
  const kinds = [...app.store.desk.entries()].map((entry) => ('kind' in entry ? entry.kind : entry.type));
  assert.deepEqual(kinds, ['key', 'paper', 'persona', 'paper']);
});

test('a mapping that cannot be read says where and what to do', (t) => {
  const { folder, write } = here(t);
  const refused = (content: string | Buffer) => {
    try {
      readMapping(write('map.yaml', content));
    } catch (error) {
      assert.ok(error instanceof Fault, String(error));
      return error.message;
    }
    return assert.fail('it was read');
  };
  assert.throws(
    () => readMapping(join(folder, 'none.yaml')),
    /none\.yaml cannot be read \(ENOENT.*; name a YAML file, as docs\/moving/,
  );
  mkdirSync(join(folder, 'folder'));
  assert.throws(() => readMapping(join(folder, 'folder')), /folder cannot be read \(EISDIR.*\); name a YAML file/);
  assert.match(refused('sections: [\n'), /map\.yaml is not YAML \(.*\); correct it$/);
  assert.doesNotMatch(refused('sections: [\n'), /\n/, 'one line');
  assert.match(refused(Buffer.from('section: Caf\u00e9', 'latin1')), /map\.yaml is not in UTF-8; save it in UTF-8/);
  assert.match(refused('a: &a [x]\nb: *a\n'), /is not YAML \(Alias resolution is disabled\); correct it$/);
  assert.equal(refused('section: [News]'), 'section: ["News"]: must be a text');
  assert.equal(refused('sections: { News: 1 }'), 'sections.News: 1: must be a text');
  assert.equal(refused('- News'), 'body: ["News"]: must be an object');
  assert.match(refused('categories: {}\nauthors: { ann: 1 }'), /^authors\.ann: 1: must be .* \(and 1 more\)$/);
  assert.match(refused('sections: { a: x }\n? [b]\n: c\n'), /there is no field of this name/);
  assert.deepEqual(readMapping(write('map.yaml', '')), { sections: {}, authors: {} });
  assert.deepEqual(readMapping(write('map.yaml', 'authors: { admin: null, bo: Bo Ray }\nsection: News\n')), {
    sections: {},
    authors: { admin: null, bo: 'Bo Ray' },
    section: 'News',
  });
});

test('what is wrong with one piece is no harm to the others', async (t) => {
  const { folder, app, write } = here(t);
  const post = { type: 'post', status: 'published', published_at: '2019-01-01 00:00:00' };
  const posts = [
    { ...post, id: '1', title: 'Broken', slug: 'broken', lexical: '{"root":' },
    { ...post, id: '2', title: 'Sound', slug: 'sound', html: '<p>Text</p>' },
    {
      ...{ ...post, id: '3', title: 'Cards', slug: 'cards' },
      mobiledoc: JSON.stringify({ cards: [['markdown', { markdown: '*'.repeat(30_000) }]], sections: [[10, 0]] }),
    },
  ];
  const mapping = { sections: {}, authors: {}, section: 'News' };
  const ghost = await importHere(app, write('ghost.json', JSON.stringify({ data: { posts } })), { mapping });
  assert.equal(ghost.filed, 1);
  assert.match(
    ghost.refused.join('\n'),
    /^null prose: its lexical is not JSON .*\nnull prose: 30000 characters of mark-up/,
  );

  const zip = await zipOf(join(folder, 'letters.zip'), {
    'posts.csv': 'post_id,post_date,is_published,title\n1.a,2019-01-01,true,A\n2.b,2019-01-01,true,B\n',
    'posts/1.a.html': Buffer.from('<p>Caf\u00e9</p>', 'latin1'),
    'posts/2.b.html': '<p>Text</p>',
  });
  const letters = await importHere(app, zip, { mapping, site: SITE });
  assert.equal(letters.filed, 1);
  assert.match(letters.refused.join('\n'), /^null prose: posts\/1\.a\.html in .* is not in UTF-8; save it in UTF-8$/);

  const signs = await importHere(app, write('old.xml', wxr({ title: 'A\u0008\u000b\0 bell', name: 'bell' })));
  assert.deepEqual([signs.filed, app.store.desk.archive('quay').storyBySlug('bell')?.headline], [1, 'A bell']);
});

test('names, addresses and pictures without end are cut, and few are listed', async (t) => {
  const { folder, app, write } = here(t);
  const long = 'x'.repeat(100_000);
  const file = write(
    'old.xml',
    wxr(
      { name: 'a', link: `${SITE}/${long}`, tags: [long] },
      { name: 'b', status: long },
      { name: 'c', type: long },
      { name: 'd', html: `<p>x${Array.from({ length: 2_001 }, (_, n) => `<img src="/${n}.png">`).join('')}</p>` },
      { name: 'e', html: `<p>x<img src="https://${long}.example/"></p>` },
    ),
  );
  const old = await importHere(app, file);
  assert.deepEqual([old.filed, old.skipped], [2, 2]);
  assert.deepEqual(old.refused, ['null prose: it shows 2001 pictures, more than 2000; split the piece']);
  const site = folderOf(join(folder, 'site'), {
    'hugo.toml': 'title = "Old"\n',
    'content/a.md': `---\ntitle: A\ndate: 2019-01-01\ncategories: News\naliases: [${Array.from({ length: 5_000 }, (_, n) => `"/<${n}"`)}]\n---\nText\n`,
  });
  const { notes } = await importHere(app, site);
  assert.equal(notes.length, 11);
  assert.match(notes.at(-1) ?? '', /^A: 4990 more of its earlier addresses were left out$/);
  for (const note of [...old.notes, ...notes]) assert.ok(note.length < 500, note.slice(0, 200));
});

test('slugs of the archive are never those that were made for others', async (t) => {
  const { app, write } = here(t);
  const file = write(
    'old.xml',
    wxr(...['a', 'a', 'a-2', 'a'].map((name, id) => ({ name, id, link: `${SITE}/${id}/` }))),
  );
  const { filed, refused } = await importHere(app, file);
  assert.deepEqual([filed, refused], [4, []]);
  const archive = app.store.desk.archive('quay');
  assert.deepEqual(
    ['a', 'a-2', 'a-2-2', 'a-3'].map((slug) => archive.hasSlug(slug)),
    [true, true, true, true],
  );
});

test('two archives have pictures of one path, and each piece shows its own', async (t) => {
  const { folder, app } = here(t);
  const picture = (background: string) =>
    sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .png()
      .toBuffer();
  for (const name of ['red', 'blue']) {
    const site = folderOf(join(folder, name), {
      '_config.yml': `title: ${name}\n`,
      'img/logo.png': await picture(name),
      [`_posts/2019-05-20-${name}.md`]: `---\ntitle: ${name}\ncategories: News\n---\n![Logo](/img/logo.png)\n\nText\n`,
    });
    assert.equal((await importHere(app, site)).filed, 1);
  }
  const archive = app.store.desk.archive('quay');
  const shown = ['red', 'blue'].map((slug) => {
    const path = /media\/archive\/[\w-]+\.png/.exec(archive.storyBySlug(slug)?.prose ?? '')?.[0] ?? '';
    return archive.media(path)?.digest;
  });
  assert.notEqual(shown[0], shown[1]);
  assert.ok(shown.every((digest) => digest !== undefined));
});

test('an archive that is cut short files nothing in a paper that is there', async (t) => {
  const { app, write } = here(t);
  await importHere(app, write('old.xml', wxr({})));
  const before = [...app.store.desk.entries()].length;
  const item = (n: number) =>
    `<item><title>P${n}</title><link>${SITE}/p${n}</link><pubDate>Mon, 20 May 2019 10:00:00 GMT</pubDate><category>News</category><description>Text</description></item>`;
  const items = Array.from({ length: 400 }, (_, n) => item(n));
  const rss = `<rss version="2.0"><channel><title>Old</title>${items.join('')}`;
  await assert.rejects(importHere(app, write('rss.xml', rss), { create: false }), /rss\.xml is not XML/);
  const line = (n: number) =>
    JSON.stringify({
      slug: `l-${n}-${Math.sin(n)}`.replace(/\./, ''),
      headline: 'L',
      section: 'News',
      prose: 'T',
      published_at: '2019-01-01T00:00:00Z',
      provenance: 'archive',
    });
  const packed = gzipSync(Array.from({ length: 3_000 }, (_, n) => line(n)).join('\n'));
  const cut = write('cut.jsonl.gz', packed.subarray(0, -100));
  await assert.rejects(importHere(app, cut, { create: false }), /cut\.jsonl\.gz cannot be read .*cut short/);
  assert.equal([...app.store.desk.entries()].length, before);
});

test('a host that does not respond is not asked without end', async () => {
  let asked = 0;
  const fetch = async () => {
    asked++;
    return { status: null, error: 'timeout', contentType: null, bytes: null, cut: null, location: null };
  };
  const source = {
    system: 'x',
    site: async () => ({ title: '', url: null }),
    async *items() {},
    file: async () => null,
    close() {},
  };
  const media = {
    types: { '.png': 'image/png' },
    bytesMax: { image: 10, audio: 10 },
    words: () => [],
    has: () => false,
    keep: async () => {},
  };
  const pictures = new Pictures(source, media, fetch);
  for (let n = 0; n < 20; n++) {
    const found = await pictures.find(`https://gone.example/${n}.png`, '');
    assert.deepEqual(found, { missing: n < 5 ? 'timeout' : 'gone.example did not respond before' });
  }
  assert.equal(asked, 5);
  await pictures.find('https://other.example/1.png', '');
  assert.equal(asked, 6);
});

test('a disk that is full when a picture comes stops the import, and the piece keeps its picture', async (t) => {
  const { app, write } = here(t);
  const file = write('old.xml', wxr({ html: `<p>Text <img src="${SITE}/a.png"></p>` }));
  const full = async (): Promise<never> => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  };
  await assert.rejects(importHere(app, file, { fetch: full }), (error) => {
    assert.ok(error instanceof Fault);
    return /ENOSPC.*; check the disk and its permissions, then import again/.test(error.message);
  });
  assert.equal(app.store.desk.hasPaper('quay'), false);
});

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

test('on a terminal, import asks for the sections that the paper lacks', { skip: !hasScript }, (t) => {
  const { folder, write } = here(t);
  const file = write(
    'old.xml',
    wxr({ name: 'a', categories: ['Harbour'] }, { name: 'b', categories: ['Tides'] }, { name: 'c', categories: [] }),
  );
  const command = `'${process.execPath}' bin/broadsheet.mjs import '${file}' --paper quay --create --dry-run`;
  const env = { ...process.env, ...envIn(folder) };
  const input = 'Sea\n\nSea\n';
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    env,
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.match(stdout, /The section for 1 piece of the category "Harbour" \[Harbour\]: /);
  assert.match(stdout, /The section for 1 piece of the category "Tides" \[Tides\]: /);
  assert.match(stdout, /The section of 1 piece without a category \[Archive\]: /);
  assert.match(stdout, /3 would be filed, 0 unchanged, 0 refused/);
});

test('an archive that is no file, is not there, or of another system', async (t) => {
  const { folder, app, write } = here(t);
  const pipe = join(folder, 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  await assert.rejects(importHere(app, pipe), /pipe is neither a file nor a folder; save the archive to a file$/);
  await assert.rejects(importHere(app, join(folder, 'none')), /none does not exist; name the file or the folder/);
  const xml = write('old.xml', wxr({}));
  await assert.rejects(importHere(app, xml, { from: 'hugo' }), /is a file, but hugo has a folder; name that, or leave/);
  await assert.rejects(
    importHere(app, folder, { from: 'ghost' }),
    /is a folder, but ghost exports a file; name the file$/,
  );
  await assert.rejects(importHere(app, folder), /is no folder of Hugo, Jekyll or Eleventy.*or say which with --from$/);
});

test('an archive that is cut short while its categories are asked for is refused in one line', async (t) => {
  const { write } = here(t);
  const source = await openOther(write('old.xml', wxr({}).slice(0, -20)), 'wordpress');
  assert.ok(source);
  await assert.rejects(
    askMapping(async () => '', source, NO_MAPPING, []),
    (error) => {
      assert.ok(error instanceof Fault);
      return /old\.xml is not XML/.test(error.message);
    },
  );
});

test('a picture at an address that is none is left out', async (t) => {
  const { app, write } = here(t);
  const post = { id: '1', type: 'post', status: 'published', published_at: '2019-01-01 00:00:00', slug: 'a' };
  const posts = [{ ...post, title: 'A', html: '<p>Text</p>', feature_image: 'http://[::1' }];
  const mapping = { sections: {}, authors: {}, section: 'News' };
  const { filed, notes } = await importHere(app, write('ghost.json', JSON.stringify({ data: { posts } })), { mapping });
  assert.deepEqual([filed, notes], [1, ['A: the picture "http://[::1" was left out (it is no web address)']]);
});
