import type { Archive, CorrectionRow, Row, Story, TagCount } from '../desk/archive.ts';
import type { Cast } from '../desk/cast.ts';
import type { Persona } from '../desk/masthead.ts';
import type { Media } from '../desk/media.ts';
import type { Page } from '../desk/page.ts';
import type { PaperRecord } from '../desk/paper.ts';
import type { Placed } from '../desk/placed.ts';
import { placed } from '../desk/placed.ts';
import { EARLIER_MAX, NEWEST_MAX, PAGE_SIZE, tags } from '../desk/tags.ts';
import type { Generation } from '../ledger/chain.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import type { LogProof } from '../ledger/log/log-proof.ts';
import type { Piece } from '../ledger/piece.ts';
import { standInOf } from './stand-in.ts';

/** The address at which a paper is published. */
export interface Site {
  /** Absolute root, without a trailing slash. */
  root: string;
  /** Path with which the pages' own links begin, without a trailing slash: empty, or `/harbor-ledger`. */
  base: string;
  /** Whether the links stay on the shared host, though `root` is an address of the paper's own. */
  isShared?: boolean;
  /** The WebSub hub that the feeds name; null without one. */
  hub?: string | null;
}

export function siteOf(root: string, hub: string | null = null): Site {
  return { root, base: new URL(root).pathname.replace(/\/$/, ''), hub };
}

/**
 * The address of a paper as read on the shared host at `served`: links stay below it, and canonical addresses are those
 * of `root`, which may be a domain of the paper's own that is served elsewhere or not yet.
 */
export function siteAt({ root, served }: { root: string; served: string }): Site {
  return root === served ? siteOf(root) : { root, base: siteOf(served).base, isShared: true };
}

/**
 * A read-only view of one paper that records the tags it reads. An output is
 * stale when one of its tags is, so it reads the archive only through this class.
 */
export class Edition {
  readonly site: Site;
  readonly #archive: Archive;
  readonly #read = new Set<string>();
  #shared = new Map<unknown, { value: unknown; read: Set<string> }>();

  constructor(archive: Archive, site: Site) {
    this.#archive = archive;
    this.site = site;
  }

