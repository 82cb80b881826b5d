import { standInOf } from '../../media/stand-in.ts';
import type { LogProof } from '../../proof/log/log-proof.ts';
import type { Archive, ListKind, Row, Story } from '../archive.ts';
import { dependencies, EARLIER_MAX, FACTS_PAGE, NEWEST_MAX, PAGE_SIZE, SHARD_MAX } from '../dependencies.ts';
import { republishes } from '../evidence.ts';
import { factDocumentOf } from '../fact-rows.ts';
import { castFile } from '../papers/cast.ts';
import { type Placed, placed } from '../papers/front.ts';
import type { Media } from '../papers/media.ts';
import { LOG_SLUG, type PaperRecord } from '../papers/paper.ts';

/** How many of the newest pieces of a day or a tag are searched for a picture. */
const TOP_OF = 3;

export interface Site {
  /** Absolute root, without a trailing slash. */
  root: string;
  /** Prefix of the paths in the pages' own links, without a trailing slash: empty, or `/harbor-ledger`. */
  base: string;
  /** Whether links stay on the shared host, even though `root` is the paper's own address. */
  isShared?: boolean;
  /** The WebSub hub that feeds name; null without one. */
  hub?: string | null;
}

export function siteOf(root: string, hub: string | null = null): Site {
  return { root, base: new URL(root).pathname.replace(/\/$/, ''), hub };
}

/** The site as read on the shared host at `served`: links stay below it, and canonical addresses use `root`. */
export function siteAt({ root, served }: { root: string; served: string }): Site {
  return root === served ? siteOf(root) : { root, base: siteOf(served).base, isShared: true };
}

/**
 * The address of the log, with a trailing slash. It is on the host of the page, because a page may fetch only from
 * there; absolute if `base` is.
 */
export function logUrl({ url }: Pick<PaperRecord, 'url'>, { root, base, isShared }: Site): string {
  if (url !== undefined && !isShared) return `${base}/${LOG_SLUG}/`;
  const path = `/${LOG_SLUG}/`;
  return base === root ? new URL(path, root).href : path;
}

/** The pieces of a section or with a tag: the newest ones, and numbered pages starting with the oldest. */
export interface PieceRows {
  newest(): Row[];
  page(number: number): Row[];
  hasPage(number: number): boolean;
  lastPage(): number;
}

/**
 * A view of one paper that records the dependencies an output reads. The output becomes stale when one of them does.
 */
export class Edition {
  readonly site: Site;
  /** The archive without recording. Only for complete lists, which only full presses print. */
  readonly archive: Archive;
  readonly #read = new Set<string>();

  constructor(archive: Archive, site: Site) {
    this.archive = archive;
    this.site = site;
  }

  /** The dependencies read so far, sorted. */
  get reads(): string[] {
    return [...this.#read].sort();
  }

  #noting<T>(dependency: string, value: T): T {
    this.#read.add(dependency);
    return value;
  }

