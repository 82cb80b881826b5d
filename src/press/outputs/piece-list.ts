import type { Row } from '../../desk/archive.ts';
import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Edition } from '../edition.ts';
import { feedItems } from '../feed-items.ts';
import { rss } from '../feeds/rss.ts';
import { motifOf } from '../motif.ts';
import type { Render, RenderedFile, RenderTools } from '../output.ts';
import type { SectionView } from '../views.ts';
import { channelOf } from './channel-of.ts';
import { frameOf } from './frame.ts';
import { rowView } from './row-view.ts';

/** A section or a tag: its pieces have a front of the newest ones, a feed, and numbered pages from the oldest one on. */
export interface PieceList {
  name: string;
  /** Path under the root, with its trailing slash: `sections/time/`. */
  folder: string;
  /** The page that lists all such lists, or null. */
  tags_url: string | null;
}

/** Prints the newest pieces of a list and their feed. `last` is the number of its last numbered page. */
export async function printNewest(
  edition: Edition,
  list: PieceList,
  rows: Row[],
  last: number,
  { render }: RenderTools,
): Promise<RenderedFile[]> {
  const { name, folder } = list;
  const view = viewOf(edition, list, null, rows);
  // Older pieces begin on the last numbered page that is not entirely shown here.
  view.older_url = last > 1 ? `${edition.site.base}/${folder}${last - 1}/` : null;
  const path = `${folder}rss.xml`;
  return [
    { path: `${folder}index.html`, body: await render('/paper/section', view) },
    { path, body: rss(channelOf(edition), feedItems(edition, rows), { path, list: { name, path: folder } }) },
  ];
}

/** Prints one numbered page of a list. `hasNewer` says whether there is a page of the next number. */
export async function printNumbered(
  edition: Edition,
  list: PieceList,
  rows: Row[],
  { page, hasNewer }: { page: number; hasNewer: boolean },
  render: Render,
): Promise<RenderedFile[]> {
  const front = `${edition.site.base}/${list.folder}`;
  const view = viewOf(edition, list, page, rows);
  view.newer_url = hasNewer ? `${front}${page + 1}/` : front;
  view.older_url = page > 1 ? `${front}${page - 1}/` : null;
  return [{ path: `${list.folder}${page}/index.html`, body: await render('/paper/section', view) }];
}

function viewOf(
  edition: Edition,
  { name, folder, tags_url }: PieceList,
  page: number | null,
  rows: Row[],
): SectionView {
  const { nameplate, language } = edition.paper();
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
    feed_url: `${edition.site.base}/${folder}rss.xml`,
    tags_url,
  };
}
