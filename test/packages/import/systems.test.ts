import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import type { Fetch } from '../../../packages/import/src/index.ts';
import { importArchive } from '../../../src/desk/ingest/import-archive.ts';
import { pressPapers } from '../../../src/desk/jobs/press-run.ts';
import { intakeOf } from '../../../src/server/context.ts';
import { appContextIn, type Scope, tempFolder } from '../../support/app-context.ts';
import { m4a, mp3 } from '../../support/sounds.ts';
import { fetchOf, folderOf, importHere, zipOf } from './archives.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

function here(t: Scope) {
  const folder = tempFolder(t);
  return { folder, app: appContextIn(t, folder, { now: NOW }) };
}

const png = () =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();

const GHOST = {
  db: [
    {
      meta: { exported_on: 1_700_000_000_000, version: '5.90.0' },
      data: {
        posts: [
          {
            id: 'p1',
            title: 'Two ferries',
            slug: 'two-ferries',
            html: '<p>See <a href="__GHOST_URL__/other/">this</a>.</p><img src="__GHOST_URL__/content/images/quay.png" alt="Quay">',
            feature_image: '__GHOST_URL__/content/images/quay.png',
            type: 'post',
            status: 'published',
            visibility: 'public',
            published_at: '2019-05-20T10:00:00.000Z',
            custom_excerpt: 'A dek',
          },
          {
            id: 'p2',
            title: 'Lexical',
            slug: 'lexical',
            html: null,
            lexical: JSON.stringify({
              root: {
                type: 'root',
                children: [
                  {
                    type: 'extended-heading',
                    tag: 'h2',
                    children: [{ type: 'extended-text', text: 'Head', format: 0 }],
                  },
                  {
                    type: 'paragraph',
                    children: [
                      { type: 'extended-text', text: 'bold & <b>', format: 1 },
                      { type: 'linebreak' },
                      {
                        type: 'link',
                        url: 'https://a.example/',
                        children: [{ type: 'extended-text', text: 'link', format: 2 }],
                      },
                    ],
                  },
                  {
                    type: 'list',
                    listType: 'number',
                    children: [{ type: 'listitem', children: [{ type: 'extended-text', text: 'one' }] }],
                  },
                  { type: 'codeblock', code: 'let a;', language: 'js' },
                  { type: 'bookmark', url: 'https://b.example/', metadata: { title: 'Bookmark' } },
                ],
              },
            }),
            type: 'post',
            status: 'published',
            visibility: 'public',
            published_at: '2020-01-01 00:00:00',
          },
          {
            id: 'p3',
            title: 'Mobiledoc',
            slug: 'mobiledoc',
            html: '',
            mobiledoc: JSON.stringify({
              version: '0.3.1',
              atoms: [['soft-return', '', {}]],
              cards: [['card-markdown', { markdown: '**strong**' }]],
              markups: [['em'], ['a', ['href', 'https://a.example/']]],
              sections: [
                [
                  1,
                  'p',
                  [
                    [0, [0], 1, 'em'],
                    [0, [], 0, ' and '],
                    [0, [1], 1, 'link'],
                    [1, [], 0, 0],
                    [0, [], 0, 'next'],
                  ],
                ],
                [3, 'ul', [[[0, [], 0, 'item']]]],
                [10, 0],
              ],
            }),
            page: 0,
            status: 'published',
            published_at: 1_600_000_000_000,
            author_id: 'u1',
          },
          {
            id: 'p4',
            title: 'For members',
            slug: 'members',
            html: '<p>x</p>',
            type: 'post',
            status: 'published',
            visibility: 'members',
            published_at: '2020-01-01T00:00:00.000Z',
          },
          { id: 'p5', title: 'Page', slug: 'page', html: '<p>x</p>', type: 'page', status: 'published' },
        ],
        posts_authors: [
          { id: 'a', post_id: 'p1', author_id: 'u2', sort_order: 1 },
          { id: 'b', post_id: 'p1', author_id: 'u1', sort_order: 0 },
        ],
        posts_tags: [
          { id: 'c', post_id: 'p1', tag_id: 't2', sort_order: 1 },
          { id: 'd', post_id: 'p1', tag_id: 't1', sort_order: 0 },
        ],
        posts_meta: [
          { id: 'm', post_id: 'p1', feature_image_alt: 'The quay', feature_image_caption: 'By <a href="x">Bo</a>' },
        ],
        settings: [{ key: 'title', value: 'Old Ghost' }],
        tags: [
          { id: 't1', name: 'Harbour', slug: 'harbour' },
          { id: 't2', name: 'Tides', slug: 'tides' },
        ],
        users: [
          { id: 'u1', name: 'Ann Lee' },
          { id: 'u2', name: 'Bo Ray' },
        ],
      },
    },
  ],
};