  #rows(dependency: string, rows: Row[]): Row[] {
    for (const row of rows) this.#read.add(dependencies.piece(row.id));
    return this.#noting(dependency, rows);
  }

  /** The paper's record, without the edition's number and time. */
  paper(): PaperRecord {
    return this.#noting(dependencies.config, this.archive.paper());
  }

  /** Recorded as a dependency on `config`, because every page shows it, like the record. */
  hasArchived(): boolean {
    return this.#noting(dependencies.config, this.archive.hasArchived());
  }

  /** Recorded as a dependency on `config`, because every page links to the fact record if there is one. */
  hasFacts(): boolean {
    return this.#noting(dependencies.config, this.archive.hasFacts());
  }

  /** A fact that pieces on air cite, with the newest of these pieces; null if none does. */
  fact(claim_key: string, limit: number) {
    const fact = this.#noting(dependencies.fact(claim_key), this.archive.fact(claim_key));
    if (fact === null || fact.cited === 0) return null;
    this.keys();
    const document = this.#noting(dependencies.factProof(claim_key), factDocumentOf(this.archive, claim_key));
    return { fact, document, citing: this.archive.citedBy(claim_key, 'on_air', { limit }) };
  }

  /** Whether readers may see a source's text that the desk read. */
  showsSource(digest: string): boolean {
    return this.#noting(dependencies.source(digest), republishes(this.paper()) && this.archive.showsText(digest));
  }

  /** The most recently recorded facts, and how many facts there are. */
  facts() {
    const count = this.archive.factCount();
    const rows = this.archive.facts({ limit: FACTS_PAGE, isCited: true });
    return this.#noting(dependencies.facts, { count, rows });
  }

  /** A numbered page of the fact record, starting with the oldest fact; null beyond the last page. */
  factPage(page: number) {
    const pages = Math.ceil(this.#noting(dependencies.factPage(page), this.archive.factCount()) / FACTS_PAGE);
    if (page < 1 || page > pages) return null;
    const rows = this.archive.factsFrom((page - 1) * FACTS_PAGE, FACTS_PAGE);
    return { rows: rows.reverse(), isLast: page === pages };
  }

  /** The claim keys of the facts in a sitemap. */
  factShard(shard: number): string[] {
    const rows = this.archive.factsFrom((shard - 1) * SHARD_MAX, SHARD_MAX);
    return this.#noting(
      dependencies.factShard(shard),
      rows.map(({ claim_key }) => claim_key),
    );
  }

  factShards(): number {
    return Math.ceil(this.#noting(dependencies.facts, this.archive.factCount()) / SHARD_MAX);
  }

  factSources() {
    return this.#noting(dependencies.facts, this.archive.factSources());
  }

  correctedFacts(limit: number) {
    return this.#noting(dependencies.corrections, this.archive.correctedFacts(limit));
  }

  number(): { edition: number; changed_at: number } {
    return this.#noting(dependencies.edition, this.archive.paper());
  }

  masthead() {
    return this.#noting(dependencies.masthead, this.archive.masthead());
  }

  persona(slug: string) {
    return this.#noting(dependencies.persona(slug), this.archive.persona(slug));
  }

  personaCounts(slug: string) {
    return this.#noting(dependencies.recordOf(slug), this.archive.personaCounts(slug));
  }

  media(path: string): Media | null {
    const found = this.#noting(dependencies.media(path), this.archive.media(path));
    return found?.missing ? standInOf(found) : found;
  }

  /** What is known about a linked page; null if nothing is. */
  linkCard(url: string) {
    return this.#noting(dependencies.link(url), this.archive.linkCard(url));
  }

  /** Letters in the paper's texts that none of the papers' typefaces has, by language. */
  scriptLetters() {
    return this.#noting(dependencies.scripts, this.archive.scriptLetters());
  }

  /** The paper's own pages, in reading order. */
  pages() {
    return this.#noting(dependencies.pages, this.archive.pages());
  }

  /** The pages in the paper's menus. A change to them makes the whole paper stale, like a change of its record. */
  menuPages() {
    return this.#noting(
      dependencies.config,
      this.archive.pages().filter(({ nav }) => nav !== 'none'),
    );
  }

  /** The page that every footer links to as the imprint. Like the menus, its title counts as part of the record. */
  menuPage(slug: string) {
    return this.#noting(dependencies.config, this.archive.page(slug));
  }

  page(slug: string) {
    return this.#noting(dependencies.page(slug), this.archive.page(slug));
  }

  keys() {
    return this.#noting(dependencies.keys, this.archive.keys());
  }

  /** A correction of the clock makes the whole paper stale. */
  clockNotes() {
    return this.archive.clockNotes();
  }

  story(slug: string): Story | null {
    const story = this.archive.storyBySlug(slug);
    if (story !== null) this.#read.add(dependencies.piece(story.id)).add(dependencies.citations(story.id));
    return story;
  }

  piece(id: string) {
    return this.#noting(dependencies.piece(id), this.archive.piece(id));
  }

  /** The earlier addresses that lead to pages. */
  redirects() {
    return this.#noting(dependencies.aliases, this.archive.redirects());
  }

  generations(id: string) {
    return this.#noting(dependencies.piece(id), this.archive.generations(id));
  }

  reviewNotes(id: string) {
    return this.#noting(dependencies.piece(id), this.archive.reviewNotes(id));
  }

  /** The proof that the newest receipt of a piece is in the log. */
  logProof(id: string): LogProof | null {
    this.#read.add(dependencies.proof(id));
    const newest = this.generations(id).at(-1);
    return newest === undefined || !this.archive.isLogCosigned() ? null : this.archive.logProof(newest.receipt);
  }

  earlier(row: Row): Row[] {
    return this.#rows(
      dependencies.earlier(row.id),
      this.archive.list('section', row.category).newest(EARLIER_MAX, row),
    );
  }

  /** The newest pieces of the paper, of a section or by a persona. At most `NEWEST_MAX`. */
  newest(limit: number, { section, persona }: { section?: string; persona?: string } = {}): Row[] {
    const most = Math.min(limit, NEWEST_MAX);
    if (section !== undefined) {
      return this.#rows(dependencies.newestOf('section', section), this.archive.list('section', section).newest(most));
    }
    if (persona === undefined) return this.#rows(dependencies.newest, this.archive.latest({ limit: most }));
    return this.#rows(dependencies.newestBy(persona), this.archive.latest({ limit: most, persona }));
  }

  /** Pieces published since a time, newest first. No other list changes with time alone. */
  news(since: number): Row[] {
    return this.#noting(dependencies.news, this.archive.latest({ limit: 1_000, since }));
  }

  /** The pieces of a section by name, or of a tag by slug. A tag whose pieces fit on one page has no numbered pages. */
  list(kind: ListKind, name: string): PieceRows {
    const list = this.archive.list(kind, name);
    const newest = dependencies.newestOf(kind, name);
    const pages = () => Math.ceil(list.count() / PAGE_SIZE);
    const page = (number: number) => dependencies.pageOf(kind, name, number);
    const has = (number: number) => number >= 1 && number <= pages() && (kind === 'section' || pages() > 1);
    return {
      newest: () => this.#rows(newest, list.newest(PAGE_SIZE)),
      page: (number) => this.#rows(page(number), list.page(number, PAGE_SIZE)),
      hasPage: (number) => this.#noting(page(number), has(number)),
      lastPage: () => this.#noting(newest, this.#noting(page(pages()), pages())),
    };
  }

  /** The tags with the most pieces on air, in descending order. */
  tags(limit: number) {
    return this.#noting(dependencies.pieceTags, this.archive.tags({ limit }));
  }

  newestDays(limit: number) {
    return this.#noting(dependencies.days, this.archive.days({ limit }));
  }

  daysOf(year: string) {
    return this.#noting(
      dependencies.daysOf(year),
      this.archive.days({ from: `${year}-01-01`, until: `${year}-12-31` }),
    );
  }

  day(day: string): Row[] {
    return this.#rows(dependencies.day(day), this.archive.day(day));
  }

  /** The newest pieces of a day, one of which represents it in miniature. */
  dayTop(day: string): Row[] {
    return this.#rows(dependencies.day(day), this.archive.day(day, TOP_OF));
  }

  /** The newest pieces with a tag, one of which represents it in miniature. */
  tagTop(slug: string): Row[] {
    return this.#rows(dependencies.newestOf('tag', slug), this.archive.list('tag', slug).newest(TOP_OF));
  }

  months() {
    return this.#noting(dependencies.months, this.archive.months());
  }

  month(month: string) {
    return this.#noting(dependencies.month(month), this.archive.month(month));
  }

  placement(): Placed {
    const placement = this.#noting(dependencies.front, this.archive.placement());
    return placed(placement, (id) => this.#noting(dependencies.piece(id), this.archive.storyById(id)));
  }

  /** The editions that can be shown, newest first. The dependency also covers whether their files are missing. */
  casts() {
    const casts = this.archive.casts().filter((cast) => !this.archive.media(castFile(cast))?.missing);
    return this.#noting(dependencies.cast, casts);
  }

  cast(day: string) {
    return this.#noting(dependencies.cast, this.archive.cast(day));
  }

  corrections(limit: number) {
    return this.#noting(dependencies.corrections, this.archive.corrections(limit));
  }
}