  /** The same edition with no recorded reads. It shares what was made. */
  fresh(): Edition {
    const edition = new Edition(this.#archive, this.site);
    edition.#shared = this.#shared;
    return edition;
  }

  /** What every page shows alike, made once for all editions that `fresh` gives; each records what it read. */
  shared<T>(make: (edition: Edition) => T): T {
    let made = this.#shared.get(make);
    if (made === undefined) {
      const edition = this.fresh();
      made = { value: make(edition), read: edition.#read };
      this.#shared.set(make, made);
    }
    for (const tag of made.read) this.#read.add(tag);
    return made.value as T;
  }

  /** The tags of everything read so far, sorted. */
  get reads(): string[] {
    return [...this.#read].sort();
  }

  #rows(rows: Row[]): Row[] {
    for (const row of rows) this.#read.add(tags.piece(row.id));
    return rows;
  }

  /** The paper's record, without the edition's number and time. */
  paper(): PaperRecord {
    this.#read.add(tags.config);
    return this.#archive.paper();
  }

  /** The edition's number and time. */
  number(): { edition: number; changed_at: number } {
    this.#read.add(tags.edition);
    const { edition, changed_at } = this.#archive.paper();
    return { edition, changed_at };
  }

  masthead(): Persona[] {
    this.#read.add(tags.masthead);
    return this.#archive.masthead();
  }

  persona(slug: string): Persona | null {
    this.#read.add(tags.persona(slug));
    return this.#archive.persona(slug);
  }

  media(path: string): Media | null {
    this.#read.add(tags.media(path));
    const found = this.#archive.media(path);
    return found?.missing ? standInOf(found) : found;
  }

  /** Addresses of the paper's own pages, in reading order. */
  pages(): Page[] {
    this.#read.add(tags.pages);
    return this.#archive.pages();
  }

  /** The pages that the paper's menus list. A change of them makes the whole paper stale, as its record does. */
  menuPages(): Page[] {
    this.#read.add(tags.config);
    return this.#archive.pages().filter(({ nav }) => nav !== 'none');
  }

  /** The page that every footer links to as the imprint; its title is part of the paper as its menus are. */
  menuPage(slug: string): Page | null {
    this.#read.add(tags.config);
    return this.#archive.page(slug);
  }

  page(slug: string): Page | null {
    this.#read.add(tags.page(slug));
    return this.#archive.page(slug);
  }

  keys(): VerifyingKey[] {
    this.#read.add(tags.keys);
    return this.#archive.keys();
  }

  /** A correction of the clock makes all of a paper stale. */
  clockNotes(): string[] {
    return this.#archive.clockNotes();
  }

  story(slug: string): Story | null {
    const story = this.#archive.storyBySlug(slug);
    if (story !== null) this.#read.add(tags.piece(story.id));
    return story;
  }

  /** Every piece that has a page. Only full presses use this list, so the read is not recorded. */
  slugs(): Iterable<{ id: string; slug: string }> {
    return this.#archive.slugs();
  }

  /** Slugs of all personas, including past ones; not recorded, as for `slugs`. */
  everyPersona(): Iterable<string> {
    return this.#archive.personaSlugs();
  }

  /** Paths of all media; not recorded, as for `slugs`. */
  everyMedia(): Iterable<string> {
    return this.#archive.mediaPaths();
  }

  piece(id: string): Piece | null {
    this.#read.add(tags.piece(id));
    return this.#archive.piece(id);
  }

  generations(id: string): Generation[] {
    this.#read.add(tags.piece(id));
    return this.#archive.generations(id);
  }

  /** The proof that the newest receipt of a piece is in the log. */
  logProof(id: string): LogProof | null {
    this.#read.add(tags.piece(id));
    this.#read.add(tags.proof(id));
    if (!this.#archive.isLogCosigned()) return null;
    const newest = this.#archive.generations(id).at(-1);
    return newest === undefined ? null : this.#archive.logProof(newest.receipt);
  }

  earlier(row: Row): Row[] {
    this.#read.add(tags.earlier(row.id));
    return this.#rows(this.#archive.earlier(row, EARLIER_MAX));
  }

  /** The newest pieces of the paper, of a section or by a persona. At most `NEWEST_MAX`. */
  newest(limit: number, of: { section?: string; persona?: string } = {}): Row[] {
    if (of.section !== undefined) this.#read.add(tags.newestOf(of.section));
    else if (of.persona !== undefined) this.#read.add(tags.newestBy(of.persona));
    else this.#read.add(tags.newest);
    return this.#rows(this.#archive.latest({ limit: Math.min(limit, NEWEST_MAX), ...of }));
  }

  /** Pieces published since a time, newest first. No other list changes with time alone. */
  news(since: number): Row[] {
    this.#read.add(tags.news);
    return this.#archive.latest({ limit: 1_000, since });
  }

  sectionPage(section: string, page: number): Row[] {
    this.#read.add(tags.sectionPage(section, page));
    return this.#rows(this.#archive.sectionPage(section, page, PAGE_SIZE));
  }

  /** Whether a section has a page of this number. */
  hasSectionPage(section: string, page: number): boolean {
    this.#read.add(tags.sectionPage(section, page));
    return page >= 1 && page <= Math.ceil(this.#archive.sectionCount(section) / PAGE_SIZE);
  }

  /** The number of a section's last numbered page. */
  lastSectionPage(section: string): number {
    const last = Math.ceil(this.#archive.sectionCount(section) / PAGE_SIZE);
    this.#read.add(tags.newestOf(section));
    this.#read.add(tags.sectionPage(section, last));
    return last;
  }

  /** The newest pieces with a tag. At most `NEWEST_MAX`. */
  newestTagged(limit: number, tag: string): Row[] {
    this.#read.add(tags.newestTagged(tag));
    return this.#rows(this.#archive.latest({ limit: Math.min(limit, NEWEST_MAX), tag }));
  }

  tagPage(tag: string, page: number): Row[] {
    this.#read.add(tags.tagPage(tag, page));
    return this.#rows(this.#archive.tagPage(tag, page, PAGE_SIZE));
  }

  /** Whether a tag has a page of this number. The pieces of a tag that fit on its first page have no other. */
  hasTagPage(tag: string, page: number): boolean {
    this.#read.add(tags.tagPage(tag, page));
    const last = this.#lastTagPage(tag);
    return last > 1 && page >= 1 && page <= last;
  }

  /** The number of a tag's last numbered page. */
  lastTagPage(tag: string): number {
    const last = this.#lastTagPage(tag);
    this.#read.add(tags.newestTagged(tag));
    this.#read.add(tags.tagPage(tag, last));
    return last;
  }

  #lastTagPage(tag: string): number {
    return Math.ceil((this.#archive.tag(tag)?.count ?? 0) / PAGE_SIZE);
  }

  /** The tags that most pieces on air have, those of most pieces first. */
  tags(limit: number): TagCount[] {
    this.#read.add(tags.pieceTags);
    return this.#archive.tags({ limit });
  }

  /** Slugs of all tags; not recorded, as for `slugs`. */
  everyTag(): string[] {
    return this.#archive.tags({ limit: Number.MAX_SAFE_INTEGER }).map(({ slug }) => slug);
  }

  /** The newest days with pieces, newest first. */
  newestDays(limit: number): { day: string; count: number }[] {
    this.#read.add(tags.days);
    return this.#archive.days({ limit });
  }

  /** The days of a year with pieces, newest first. */
  daysOf(year: string): { day: string; count: number }[] {
    this.#read.add(tags.daysOf(year));
    return this.#archive.days({ from: `${year}-01-01`, until: `${year}-12-31` });
  }

  /** Every day with pieces; not recorded, as for `slugs`. */
  everyDay(): Iterable<string> {
    return this.#archive.days().map(({ day }) => day);
  }

  day(day: string): Row[] {
    this.#read.add(tags.day(day));
    return this.#rows(this.#archive.day(day));
  }

  months(): { month: string; count: number }[] {
    this.#read.add(tags.months);
    return this.#archive.months();
  }

  month(month: string): { slug: string; updated_at: number }[] {
    this.#read.add(tags.month(month));
    return this.#archive.month(month);
  }

  /** The editor's placement, with the pieces that are on air. */
  placement(): Placed {
    this.#read.add(tags.front);
    return placed(this.#archive.placement(), (id) => {
      this.#read.add(tags.piece(id));
      return this.#archive.storyById(id);
    });
  }

  /** The editions that can be shown, newest first. Whether a video is missing is part of the tag. */
  casts(): Cast[] {
    this.#read.add(tags.cast);
    return this.#archive.casts().filter(({ video }) => !this.#archive.media(video)?.missing);
  }

  /** The days of all editions; not recorded, as for `slugs`. */
  everyCast(): Iterable<string> {
    return this.#archive.casts().map(({ day }) => day);
  }

  cast(day: string): Cast | null {
    this.#read.add(tags.cast);
    return this.#archive.cast(day);
  }

  corrections(limit: number): CorrectionRow[] {
    this.#read.add(tags.corrections);
    return this.#archive.corrections(limit);
  }
}
