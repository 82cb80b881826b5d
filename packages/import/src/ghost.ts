import type { Readable } from 'node:stream';
import { JSONParser } from '@streamparser/json';
import { ArchiveError, messageOf } from './archive-error.ts';
import { decoded } from './decoded.ts';
import { lexicalHtml, mobiledocHtml } from './ghost-documents.ts';
import { membersIn } from './members.ts';
import { shown } from './shown.ts';
import { ITEM_MAX, type MarkdownProblem, type Source, type SourceItem } from './source.ts';

/** The placeholder that Ghost writes for a site's own address. */
const SITE = /__GHOST_URL__/g;

const DRAFTS: Record<string, string> = { draft: 'it is a draft', scheduled: 'it was scheduled, and never published' };
const PUBLISHED = new Set(['published', 'sent']);

type Row = Record<string, unknown>;

/** The tables of an export that have names. They are small compared with the posts. */
interface Names {
  title: string;
  url: string | null;
  users: Map<string, string>;
  tags: Map<string, string>;
  /** The ids of a post's tags, with their order, by the post's id. */
  tagsOf: Map<string, { id: string; order: number }[]>;
  authorsOf: Map<string, { id: string; order: number }[]>;
  altOf: Map<string, { alt: string; caption: string }>;
}

/** Files that belong to an export: `content/images/…`. */
export interface GhostFiles {
  paths: Set<string>;
  open(path: string): Promise<Readable>;
  close(): void;
}

