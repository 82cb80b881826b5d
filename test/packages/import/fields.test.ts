import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Mapping } from '../../../packages/import/src/index.ts';
import { pressPapers } from '../../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { appContextIn, tempFolder } from '../../support/app-context.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { folderOf, importHere, SITE, type WxrPost, wxr, zipOf } from './archives.ts';

// Every field of every system holds every odd value once. Whatever the door makes of such a piece, the one beside it
// comes in, or the archive is refused whole in one line; a second import changes nothing, and the paper is sound.

const VALUES: Record<string, string> = {
  ...{ nul: 'a\0b', control: '\u0001\u001b[31mred', lone: 'a\ud800b', fffe: 'a\ufffeb', bom: '\ufeffx', empty: '' },
  ...{ override: 'a\u202eb', invisible: '\u200b', tag: '\u{e0041}', nfd: 'Cafe\u0301', space: '   ' },
  ...{ long: 'x'.repeat(1_000_000), words: 'word '.repeat(200_000), slashes: '/'.repeat(5_000) },
  ...{ marks: `a${'\u0301'.repeat(300)}`, emoji: '👩‍🚀'.repeat(50), lines: 'a\nb\r\nc\u2028d' },
  ...{ proto: '__proto__', constructor: 'constructor', path: '../../etc/passwd', percent: '%00%ff%' },
  ...{ html: '<b>&lt;script&gt;</b>', quote: `"'><script>`, markdown: '[x](javascript:a) ![](x) # h\n\n1. `a`' },
  ...{ zero: '0000-00-00 00:00:00', late: '9999-12-31 00:00:00', noDay: '2019-02-30 10:00:00', year: '-1' },
  ...{ ahead: '2030-01-01 00:00:00', huge: '99999999999999999999', nan: 'NaN' },
  ...{ address: 'http://[::1', script: 'javascript:alert(1)', file: 'file:///etc/passwd', data: 'data:text/html,x' },
};

type Archive = (folder: string, value: string) => Promise<string> | string;

const posts: (keyof WxrPost)[] = ['title', 'name', 'html', 'status', 'type', 'date', 'creator', 'link', 'excerpt'];
const wordpress = (of: (value: string) => WxrPost): Archive => {
  const sound = { name: 'sound', title: 'Sound', id: 99, link: `${SITE}/sound/` };
  return (folder, value) => written(folder, 'old.xml', wxr(of(value), sound));
};

