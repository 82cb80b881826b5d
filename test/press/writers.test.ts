import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { airStory } from '../../src/desk/airing.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { START } from '../support/pressed-paper.ts';

const AUTHORS = [{ name: 'Ann Lee', url: 'https://ann.example/' }, { name: 'Bo Ray' }];
const WRITER = 'Ann Lee and Bo Ray';

test('work that people wrote is theirs wherever it is shown, and the persona that brought it in stays declared', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  createPaper(app);
  const publish = (slug: string, more: Partial<Filing>) => {
    fileStory(deskOf(app), PAPER, filing(slug, more), { by: 'cli' });
    airStory(deskOf(app), PAPER, slug, { by: 'cli', at: START });
  };
  publish('listed', { authors: AUTHORS });
  publish('filed', { written_by: WRITER });
  // As imports of earlier versions filed it: the writer is in the credit alone.
  publish('credited', { credit: `Written by ${WRITER}. First published at https://x.example/. Licence: CC BY 4.0.` });
  publish('persona', { credit: 'After a text by the harbour office.' });
  await pressPapers(app);
  const read = (path: string) => readFileSync(join(folder, 'papers', PAPER, path), 'utf8');

  for (const slug of ['listed', 'filed', 'credited']) {
    // One line that an earlier version filed stays one name: nobody can tell where to divide it.
    const authors = slug === 'listed' ? AUTHORS : [{ name: WRITER }];
    const page = read(`stories/${slug}/index.html`);
    const who = /<p class="who">.*?<\/p>/s.exec(page)?.[0] ?? '';
    assert.match(words(who), /^By Ann Lee and Bo Ray, brought in by ines calloway AI persona Editor$/);
    for (const { name, url } of authors as { name: string; url?: string }[]) {
      assert.ok(page.includes(`<meta property="article:author" content="${url ?? name}">`));
      assert.ok(page.includes(`<meta name="author" content="${name}">`));
      assert.ok(url === undefined || who.includes(`<a href="${url}" rel="author">${name}</a>`));
    }
    const data = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page)?.[1] ?? '');
    assert.deepEqual(
      data.author,
      authors.map((author) => ({ '@type': 'Person', ...author })),
    );
    assert.equal(data.contributor['@type'], 'Organization');
    assert.equal(data.contributor.name, 'ines calloway (AI persona)');
    assert.equal(data.digitalSourceType, undefined);
    assert.match(
      words(read(`embed/${slug}/index.html`)),
      /By Ann Lee and Bo Ray, brought in by ines calloway AI persona/,
    );
    const [, front = ''] = /^---\n(.*?)^---$/ms.exec(read(`stories/${slug}.md`)) ?? [];
    const { declared_ai, byline, ...twin } = parse(front);
    assert.deepEqual([declared_ai, twin.authors ?? twin.written_by], [false, slug === 'listed' ? AUTHORS : WRITER]);
    assert.match(byline, /^ines calloway\W+AI persona\W?$/);
    const item = JSON.parse(read('feed.json')).items.find(({ url }: { url: string }) => url.includes(`/${slug}/`));
    assert.deepEqual(item.authors, authors);
    assert.deepEqual([item._broadsheet.declared_ai, item._broadsheet.brought_in_by.declared_ai], [false, true]);
    assert.equal(item._broadsheet.brought_in_by.name, 'ines calloway, AI persona');
    assert.match(words(item.content_html), /By Ann Lee and Bo Ray, brought in by ines calloway, AI persona, Editor\./);
  }
  const rss = read('rss.xml');
  assert.equal(rss.match(/<dc:creator>Ann Lee and Bo Ray<\/dc:creator>/g)?.length, 2);
  assert.equal(rss.match(/<dc:creator>Ann Lee<\/dc:creator>\s*<dc:creator>Bo Ray<\/dc:creator>/g)?.length, 1);
  assert.equal(rss.match(/<dc:contributor>ines calloway, AI persona<\/dc:contributor>/g)?.length, 3);
  assert.equal(
    words(read('index.html')).match(/By Ann Lee and Bo Ray, brought in by ines calloway AI persona/g)?.length,
    3,
  );
  const rows = JSON.parse(read('front.json')).rails[0].stories;
  assert.deepEqual(
    new Map(rows.map(({ slug, written_by }: { slug: string; written_by: string | null }) => [slug, written_by])),
    new Map([
      ['persona', null],
      ['listed', WRITER],
      ['filed', WRITER],
      ['credited', WRITER],
    ]),
  );
  const persona = read('stories/persona/index.html');
  assert.match(words(/<p class="who">.*?<\/p>/s.exec(persona)?.[0] ?? ''), /^By ines calloway AI persona Editor$/);

  const basis = (slug: string) => JSON.parse(read(`stories/${slug}/proof.json`));
  assert.deepEqual(basis('listed').basis.authors, AUTHORS);
  assert.match(basis('listed').hash_basis, /authors/);
  assert.ok(!('authors' in basis('filed').basis) && !('written_by' in basis('listed').basis));
  assert.equal(basis('filed').basis.written_by, WRITER);
  assert.match(basis('filed').hash_basis, /written_by/);
  assert.ok(!('written_by' in basis('credited').basis), 'what was filed stays as it was signed');
  assert.deepEqual((await auditApp(app)).faults, []);
});

/** The words of a piece of HTML. */
function words(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([,.])/g, '$1')
    .trim();
}