test('an export of Ghost, as JSON and with its pictures in a ZIP', async (t) => {
  const { folder, app } = here(t);
  const file = join(folder, 'ghost.json');
  writeFileSync(file, JSON.stringify(GHOST));
  const mapping = { sections: {}, authors: {}, section: 'Notes' };
  const site = 'https://ghost.example';
  const fetch = fetchOf({ [`${site}/content/images/quay.png`]: await png() });
  const done = await importHere(app, file, { mapping, site, fetch });
  assert.deepEqual([done.filed, done.skipped, done.refused], [4, 1, []]);
  const archive = app.store.desk.archive('quay');
  const story = archive.storyBySlug('two-ferries');
  assert.match(
    story?.prose ?? '',
    /^See \[this\]\(https:\/\/ghost\.example\/other\/\)\.\n\n!\[Quay\]\(media\/archive\/quay-\w{8}\.png\)$/,
  );
  assert.deepEqual(
    [story?.dek, story?.category, story?.tags, story?.authors, story?.aliases],
    ['A dek', 'Notes', ['Harbour', 'Tides'], [{ name: 'Ann Lee' }, { name: 'Bo Ray' }], ['/two-ferries']],
  );
  assert.deepEqual([story?.image?.alt, story?.image?.credit], ['The quay', 'By Bo']);
  assert.equal(
    archive.storyBySlug('lexical')?.prose,
    '## Head\n\n**bold \\& \\<b>**\\\n[_link_](https://a.example/)\n\n1.  one\n\n```js\nlet a;\n```\n\n[Bookmark](https://b.example/)',
  );
  assert.equal(
    archive.storyBySlug('mobiledoc')?.prose,
    '_em_ and [link](https://a.example/)\\\nnext\n\n-   item\n\n**strong**',
  );
  assert.deepEqual(
    [archive.storyBySlug('members')?.state, archive.storyBySlug('mobiledoc')?.authors],
    ['draft', [{ name: 'Ann Lee' }]],
  );

  const zip = await zipOf(join(folder, 'ghost.zip'), {
    'data/old.ghost.2023.json': JSON.stringify(GHOST),
    'content/images/quay.png': await png(),
  });
  const again = await importHere(app, zip, { mapping, site });
  assert.deepEqual([again.filed, again.unchanged, again.refused], [0, 4, []]);
});

test('an export of Substack: drafts and pieces for payers stay drafts', async (t) => {
  const { folder, app } = here(t);
  const csv = [
    'post_id,post_date,is_published,email_sent_at,inbox_sent_at,type,audience,title,subtitle,podcast_url',
    '101.two-ferries,2019-07-26T20:48:19.814Z,true,,,newsletter,everyone,"Two ""ferries"", one quay","A dek,\nof two lines",',
    '102.paid,2019-08-26T20:48:19.814Z,true,,,newsletter,only_paid,Paid,,',
    '103.draft,,false,,,newsletter,everyone,Draft,,',
    '104.talk,2019-08-26T20:48:19.814Z,true,,,thread,everyone,Talk,,',
    '105.lost,2019-08-26T20:48:19.814Z,true,,,newsletter,everyone,Lost,,',
    '106.heard,2019-09-26T20:48:19.814Z,true,,,podcast,everyone,Heard,,https://pod.example/a.mp3',
    '',
  ].join('\r\n');
  const posts = ['101.two-ferries', '102.paid', '103.draft', '104.talk', '106.heard'].map((id) => [
    `posts/${id}.html`,
    `<p>${id}</p>`,
  ]);
  const file = await zipOf(join(folder, 'export.zip'), { 'posts.csv': csv, ...Object.fromEntries(posts) });
  const done = await importHere(app, file, {
    mapping: { sections: {}, authors: {}, section: 'Letters', author: 'Ann Lee' },
    site: 'https://letter.example',
  });
  assert.deepEqual([done.filed, done.skipped], [4, 1]);
  assert.match(done.refused.join(), /^null prose: the archive has no "posts\/105\.lost\.html"; get the export again$/);
  const archive = app.store.desk.archive('quay');
  const story = archive.storyBySlug('two-ferries');
  assert.deepEqual(
    [story?.headline, story?.dek, story?.authors, story?.aliases],
    ['Two "ferries", one quay', 'A dek, of two lines', [{ name: 'Ann Lee' }], ['/p/two-ferries']],
  );
  assert.match(story?.credit ?? '', /First published at https:\/\/letter\.example\/p\/two-ferries\./);
  assert.deepEqual([archive.storyBySlug('paid')?.state, archive.storyBySlug('draft')?.state], ['draft', 'draft']);
  assert.match(archive.storyBySlug('heard')?.prose ?? '', /\[https:\/\/pod\.example\/a\.mp3\]/);
});