function written(folder: string, name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

function ghost(of: (value: string) => object, tables: (value: string) => object = () => ({})): Archive {
  const post = { type: 'post', status: 'published', visibility: 'public', published_at: '2019-01-01 00:00:00' };
  return (folder, value) => {
    const both = [
      { ...post, id: 'p1', title: 'T', slug: 't', html: '<p>Text</p>', ...of(value) },
      { ...post, id: 'p2', title: 'Sound', slug: 'sound', html: '<p>Text</p>' },
    ];
    const links = {
      posts_tags: [1, 2].map((n) => ({ post_id: `p${n}`, tag_id: `t${n}` })),
      posts_authors: [1, 2].map((n) => ({ post_id: `p${n}`, author_id: `u${n}` })),
    };
    const names = {
      tags: [1, 2].map((n) => ({ id: `t${n}`, name: 'News' })),
      users: [1, 2].map((n) => ({ id: `u${n}`, name: 'Ann' })),
    };
    const data = { posts: both, ...links, ...names, settings: [{ key: 'title', value: 'Old' }], ...tables(value) };
    return written(folder, 'ghost.json', JSON.stringify({ db: [{ data }] }));
  };
}

function substack(field: string): Archive {
  const row = { post_id: '1.a', post_date: '2019-07-26T20:48:19.814Z', is_published: 'true', type: 'newsletter' };
  const more = { audience: 'everyone', title: 'T', subtitle: 'S', podcast_url: '', html: '<p>Text</p>' };
  return (folder, value) => {
    const { html, ...cells } = { ...row, ...more, [field]: value };
    const line = (all: Record<string, string>) =>
      Object.values(all)
        .map((cell) => `"${cell.replaceAll('"', '""')}"`)
        .join(',');
    const csv = [
      Object.keys(cells).join(','),
      line(cells),
      line({ ...row, ...more, post_id: '2.sound', html: '' }),
      '',
    ];
    const files = { 'posts/1.a.html': html, 'posts/2.sound.html': '<p>Text</p>' };
    return zipOf(join(folder, 'letters.zip'), { 'posts.csv': csv.join('\n'), ...files });
  };
}

function hugo(of: (value: string) => object, body: (value: string) => string = () => 'Text'): Archive {
  return (folder, value) =>
    folderOf(join(folder, 'site'), {
      'hugo.toml': 'baseURL = "https://hugo.example/"\ntitle = "Old"\n',
      'content/posts/a.md': `---\n${JSON.stringify({ title: 'T', date: '2019-05-20', ...of(value) })}\n---\n${body(value)}\n`,
      'content/posts/sound.md': '---\ntitle: Sound\ndate: 2019-01-01\n---\nText\n',
    });
}

function feed(field: string): Archive {
  return (folder, value) => {
    const cells = { title: 'T', link: `${SITE}/t`, pubDate: 'Mon, 20 May 2019 10:00:00 GMT', description: 'Text' };
    const of = (all: Record<string, string>) =>
      `<item>${Object.entries(all)
        .map(([name, text]) => `<${name}><![CDATA[${text}]]></${name}>`)
        .join('')}</item>`;
    const sound = { ...cells, title: 'Sound', link: `${SITE}/sound`, category: 'News' };
    const items = of({ ...cells, [field]: value }) + of(sound);
    return written(folder, 'rss.xml', `<rss version="2.0"><channel><title>Old</title>${items}</channel></rss>`);
  };
}

const FIELDS: Record<string, Archive> = {
  ...Object.fromEntries(posts.map((name) => [`wordpress ${name}`, wordpress((value) => ({ [name]: value }))])),
  'wordpress category': wordpress((value) => ({ categories: [value] })),
  'wordpress tag': wordpress((value) => ({ tags: [value] })),
  ...Object.fromEntries(
    'title slug html status visibility published_at custom_excerpt feature_image locale id type'
      .split(' ')
      .map((name) => [`ghost ${name}`, ghost((value) => ({ [name]: value }))]),
  ),
  'ghost lexical': ghost((lexical) => ({ lexical, html: '' })),
  'ghost mobiledoc': ghost((mobiledoc) => ({ mobiledoc, html: '' })),
  'ghost tag': ghost(
    () => ({}),
    (name) => ({
      tags: [
        { id: 't1', name },
        { id: 't2', name: 'News' },
      ],
    }),
  ),
  'ghost user': ghost(
    () => ({}),
    (name) => ({
      users: [
        { id: 'u1', name },
        { id: 'u2', name: 'Bo' },
      ],
    }),
  ),
  'ghost site': ghost(
    () => ({}),
    (value) => ({ users: [{ id: 'u2', name: 'Bo' }], settings: [{ key: 'title', value }] }),
  ),
  ...Object.fromEntries(
    'post_id post_date is_published type audience title subtitle podcast_url html'
      .split(' ')
      .map((name) => [`substack ${name}`, substack(name)]),
  ),
  ...Object.fromEntries(
    'title date draft author lang description image slug url'
      .split(' ')
      .map((name) => [`hugo ${name}`, hugo((value) => ({ [name]: value }))]),
  ),
  ...Object.fromEntries(
    'categories tags aliases'.split(' ').map((name) => [`hugo ${name}`, hugo((value) => ({ [name]: [value] }))]),
  ),
  'hugo text': hugo(
    () => ({}),
    (value) => value,
  ),
  ...Object.fromEntries(
    'title link pubDate description category author guid'.split(' ').map((name) => [`feed ${name}`, feed(name)]),
  ),
};

/** Fields whose values become sections, which the paper may be unable to have. */
const SECTIONS = new Set(['wordpress category', 'ghost tag', 'hugo categories', 'feed category']);
test('odd values in every field of every system', { skip: ONLY_WIDE }, async (t) => {
  for (const [name, archive] of Object.entries(FIELDS)) {
    const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
    const entries = () => [...app.store.desk.entries()].length;
    const mapping: Mapping = { sections: {}, authors: {}, ...(SECTIONS.has(name) ? {} : { section: 'News' }) };
    for (const [kind, value] of Object.entries(VALUES)) {
      const of = `${name}, ${kind}`;
      const path = await archive(tempFolder(t), value);
      const before = entries();
      try {
        const { refused, notes } = await importHere(app, path, { mapping, site: SITE });
        assert.ok(app.store.desk.archive('quay').hasSlug('sound'), of);
        for (const line of [...refused, ...notes]) assert.ok(line.length < 1_500, `${of}: ${line.slice(0, 300)}`);
        const after = entries();
        const again = await importHere(app, path, { mapping, site: SITE });
        assert.deepEqual([again.filed, again.refused, entries()], [0, refused, after], of);
      } catch (error) {
        if (error instanceof assert.AssertionError || !(error instanceof Fault)) throw error;
        assert.ok(error.message.length < 600 && !error.message.includes('\n'), `${of}: ${error.message.slice(0, 300)}`);
        assert.ok(SECTIONS.has(name) || /is not XML/.test(error.message), `${of}: ${error.message}`);
        assert.equal(entries() > before + 1, false, `${of}: nothing is filed`);
      }
    }
    await pressPapers(app, { cards: false });
    const { faults } = await auditApp(app, { deep: true });
    assert.deepEqual(
      faults.filter((fault) => !/wait for the press/.test(fault)),
      [],
      name,
    );
  }
});

test('a ZIP archive whose files have other sizes than it says', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const csv = 'post_id,post_date,is_published,title\n1.a,2019-07-26T20:48:19.814Z,true,A\n';
  const file = await zipOf(join(folder, 'letters.zip'), { 'posts.csv': csv, 'posts/1.a.html': '<p>Text</p>' });
  const whole = readFileSync(file);
  const first = whole.indexOf('PK\x01\x02');
  const second = whole.indexOf('PK\x01\x02', first + 1);
  const mapping = { sections: {}, authors: {}, section: 'News' };
  for (const [at, offset] of [
    [first, 20],
    [first, 24],
    [second, 20],
    [second, 24],
  ] as const) {
    const bytes = Buffer.from(whole);
    bytes.writeUInt32LE(2 * bytes.readUInt32LE(at + offset), at + offset);
    const lying = join(folder, `lying-${at}-${offset}.zip`);
    writeFileSync(lying, bytes);
    // More packed bytes than there are end with what is packed, so the text is whole.
    const outcome = await importHere(app, lying, { mapping, site: SITE }).catch((error: Error) => error.message);
    if (typeof outcome !== 'string' && outcome.filed + outcome.unchanged === 1) {
      assert.deepEqual([offset, app.store.desk.archive('quay').storyBySlug('a')?.prose], [20, 'Text']);
      continue;
    }
    const said = typeof outcome === 'string' ? outcome : outcome.refused.join('\n');
    assert.match(said, /is not a sound ZIP archive \(.*\); get the export again$/);
  }
});