/** An export of Ghost, 1.0 and later: one JSON document with the tables of its database. `open` starts reading it. */
export function ghostSource(
  file: string,
  open: () => Promise<Readable>,
  problemOf: MarkdownProblem,
  files: GhostFiles | null = null,
): Source {
  let known: Names | null = null;
  const names = async (): Promise<Names> => {
    known ??= await readNames(ghostRows(file, open));
    return known;
  };
  return {
    system: 'Ghost',
    site: names,
    async file(path) {
      const at = URL.parse(path, 'file:///')?.pathname.slice(1) ?? '';
      const found = [at, at.replace(/^content\//, '')].find((one) => files?.paths.has(one));
      return files === null || found === undefined ? null : () => files.open(found);
    },
    close: () => files?.close(),
    async *items() {
      const all = await names();
      let number = 0;
      for await (const { table, row } of ghostRows(file, open)) {
        if (table === 'posts') yield itemOf(row, ++number, `${file}:posts[${number - 1}]`, all, problemOf);
      }
    },
  };
}

async function readNames(rows: AsyncIterable<{ table: string; row: Row }>): Promise<Names> {
  const names: Names = {
    ...{ title: '', url: null, users: new Map(), tags: new Map() },
    ...{ tagsOf: new Map(), authorsOf: new Map(), altOf: new Map() },
  };
  const add = (to: Names['tagsOf'], { post_id, sort_order }: Row, id: unknown) => {
    const post = String(post_id);
    const ids = to.get(post) ?? [];
    if (ids.length === 0) to.set(post, ids);
    ids.push({ id: String(id), order: Number(sort_order ?? 0) });
  };
  for await (const { table, row } of rows) {
    if (table === 'users') names.users.set(String(row.id), textOf(row.name));
    if (table === 'tags' && row.visibility !== 'internal') names.tags.set(String(row.id), textOf(row.name));
    if (table === 'posts_tags') add(names.tagsOf, row, row.tag_id);
    if (table === 'posts_authors') add(names.authorsOf, row, row.author_id);
    if (table === 'posts_meta') {
      const told = { alt: textOf(row.feature_image_alt), caption: textOf(row.feature_image_caption) };
      names.altOf.set(String(row.post_id), told);
    }
    if (table === 'settings' && row.key === 'title') names.title = textOf(row.value);
  }
  return names;
}

function itemOf(row: Row, line: number, where: string, names: Names, problemOf: MarkdownProblem): SourceItem {
  const of = { where, line, title: textOf(row.title) };
  const status = textOf(row.status) || 'published';
  if (row.type === 'page' || row.page === 1 || row.page === true) {
    return { ...of, skipped: 'it is a page; write it as a file of pages/ if the paper needs it' };
  }
  const visibility = textOf(row.visibility) || 'public';
  const draft = PUBLISHED.has(status) ? null : DRAFTS[status];
  if (draft === undefined) return { ...of, skipped: `its status is ${shown(status)}` };
  const id = String(row.id);
  const inOrder = (ids: { id: string; order: number }[] | undefined, by: Map<string, string>) =>
    (ids ?? []).sort((a, b) => a.order - b.order).flatMap(({ id }) => by.get(id) ?? []);
  const [section, ...tags] = inOrder(names.tagsOf.get(id), names.tags).filter((name) => !name.startsWith('#'));
  const authors = inOrder(names.authorsOf.get(id), names.users);
  const { alt = '', caption = '' } = names.altOf.get(id) ?? {};
  const image = textOf(row.feature_image).replace(SITE, '');
  const slug = textOf(row.slug);
  let html: string;
  try {
    html = htmlOf(row, problemOf);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { ...of, problem: { field: 'prose', message: error.message } };
  }
  return {
    ...of,
    piece: {
      slug,
      headline: of.title,
      dek: textOf(row.custom_excerpt),
      categories: section === undefined ? [] : [section],
      tags,
      authors:
        authors.length > 0 ? authors : [names.users.get(String(row.author_id)) ?? ''].filter((name) => name !== ''),
      published_at: timeOf(row.published_at),
      draft: draft ?? (visibility === 'public' ? null : `only ${visibility} could read it`),
      body: { html: html.replace(SITE, '') },
      image: image === '' ? null : { src: image, alt, credit: caption.replace(/<[^<>]*>/g, '').trim() || null },
      origin: `/${slug}/`,
      aliases: [],
      language: textOf(row.locale) || null,
    },
  };
}

/** The HTML of a post, made from its document if the export has none. */
function htmlOf({ html, lexical, mobiledoc }: Row, problemOf: MarkdownProblem): string {
  if (typeof html === 'string' && html !== '') return html;
  if (typeof lexical === 'string' && lexical !== '') return lexicalHtml(lexical, problemOf);
  return typeof mobiledoc === 'string' && mobiledoc !== '' ? mobiledocHtml(mobiledoc, problemOf) : '';
}

function timeOf(value: unknown): string | null {
  if (typeof value === 'number')
    return Number.isFinite(value) && Math.abs(value) < 8e15 ? new Date(value).toISOString() : null;
  return textOf(value) || null;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The rows of all tables of an export, one by one. Throws `ArchiveError` if it is not JSON. */
async function* ghostRows(file: string, open: () => Promise<Readable>): AsyncIterable<{ table: string; row: Row }> {
  const parser = new JSONParser({ paths: ['$.db.*.data.*.*', '$.data.*.*'], keepStack: false });
  const ready: { table: string; row: Row }[] = [];
  let read = 0;
  parser.onValue = ({ value, stack }) => {
    read = 0;
    const table = stack.at(-1)?.key;
    if (typeof table === 'string') ready.push({ table, row: membersIn(value) });
  };
  let isAny = false;
  for await (const text of decoded(file, await open())) {
    read += text.length;
    if (read > 4 * ITEM_MAX) {
      const message = `${file} has an entry of more than ${4 * ITEM_MAX} characters; no piece is so long: take it out, or get the export again`;
      throw new ArchiveError(message);
    }
    try {
      parser.write(text);
    } catch (error) {
      throw new ArchiveError(
        `${file} is not JSON (${messageOf(error)}); it is damaged or cut short: get the export again`,
      );
    }
    isAny ||= ready.length > 0;
    yield* ready.splice(0);
  }
  if (!parser.isEnded) throw new ArchiveError(`${file} is cut short; get the export again`);
  if (!isAny) throw new ArchiveError(`${file} has no tables of a Ghost site; give the JSON that Ghost exports`);
}
