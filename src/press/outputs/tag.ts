import type { Row } from '../../desk/archive.ts';
import { PAGE_SIZE, tags } from '../../desk/tags.ts';
import { tagSlug } from '../../ledger/tag.ts';
import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Edition } from '../edition.ts';
import { feedItems } from '../feed-items.ts';
import { rss } from '../feeds/rss.ts';
import { motifOf } from '../motif.ts';
import type { Output } from '../output.ts';
import { afterPrefix } from '../output.ts';
import type { SectionView, TagsView } from '../views.ts';
import { channelOf } from './channel-of.ts';
import { frameOf } from './frame.ts';
import { rowView } from './row-view.ts';

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
  async print(edition, slug, { render }) {
    const rows = edition.newestTagged(PAGE_SIZE, slug);
    const name = nameIn(rows, slug);
    if (name === null) return null;
    const last = edition.lastTagPage(slug);
    const view = viewOf(edition, { slug, name }, null, rows);
    view.older_url = last > 1 ? `${edition.site.base}/tags/${slug}/${last - 1}/` : null;
    const channel = channelOf(edition);
    const path = `tags/${slug}/rss.xml`;
    return [
      { path: `tags/${slug}/index.html`, body: await render('/paper/section', view) },
      { path, body: rss(channel, feedItems(edition, rows), { path, list: { name, path: `tags/${slug}/` } }) },
    ];
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
    const { base } = edition.site;
    const view = viewOf(edition, { slug, name }, page, rows);
    view.newer_url = edition.hasTagPage(slug, page + 1) ? `${base}/tags/${slug}/${page + 1}/` : `${base}/tags/${slug}/`;
    view.older_url = page > 1 ? `${base}/tags/${slug}/${page - 1}/` : null;
    return [{ path: `tags/${slug}/${page}/index.html`, body: await render('/paper/section', view) }];
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

function viewOf(
  edition: Edition,
  { slug, name }: { slug: string; name: string },
  page: number | null,
  rows: Row[],
): SectionView {
  const { base } = edition.site;
  const { nameplate, language } = edition.paper();
  const t = phrasesOf(language).section;
  return {
    frame: frameOf(edition, {
      path: page === null ? `tags/${slug}/` : `tags/${slug}/${page}/`,
      title: page === null ? name : fill(t.title, { section: name, page }),
      description: fill(t.description, { section: name, paper: nameplate }),
    }),
    name,
    motif: motifOf(name),
    page,
    rows: rows.map((row) => rowView(edition, row)),
    newer_url: null,
    older_url: null,
    feed_url: `${base}/tags/${slug}/rss.xml`,
    tags_url: `${base}/tags/`,
  };
}