test('a folder of Hugo: TOML and YAML, bundles, shortcodes, aliases', async (t) => {
  const { folder, app } = here(t);
  const site = folderOf(join(folder, 'site'), {
    'hugo.toml': 'baseURL = "https://hugo.example/"\ntitle = "Old Hugo"\n[permalinks]\nnotes = "/:year/:slug/"\n',
    'content/posts/two-ferries/index.md':
      '+++\ntitle = "Two ferries"\ndate = 2019-05-20T10:00:00Z\ntags = ["Tides"]\nauthors = ["Ann Lee"]\naliases = ["/old/ferries/"]\n+++\nText <b>bold</b> and ![Quay](quay.png).\n\n{{< figure src="/img/wide.png" alt="Wide" caption="At dusk" >}}\n\n{{< youtube abc >}}\n\n{{< chart 1 >}}\n',
    'content/posts/two-ferries/quay.png': await png(),
    'static/img/wide.png': await png(),
    'content/notes/short.md':
      '---\ntitle: Short\ndate: 2020-02-03\ndraft: false\ncategories: [Harbour]\n---\nA [relative](/posts/two-ferries/) link.\n',
    'content/posts/wip.md': '---\ntitle: WIP\ndraft: true\n---\nNot yet.\n',
    'content/about.md': '---\ntitle: About\n---\nUs.\n',
    'content/posts/_index.md': '---\ntitle: Posts\n---\n',
    'themes/x/content/posts/not.md': '---\ntitle: No\ndate: 2019-01-01\n---\nNo.\n',
  });
  const done = await importHere(app, site);
  assert.deepEqual([done.filed, done.skipped, done.refused], [3, 1, []]);
  assert.deepEqual(done.notes, [
    'About: is skipped: it has no date, and so is a page',
    'Two ferries: the shortcode chart was left out',
  ]);
  const archive = app.store.desk.archive('quay');
  const story = archive.storyBySlug('two-ferries');
  assert.match(
    story?.prose ?? '',
    /^Text \*\*bold\*\* and !\[Quay\]\(media\/archive\/quay-\w{8}\.png\)\.\n\n!\[Wide\]\(media\/archive\/wide-\w{8}\.png "At dusk"\)\n\n\[https:\/\/www\.youtube\.com\/watch\?v=abc\]/,
  );
  assert.deepEqual(
    [story?.category, story?.tags, story?.authors, story?.aliases],
    ['posts', ['Tides'], [{ name: 'Ann Lee' }], ['/posts/two-ferries', '/old/ferries']],
  );
  assert.deepEqual(
    [archive.storyBySlug('short')?.aliases, archive.storyBySlug('short')?.category, archive.storyBySlug('wip')?.state],
    [['/2020/short'], 'Harbour', 'draft'],
  );
  assert.match(archive.storyBySlug('short')?.prose ?? '', /\(https:\/\/hugo\.example\/posts\/two-ferries\/\)/);
  assert.deepEqual((await importHere(app, site)).unchanged, 3);
});

test('a folder of Jekyll: dates in names, Liquid, permalinks', async (t) => {
  const { folder, app } = here(t);
  const site = folderOf(join(folder, 'site'), {
    '_config.yml': 'title: Old Jekyll\nurl: https://jekyll.example\n',
    '_data/authors.yml': 'ann:\n  name: Ann Lee\n',
    '_posts/2019-05-20-two-ferries.md':
      '---\ntitle: "Two ferries"\ncategories: harbour news\nauthor: ann\nredirect_from:\n  - /old/\n---\n{% highlight js %}\nlet a = 1;\n{% endhighlight %}\n\n![Quay]({{ site.baseurl }}/assets/quay.png)\n{% include ad.html %}\n',
    '_posts/2020-01-02-own.markdown':
      '---\ntitle: Own\npermalink: /own-place.html\ndate: 2020-01-02 10:00:00 +0200\n---\nText.\n',
    '_drafts/later.md': '---\ntitle: Later\n---\nDraft.\n',
    'assets/quay.png': await png(),
    'about.md': '---\ntitle: About\n---\nUs.\n',
  });
  const mapping = { sections: {}, authors: {}, section: 'Notes' };
  const done = await importHere(app, site, { mapping });
  assert.deepEqual([done.filed, done.skipped, done.refused], [3, 1, []]);
  const archive = app.store.desk.archive('quay');
  const story = archive.storyBySlug('two-ferries');
  assert.match(story?.prose ?? '', /^```js\nlet a = 1;\n```\n\n!\[Quay\]\(media\/archive\/quay-\w{8}\.png\)$/);
  assert.deepEqual(
    [story?.aliases, story?.authors, story?.tags],
    [['/harbour/news/2019/05/20/two-ferries.html', '/old'], [{ name: 'Ann Lee' }], ['harbour', 'news']],
  );
  const own = archive.storyBySlug('own');
  assert.deepEqual([own?.aliases, own?.published_at], [['/own-place.html'], Date.parse('2020-01-02T08:00:00Z')]);
  assert.equal(archive.storyBySlug('later')?.state, 'draft');
});

