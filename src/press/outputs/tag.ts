import type { Row } from '../../desk/archive.ts';
import { PAGE_SIZE, tags } from '../../desk/tags.ts';
import { tagSlug } from '../../ledger/tag.ts';
import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Edition } from '../edition.ts';
import type { Output } from '../output.ts';
import { afterPrefix } from '../output.ts';
import type { TagsView } from '../views.ts';
import { frameOf } from './frame.ts';
import type { PieceList } from './piece-list.ts';
import { printNewest, printNumbered } from './piece-list.ts';

/** How many tags the page of all tags and the sitemap list: those of most pieces. */
export const TAGS_LISTED = 500;

/** A tag's front: its newest pieces and their feed. */
export const tag: Output = {
  kind: 'tag',
  stage: 'index',
  *keysForTag(stale) {
    const slug = afterPrefix(tags.newestTagged(''), stale);
    if (slug !== null) yield slug;
  },
  allKeys: (edition) => edition.everyTag(),
  async print(edition, slug, tools) {
    const rows = edition.newestTagged(PAGE_SIZE, slug);
    const name = nameIn(rows, slug);
    if (name === null) return null;
    return printNewest(edition, listOf(edition, slug, name), rows, edition.lastTagPage(slug), tools);
  },
};

/** The numbered pages of a tag with many pieces, counted from the oldest one, as those of a section. */
export const tagPage: Output = {
  kind: 'tag-page',
  stage: 'list',
  *keysForTag(stale) {
    const rest = afterPrefix('tag:', stale);
    if (rest !== null) yield rest.replace(':', '/');
  },
  *allKeys(edition) {
    for (const slug of edition.everyTag()) {
      const last = edition.lastTagPage(slug);
      for (let page = 1; page <= last; page++) yield `${slug}/${page}`;
    }
  },
  async print(edition, key, { render }) {
    const [slug = '', number = ''] = key.split('/');
    const page = Number(number);
    if (!edition.hasTagPage(slug, page)) return null;
    const rows = edition.tagPage(slug, page);
    const name = nameIn(rows, slug);
    if (name === null) return null;
    const at = { page, hasNewer: edition.hasTagPage(slug, page + 1) };
    return printNumbered(edition, listOf(edition, slug, name), rows, at, render);
  },
};

/** The page of all tags. A paper without tags has none. */
export const allTags: Output = {
  kind: 'tags',
  stage: 'index',
  *keysForTag(stale) {
    if (stale === tags.pieceTags) yield '';
  },
  allKeys: () => [''],
  async print(edition, _key, { render }) {
    const { nameplate, language } = edition.paper();
    const found = edition.tags(TAGS_LISTED);
    if (found.length === 0) return null;
    const { compare } = new Intl.Collator(language);
    const t = phrasesOf(language).tag;
    const view: TagsView = {
      frame: frameOf(edition, {
        path: 'tags/',
        title: t.title,
        description: fill(t.description, { paper: nameplate }),
      }),
      tags: found
        .sort((a, b) => compare(a.name, b.name) || (a.slug < b.slug ? -1 : 1))
        .map(({ slug, name, count }) => ({ name, count, url: `${edition.site.base}/tags/${slug}/` })),
    };
    return [{ path: 'tags/index.html', body: await render('/paper/tags', view) }];
  },
};

/** A tag as the newest of these pieces spells it; null when none has it. */
function nameIn(rows: readonly Row[], slug: string): string | null {
  for (const row of rows) {
    const name = row.tags.find((tag) => tagSlug(tag) === slug);
    if (name !== undefined) return name;
  }
  return null;
}

const listOf = (edition: Edition, slug: string, name: string): PieceList => ({
  name,
  folder: `tags/${slug}/`,
  tags_url: `${edition.site.base}/tags/`,
});
