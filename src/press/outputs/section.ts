import { sectionSlug } from '../../desk/paper.ts';
import { PAGE_SIZE } from '../../desk/tags.ts';
import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Edition } from '../edition.ts';
import { feedItems } from '../feed-items.ts';
import { rss } from '../feeds/rss.ts';
import { motifOf } from '../motif.ts';
import type { Output } from '../output.ts';
import { afterPrefix } from '../output.ts';
import type { SectionView } from '../views.ts';
import { channelOf } from './channel-of.ts';
import { frameOf } from './frame.ts';
import { rowView } from './row-view.ts';

function sectionName(edition: Edition, slug: string): string | null {
  return edition.paper().sections.find((name) => sectionSlug(name) === slug) ?? null;
}

/** A section's front: its newest pieces and their feed. */
export const section: Output = {
  kind: 'section',
  stage: 'index',
  keysForTag: () => [],
  *allKeys(edition) {
    for (const name of edition.paper().sections) yield sectionSlug(name);
  },
  async print(edition, slug, { render }) {
    const name = sectionName(edition, slug);
    if (name === null) return null;
    const rows = edition.newest(PAGE_SIZE, { section: name });
    // Older pieces begin on the last numbered page that is not entirely shown here.
    const last = edition.lastSectionPage(name);
    const view = viewOf(edition, name, null, rows);
    view.older_url = last > 1 ? `${edition.site.base}/sections/${slug}/${last - 1}/` : null;
    const channel = channelOf(edition);
    const path = `sections/${slug}/rss.xml`;
    return [
      { path: `sections/${slug}/index.html`, body: await render('/paper/section', view) },
      { path, body: rss(channel, feedItems(edition, rows), { path, list: { name, path: `sections/${slug}/` } }) },
    ];
  },
};

/** The numbered pages of a section, counted from the oldest piece, so that a full page never changes. */
export const sectionPage: Output = {
  kind: 'section-page',
  stage: 'list',
  *keysForTag(tag) {
    const rest = afterPrefix('section:', tag);
    if (rest !== null) yield rest.replace(':', '/');
  },
  *allKeys(edition) {
    for (const name of edition.paper().sections) {
      const last = edition.lastSectionPage(name);
      for (let page = 1; page <= last; page++) yield `${sectionSlug(name)}/${page}`;
    }
  },
  async print(edition, key, { render }) {
    const [slug = '', number = ''] = key.split('/');
    const name = sectionName(edition, slug);
    const page = Number(number);
    if (name === null || !edition.hasSectionPage(name, page)) return null;
    const { base } = edition.site;
    const view = viewOf(edition, name, page, edition.sectionPage(name, page));
    view.newer_url = edition.hasSectionPage(name, page + 1)
      ? `${base}/sections/${slug}/${page + 1}/`
      : `${base}/sections/${slug}/`;
    view.older_url = page > 1 ? `${base}/sections/${slug}/${page - 1}/` : null;
    return [{ path: `sections/${slug}/${page}/index.html`, body: await render('/paper/section', view) }];
  },
};

function viewOf(
  edition: Edition,
  name: string,
  page: number | null,
  rows: Parameters<typeof rowView>[1][],
): SectionView {
  const slug = sectionSlug(name);
  const { nameplate, language } = edition.paper();
  const t = phrasesOf(language).section;
  return {
    frame: frameOf(edition, {
      path: page === null ? `sections/${slug}/` : `sections/${slug}/${page}/`,
      title: page === null ? name : fill(t.title, { section: name, page }),
      description: fill(t.description, { section: name, paper: nameplate }),
    }),
    name,
    motif: motifOf(name),
    page,
    rows: rows.map((row) => rowView(edition, row)),
    newer_url: null,
    older_url: null,
    feed_url: `${edition.site.base}/sections/${slug}/rss.xml`,
    tags_url: null,
  };
}
