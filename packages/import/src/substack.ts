import { ArchiveError } from './archive-error.ts';
import { csvRows } from './csv.ts';
import { shown } from './shown.ts';
import { ITEM_MAX, type Source, type SourceItem } from './source.ts';
import type { ZipArchive } from './zip.ts';

const POSTS_MAX = 64_000_000;
/** The longest part of a path in messages, in UTF-16 units. */
const WHERE_MAX = 200;

/** An export of Substack: `posts.csv`, and the HTML of each post in `posts/`. It names no authors. */
export function substackSource(file: string, zip: ZipArchive): Source {
  const list = zip.paths.find((path) => /(?:^|\/)posts\.csv$/.test(path)) ?? '';
  const root = list.slice(0, -'posts.csv'.length);
  return {
    system: 'Substack',
    site: async () => ({ title: '', url: null }),
    file: async () => null,
    close: () => zip.close(),
    async *items() {
      const rows = csvRows(await zip.text(list, POSTS_MAX), `${list} in ${file}`);
      if (rows[0] !== undefined && rows[0].post_id === undefined) {
        throw new ArchiveError(`${list} in ${file} has no column post_id; get the export of Substack again`);
      }
      const paths = new Set(zip.paths);
      for (const [index, row] of rows.entries()) yield await itemOf(row, index, { file, root, zip, paths });
    },
  };
}

interface Files {
  file: string;
  root: string;
  zip: ZipArchive;
  paths: Set<string>;
}

async function itemOf(
  row: Record<string, string>,
  index: number,
  { file, root, zip, paths }: Files,
): Promise<SourceItem> {
  const { post_id: id = '', title = '', subtitle = '', type = '', post_date = '', audience = 'everyone' } = row;
  const path = `${root}posts/${id}.html`;
  const of = { where: `${file}/${path.slice(0, WHERE_MAX)}`, line: index + 2, title };
  if (type === 'thread') return { ...of, skipped: 'it is a thread of comments' };
  if (type === 'page') return { ...of, skipped: 'it is a page; write it as a file of pages/ if the paper needs it' };
  if (!paths.has(path))
    return { ...of, problem: { field: 'prose', message: `the archive has no ${shown(path)}; get the export again` } };
  let html: string;
  try {
    html = await zip.text(path, ITEM_MAX);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { ...of, problem: { field: 'prose', message: error.message } };
  }
  const isPublished = /^true$/i.test(row.is_published ?? '');
  const isPaid = audience !== 'everyone' && audience !== '';
  const slug = id.replace(/^\d+\./, '');
  const podcast = /^https?:\/\//.test(row.podcast_url ?? '')
    ? `<audio src="${row.podcast_url?.replaceAll('"', '%22')}"></audio>`
    : '';
  return {
    ...of,
    piece: {
      slug,
      headline: title,
      dek: subtitle,
      categories: [],
      tags: [],
      authors: [],
      published_at: post_date || null,
      draft: !isPublished ? 'it is a draft' : isPaid ? `it was for readers who pay (${audience})` : null,
      body: { html: podcast + html },
      image: null,
      origin: `/p/${slug}`,
      aliases: [],
      language: null,
    },
  };
}
