import { motifOf } from '../../../media/motif.ts';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import type { ListKind, Row, TagCount } from '../../archive.ts';
import { dependencies } from '../../dependencies.ts';
import { tagSlug } from '../../door/tag.ts';
import { sectionSlug } from '../../papers/paper.ts';
import type { Edition, PieceRows } from '../edition.ts';
import { channelOf } from '../feeds/channel.ts';
import { rss } from '../feeds/rss.ts';
import { keysAfter, type Output } from '../output.ts';
import type { SectionView, TagsView } from '../views.ts';
import { frameOf, miniatureView, rowView } from './frame.ts';
import { feedItems } from './story.ts';

/** Maximum number of tags on the page of all tags and in the sitemap, those with the most pieces. */
export const TAGS_LISTED = 500;
/** How many of them are shown with a picture. */
const TAGS_SHOWN = 12;

/** Sections, or tags. Each has a front of its newest pieces, a feed, and numbered pages, the oldest pieces first. */
interface Lists {
  kind: ListKind;
  slugs(edition: Edition): Iterable<string>;
  /** The pieces with a slug; null if the paper does not have it. */
  rows(edition: Edition, slug: string): PieceRows | null;
  /** The name of the list; null if none of the rows has it. */
  nameOf(edition: Edition, slug: string, rows: Row[]): string | null;
}

const SECTIONS: Lists = {
  kind: 'section',
  slugs: (edition) => edition.paper().sections.map(sectionSlug),
  rows(edition, slug) {
    const name = sectionName(edition, slug);
    return name === null ? null : edition.list('section', name);
  },
  nameOf: sectionName,
};

const TAGS: Lists = {
  kind: 'tag',
  slugs: (edition) => edition.archive.tags({ limit: Number.MAX_SAFE_INTEGER }).map(({ slug }) => slug),
  rows: (edition, slug) => edition.list('tag', slug),
  // As spelled by the newest piece.
  nameOf: (_edition, slug, rows) => rows.flatMap((row) => row.tags).find((name) => tagSlug(name) === slug) ?? null,
};

function sectionName(edition: Edition, slug: string): string | null {
  return edition.paper().sections.find((name) => sectionSlug(name) === slug) ?? null;
}

/** The newest pieces of a list, and their feed. */
function newestOf({ kind, slugs, rows, nameOf }: Lists): Output {
  return {
    kind,
    stage: 'index',
    paths: new RegExp(`^${kind}s/([^/]+)/(?:index\\.html|rss\\.xml)$`),
    keysForDependency: kind === 'tag' ? keysAfter(dependencies.newestOf('tag', '')) : () => [],
    allKeys: slugs,
    async print(edition, slug, { render }) {
      const list = rows(edition, slug);
      const newest = list?.newest() ?? [];
      const name = nameOf(edition, slug, newest);
      if (list === null || name === null) return null;
      const folder = `${kind}s/${slug}/`;
      const view = viewOf(edition, { kind, name, folder, page: null, rows: newest });
      // Older pieces begin on the last numbered page that is not entirely shown here.
      const last = list.lastPage();
      view.older_url = last > 1 ? `${edition.site.base}/${folder}${last - 1}/` : null;
      const path = `${folder}rss.xml`;
      const feed = { path, list: { name, path: folder } };
      return [
        { path: `${folder}index.html`, body: await render('/paper/section', view) },
        { path, body: rss(channelOf(edition), feedItems(edition, newest), feed) },
      ];
    },
  };
}

/** The numbered pages of a list, starting with the oldest piece, so that a full page never changes. */
function numberedOf({ kind, slugs, rows, nameOf }: Lists): Output {
  return {
    kind: `${kind}-page`,
    stage: 'list',
    paths: new RegExp(`^${kind}s/([^/]+)/(\\d+)/index\\.html$`),
    keysForDependency: (dependency) => keysAfter(`${kind}:`)(dependency).map((rest) => rest.replace(':', '/')),
    *allKeys(edition) {
      for (const slug of slugs(edition)) {
        const last = rows(edition, slug)?.lastPage() ?? 0;
        for (let page = 1; page <= last; page++) yield `${slug}/${page}`;
      }
    },
    async print(edition, key, { render }) {
      const [slug = '', number = ''] = key.split('/');
      const page = Number(number);
      const list = rows(edition, slug);
      if (!list?.hasPage(page)) return null;
      const onPage = list.page(page);
      const name = nameOf(edition, slug, onPage);
      if (name === null) return null;
      const folder = `${kind}s/${slug}/`;
      const front = `${edition.site.base}/${folder}`;
      const view = viewOf(edition, { kind, name, folder, page, rows: onPage });
      view.newer_url = list.hasPage(page + 1) ? `${front}${page + 1}/` : front;
      view.older_url = page > 1 ? `${front}${page - 1}/` : null;
      return [{ path: `${folder}${page}/index.html`, body: await render('/paper/section', view) }];
    },
  };
}

interface Shown extends Pick<Lists, 'kind'> {
  name: string;
  folder: string;
  page: number | null;
  rows: Row[];
}

function viewOf(edition: Edition, { kind, name, folder, page, rows }: Shown): SectionView {
  const { nameplate, language } = edition.paper();
  const { base } = edition.site;
  const t = phrasesOf(language).section;
  return {
    frame: frameOf(edition, {
      path: page === null ? folder : `${folder}${page}/`,
      title: page === null ? name : fill(t.title, { section: name, page }),
      description: fill(t.description, { section: name, paper: nameplate }),
    }),
    name,
    motif: motifOf(name),
    page,
    rows: rows.map((row) => rowView(edition, row)),
    newer_url: null,
    older_url: null,
    feed_url: `${base}/${folder}rss.xml`,
    tags_url: kind === 'tag' ? `${base}/tags/` : null,
  };
}

export const section = newestOf(SECTIONS);
export const sectionPage = numberedOf(SECTIONS);
export const tag = newestOf(TAGS);
export const tagPage = numberedOf(TAGS);

/** The page of all tags. A paper without tags has no such page. */
export const allTags: Output = {
  kind: 'tags',
  stage: 'index',
  keysForDependency: (dependency) => (dependency === dependencies.pieceTags ? [''] : []),
  allKeys: () => [''],
  async print(edition, _key, { render }) {
    const { nameplate, language } = edition.paper();
    const found = edition.tags(TAGS_LISTED);
    if (found.length === 0) return null;
    const { compare } = new Intl.Collator(language);
    const { story, tag } = phrasesOf(language);
    const description = fill(tag.description, { paper: nameplate });
    const shown = new Set<string>();
    const tagView = ({ slug, name, count }: TagCount) => ({ name, count, url: `${edition.site.base}/tags/${slug}/` });
    const view: TagsView = {
      frame: frameOf(edition, { path: 'tags/', title: story.tags, description }),
      tags: found.toSorted((a, b) => compare(a.name, b.name) || (a.slug < b.slug ? -1 : 1)).map(tagView),
      top: found.slice(0, TAGS_SHOWN).flatMap((one) => {
        const newest = edition.tagTop(one.slug);
        // Tags often share their newest piece.
        const lead = miniatureView(edition, [...newest.filter(({ id }) => !shown.has(id)), ...newest]);
        if (lead === null) return [];
        shown.add(lead.id);
        return [{ ...tagView(one), lead }];
      }),
    };
    return [{ path: 'tags/index.html', body: await render('/paper/tags', view) }];
  },
};