test('a folder of Eleventy, RSS and Atom', async (t) => {
  const { folder, app } = here(t);
  const site = folderOf(join(folder, 'site'), {
    'eleventy.config.js': 'export default () => ({});',
    'src/posts/2019-05-20-two-ferries.md': '---\ntitle: Two ferries\ntags: [Tides]\n---\nText {{ title | upcase }}.\n',
    'README.md': '# Read me\n',
  });
  const mapping = { sections: {}, authors: { 'ann@old.example': null }, section: 'Notes', author: 'Ann Lee' };
  const done = await importHere(app, site, { mapping });
  assert.deepEqual(
    [done.filed, done.refused, done.notes],
    [1, [], ['Two ferries: the value {{ title }} was left out']],
  );
  assert.deepEqual(app.store.desk.archive('quay').storyBySlug('two-ferries')?.aliases, ['/posts/two-ferries']);

  const rss = join(folder, 'rss.xml');
  writeFileSync(
    rss,
    Buffer.from(
      `<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Old</title><link>https://rss.example/</link><item><title>Caf\u00e9</title><link>https://rss.example/cafe/</link><pubDate>Mon, 20 May 2019 10:00:00 GMT</pubDate><author>bo@old.example (Bo Ray)</author><category>Notes</category><description>Short</description><content:encoded>&lt;p&gt;Long &lt;i&gt;text&lt;/i&gt;&lt;/p&gt;</content:encoded></item></channel></rss>`,
      'latin1',
    ),
  );
  const atom = join(folder, 'atom.xml');
  writeFileSync(
    atom,
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>Old</title><link rel="self" href="https://atom.example/feed"/><link href="https://atom.example/"/><entry><title type="html">Hi &amp;lt;b&amp;gt;</title><link href="https://atom.example/hi"/><published>2019-05-20T10:00:00Z</published><author><name>Cy</name></author><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>An <em>xhtml</em> text</p></div></content></entry></feed>`,
  );
  assert.deepEqual((await importHere(app, rss, { mapping })).refused, []);
  assert.deepEqual((await importHere(app, atom, { mapping })).refused, []);
  const archive = app.store.desk.archive('quay');
  const cafe = archive.storyBySlug('cafe');
  assert.deepEqual(
    [cafe?.headline, cafe?.prose, cafe?.authors, cafe?.dek],
    ['Café', 'Long _text_', [{ name: 'Bo Ray' }], 'Short'],
  );
  const hi = archive.storyBySlug('hi');
  assert.deepEqual(
    [hi?.headline, hi?.prose, hi?.authors, hi?.aliases],
    ['Hi <b>', 'An _xhtml_ text', [{ name: 'Cy' }], ['/hi']],
  );
});

test('JSON Lines take the same members', async (t) => {
  const { folder, app } = here(t);
  const file = join(folder, 'archive.jsonl');
  const line = {
    slug: 'old',
    headline: 'Old',
    section: 'Notes',
    published_at: '1969-07-20T00:00:00Z',
    prose: 'Text.',
    provenance: 'archive',
    aliases: ['/1969/old/'],
  };
  const lines = [
    line,
    { ...line, slug: 'draft', provenance: undefined, draft: true, published_at: undefined, aliases: [] },
    { ...line, slug: 'ahead', published_at: '2030-01-01T00:00:00Z' },
    { ...line, slug: 'twice' },
  ];
  writeFileSync(file, lines.map((one) => JSON.stringify(one)).join('\n'));
  const { filed, refused } = await importArchive(intakeOf(app), file, { paper: 'quay', create: true, air: true });
  assert.equal(filed, 2);
  assert.deepEqual(
    refused.map(({ slug, problems }) => `${slug} ${problems.map(({ field, rule }) => `${field} ${rule}`)}`),
    ['ahead published_at archive_time', 'twice aliases[0] alias_taken'],
  );
  const archive = app.store.desk.archive('quay');
  assert.deepEqual([archive.storyBySlug('old')?.state, archive.storyBySlug('draft')?.state], ['on_air', 'draft']);
  assert.deepEqual(
    archive.latest({ limit: 5 }).map(({ slug }) => slug),
    ['old'],
  );
});

test('sounds come in as media of the paper, and others stay links', async (t) => {
  const { folder, app } = here(t);
  const site = folderOf(join(folder, 'site'), {
    'hugo.toml': 'baseURL = "https://hugo.example/"\ntitle = "Old Hugo"\n',
    'content/posts/heard.md':
      '---\ntitle: Heard\ndate: 2019-05-20\ncategories: [Notes]\n---\n<audio controls><source src="/sound/low water.mp3"></audio>\n\n<audio src="https://pod.example/b.m4a?x=1"></audio>\n\n<audio src="/sound/gone.mp3"></audio>\n\n<video><source src="/v.mp4"></video>\n\n<audio></audio>\n',
    'static/sound/low water.mp3': mp3(1),
  });
  const sound = m4a({ seconds: 1 });
  const asked: string[] = [];
  const fetch: Fetch = async (address, { headers, max }) => {
    asked.push(`${address} ${headers.Accept} ${max}`);
    return { status: 200, error: null, contentType: 'audio/x-m4a', bytes: sound, cut: null, location: null };
  };
  const done = await importHere(app, site, { fetch });
  assert.deepEqual([done.filed, done.refused], [1, []]);
  assert.deepEqual(done.notes, [
    'Heard: a frame or player (video) became a link to "https://hugo.example/v.mp4"',
    'Heard: a frame or player (audio) was left out',
    'Heard: the sound "/sound/gone.mp3" was left out (the archive has no such file)',
  ]);
  assert.deepEqual(asked, ['https://pod.example/b.m4a?x=1 audio/* 104857600']);
  const archive = app.store.desk.archive('quay');
  const { prose = '', slug = '' } = archive.storyBySlug('heard') ?? {};
  const [low = '', b = ''] = [...prose.matchAll(/\((media\/[^)]+)\)/g)].map(([, path]) => path);
  assert.equal(
    prose,
    `[low water.mp3](${low})\n\n[b.m4a](${b})\n\n[https://hugo.example/sound/gone.mp3](https://hugo.example/sound/gone.mp3)\n\n[https://hugo.example/v.mp4](https://hugo.example/v.mp4)`,
  );
  assert.deepEqual(
    [low, b].map((path) => archive.media(path)?.media_type),
    ['audio/mpeg', 'audio/mp4'],
  );
  await pressPapers(app, { cards: false });
  const tree = join(app.settings.distDir, 'quay');
  const page = readFileSync(join(tree, 'stories', slug, 'index.html'), 'utf8');
  assert.ok(page.includes(`href="/quay/${low}"`) && existsSync(join(tree, low)), page.slice(0, 500));
  assert.deepEqual((await importHere(app, site, { fetch })).unchanged, 1);
});

test('a feed with sounds brings them in', async (t) => {
  const { folder, app } = here(t);
  const file = join(folder, 'rss.xml');
  writeFileSync(
    file,
    '<rss version="2.0"><channel><title>Pod</title><link>https://pod.example/</link><item><title>One</title><link>https://pod.example/1</link><pubDate>Mon, 20 May 2019 10:00:00 GMT</pubDate><category>Notes</category><enclosure url="https://pod.example/1.mp3?a=1&amp;b=2" type="audio/mpeg" length="1"/><description>Text</description></item></channel></rss>',
  );
  const fetch: Fetch = async (address) =>
    address.endsWith('.mp3?a=1&b=2')
      ? { status: 302, error: 'status 302', contentType: null, bytes: null, cut: null, location: '/real.mp3' }
      : { status: 200, error: null, contentType: 'audio/mpeg', bytes: mp3(1), cut: null, location: null };
  const done = await importHere(app, file, { fetch });
  assert.deepEqual([done.filed, done.refused, done.notes], [1, [], []]);
  const prose = app.store.desk.archive('quay').storyBySlug('1')?.prose ?? '';
  assert.match(prose, /^\[1\.mp3\]\(media\/archive\/1-[0-9a-f]{8}\.mp3\)\n\nText$/);
});
