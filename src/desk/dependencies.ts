import { dayOf } from '../proof/time.ts';
import type { Archive, ListKind, Row } from './archive.ts';
import { tagSlug } from './door/tag.ts';
import { sectionSlug } from './papers/paper.ts';

/** How many pieces a numbered page of a section holds. */
export const PAGE_SIZE = 30;
/** Maximum number of pieces in the newest-first list of a section, a persona or a feed. */
export const NEWEST_MAX = 50;
/** How many stories one sitemap holds. 50,000 are allowed, but a publish rewrites the whole file. */
export const SHARD_MAX = 10_000;
/** How many facts a numbered page of the fact record holds. */
export const FACTS_PAGE = 50;
/** How many earlier pieces a story page lists. */
export const EARLIER_MAX = 3;

/**
 * Names of the data that outputs read. A change makes dependencies stale, and the press prints the outputs that read
 * them again. There is no other dependency map.
 */
export const dependencies = {
  /** The paper's record: every page shows it. */
  config: 'config',
  /** The edition's number: only the front document shows it. */
  edition: 'edition',
  /** The letters of the paper's texts that need a font for their script. */
  scripts: 'scripts',
  /** The editor's placement of the front. */
  front: 'front',
  masthead: 'masthead',
  /** The newest days with pieces, and their counts. */
  days: 'days',
  /** The months with pieces, and how many sitemaps each fills. */
  months: 'months',
  cast: 'cast',
  corrections: 'corrections',
  /** Which facts pieces on air cite, and what the record says about them. */
  facts: 'facts',
  /** What the record says about one fact, and the pieces on air that cite it. */
  fact: (claim_key: string) => `fact:${claim_key}`,
  /** The proof that a fact's newest version is in the log. */
  factProof: (claim_key: string) => `fact-proof:${claim_key}`,
  /** A numbered page of the fact record, and a sitemap of its pages. */
  factPage: (page: number) => `facts-page:${page}`,
  factShard: (shard: number) => `facts-shard:${shard}`,
  /** What became of the facts that a piece cites. A correction makes it stale for each piece on air that cites one. */
  citations: (id: string) => `citations:${id}`,
  /** The newest pieces of the whole paper. */
  newest: 'newest',
  /** The pieces of the last 48 hours. */
  news: 'news',
  /** The signing keys. */
  keys: 'keys',
  piece: (id: string) => `piece:${id}`,
  /** The proof that a piece's newest receipt is in the log. */
  proof: (id: string) => `proof:${id}`,
  /** A share card that a press deferred. */
  card: (id: string) => `card:${id}`,
  /** The variants of a picture that a press deferred. */
  picture: (path: string) => `picture:${path}`,
  persona: (slug: string) => `persona:${slug}`,
  newestBy: (persona: string) => `by:${persona}`,
  /** How many pieces a persona has, and how many were corrected and withdrawn. */
  recordOf: (persona: string) => `record:${persona}`,
  /** The tags of pieces on air, and how many pieces each has. */
  pieceTags: 'piece-tags',
  /** The newest pieces of a section by its name, or of a tag by its slug. */
  newestOf: (kind: ListKind, name: string) => (kind === 'tag' ? `tagged:${name}` : `newest:${sectionSlug(name)}`),
  /** A numbered page of a section or a tag. */
  pageOf: (kind: ListKind, name: string, page: number) =>
    `${kind}:${kind === 'tag' ? name : sectionSlug(name)}:${page}`,
  earlier: (id: string) => `earlier:${id}`,
  /** The days of a year with pieces, and their counts. */
  daysOf: (year: string) => `days:${year}`,
  day: (day: string) => `day:${day}`,
  month: (month: string) => `month:${month}`,
  /** The earlier addresses of pieces that have a page. */
  aliases: 'aliases',
  /** What is known about a page to which a piece links on a line of its own. */
  link: (url: string) => `link:${url}`,
  media: (path: string) => `media:${path}`,
  /** A source's text that the desk has read, by its digest. */
  source: (digest: string) => `source:${digest}`,
  /** The addresses of the paper's own pages. The menus are part of `config`, because every page shows them. */
  pages: 'pages',
  page: (slug: string) => `page:${slug}`,
};

/**
 * The dependencies that a change of one piece makes stale. `before` and `after` are the piece as readers saw it and as
 * they see it now, null while it is not on air. The archive must already show the state after the change.
 */
export function changedDependencies(archive: Archive, id: string, before: Row | null, after: Row | null): Set<string> {
  const changed = new Set([dependencies.edition, dependencies.piece(id), dependencies.news]);
  const stays =
    before?.category === after?.category &&
    before?.published_at === after?.published_at &&
    before?.persona === after?.persona;
  for (const row of [before, after]) {
    if (row === null) continue;
    changed.add(dependencies.recordOf(row.persona));
    changed.add(dependencies.month(dayOf(row.published_at).slice(0, 7)));
    if (stays) continue;
    const day = dayOf(row.published_at);
    changed.add(dependencies.day(day));
    changed.add(dependencies.days);
    changed.add(dependencies.daysOf(day.slice(0, 4)));
    if (changesMonths(archive, day.slice(0, 7), row === after)) changed.add(dependencies.months);
    changed.add(dependencies.newestBy(row.persona));
    if (archive.newer(row, NEWEST_MAX) < NEWEST_MAX) changed.add(dependencies.newest);
    for (const dependency of ofList(archive, 'section', row.category, row)) changed.add(dependency);
    changed.add(dependencies.earlier(id));
    for (const later of archive.laterIds(row.category, row, EARLIER_MAX)) changed.add(dependencies.earlier(later));
  }
  for (const dependency of changedTagDependencies(archive, before, after)) changed.add(dependency);
  return changed;
}

/** The dependencies that become stale because a piece got or lost a tag, or its position in a tag's list changed. */
function* changedTagDependencies(archive: Archive, before: Row | null, after: Row | null): Iterable<string> {
  const spelled = (row: Row | null) => new Map((row?.tags ?? []).map((name) => [tagSlug(name), name]));
  const [had, has] = [spelled(before), spelled(after)];
  const moved = before?.published_at !== after?.published_at;
  for (const slug of new Set([...had.keys(), ...has.keys()])) {
    if (!moved && had.get(slug) === has.get(slug)) continue;
    yield dependencies.pieceTags;
    for (const row of [before, after]) if (row !== null) yield* ofList(archive, 'tag', slug, row);
  }
}

/** Whether adding or removing a piece created or removed a month, or changed its number of sitemaps. */
function changesMonths(archive: Archive, month: string, joined: boolean): boolean {
  const count = archive.months().find((row) => row.month === month)?.count ?? 0;
  return count % SHARD_MAX === (joined ? 1 : 0);
}

/**
 * The dependencies that change when a piece joins or leaves a section or a tag: the newest pieces, if it is one of them,
 * and numbered pages: its own, all newer ones, and the page before, whose next link may change.
 */
function* ofList(archive: Archive, kind: ListKind, name: string, row: Row): Iterable<string> {
  const list = archive.list(kind, name);
  if (list.newer(row, NEWEST_MAX) < NEWEST_MAX) yield dependencies.newestOf(kind, name);
  const own = Math.floor(list.rank(row) / PAGE_SIZE) + 1;
  const last = Math.ceil(list.count() / PAGE_SIZE);
  for (let page = Math.max(1, own - 1); page <= last + 1; page++) yield dependencies.pageOf(kind, name, page);
}
