import type { Author } from '../proof/basis.ts';
import type { Generation } from '../proof/chain.ts';
import type { VerifyingKey } from '../proof/keyring.ts';
import type { LogProof } from '../proof/log/log-proof.ts';
import type { Piece } from './door/piece.ts';
import type { CitedEvidence, EvidenceState, FactToRevise, QuotedFact } from './evidence.ts';
import type { Citation, Citing, CitingRow, FactQuery, FactRow, OutdatedFact, SignedFact, SourceRow } from './fact.ts';
import type { Cast } from './papers/cast.ts';
import type { Persona } from './papers/masthead.ts';
import type { Media } from './papers/media.ts';
import type { Page } from './papers/page.ts';
import type { Paper } from './papers/paper.ts';
import type { Placement } from './placement.ts';
import type { SearchFilter } from './search.ts';

/** What a page says about itself, for a card in the pieces that link to it. It is not part of the ledger. */
export interface LinkedPage {
  title: string;
  /** This and the next member may be empty. */
  description: string;
  site: string;
  /** The redrawn picture: its path under the paper's root and its size in pixels; null without one. */
  picture: { path: string; width: number; height: number } | null;
}

/** The states of a piece. Lists show only pieces on air. */
export const STATES = ['draft', 'scheduled', 'on_air', 'withdrawn'] as const;
export type StateName = (typeof STATES)[number];

/** The members of a piece that lists leave out. */
type Long = 'prose' | 'cited_facts' | 'credit' | 'authors' | 'written_by' | 'aliases';

/** Who approved the newest revision of a piece, as readers may see it. `at` in ms. */
export interface Reviewed {
  name: string;
  role: string;
  at: number;
}

/** What a desk asks to be changed in the newest revision of a piece before it is approved. `at` in ms. */
export interface ChangeRequest {
  /** The name of the key that asked. */
  by: string;
  at: number;
  note: string | null;
}

/** A published piece as lists show it. Times in ms. */
export interface Row extends Omit<Piece, Long | 'correction' | 'revised_at'> {
  /** Who approved this revision; null when nobody did. */
  reviewed_by: Reviewed | null;
  /** The people who wrote it; empty when the persona did. See `writersOf`. */
  writers: Author[];
  /** Their names in one line, in the piece's language; null when the persona wrote it. */
  writer: string | null;
  word_count: number;
  /** When the piece first went on air. */
  published_at: number;
  /** Time of the newest revision since then, else `published_at`. */
  updated_at: number;
}

/** A correction made by a revision. */
interface Correction {
  at: number;
  revision: number;
  note: string;
}

/** A piece in full, in any state. `published_at` is 0 until it is first on air. */
export interface Story extends Row, Pick<Piece, Long> {
  state: StateName;
  /** The facts that its entries with a claim key cite. */
  citations: Citation[];
  /** What the desk found in the sources of its entries, by number. */
  evidence: CitedEvidence[];
  content_hash: string;
  corrections: Correction[];
  /** When it will go on air, for a scheduled piece. */
  scheduled_at: number | null;
  withdrawn_at: number | null;
  /** Why it was withdrawn. */
  reason: string | null;
  /** Whether its headline must not be shown anywhere: see `noticeOf`. */
  headline_withheld: boolean;
  /** Whether it stays off the air until its newest revision is approved: see `review.ts`. */
  awaits_review: boolean;
  /** Whether it stays off the air until its sources were read: see `evidence.ts`. */
  awaits_evidence: boolean;
  change_request: ChangeRequest | null;
}

/** The members that only a piece's own desk sees. */
type OfDesk =
  | 'state'
  | 'scheduled_at'
  | 'withdrawn_at'
  | 'reason'
  | 'headline_withheld'
  | 'awaits_review'
  | 'awaits_evidence'
  | 'change_request';

/** A piece as the desk's own lists show it, without its long members. */
export type DeskRow = Row & Pick<Story, OfDesk>;

/** A scheduled piece, with the members that the airing rules check. */
export type Scheduled = Pick<Story, 'slug' | 'category' | 'cited_facts' | 'provenance'>;

/** Whether readers see a withdrawal notice: the piece was on air and is not now, though it may be scheduled again. */
export function isWithdrawn({ state, published_at }: Pick<Story, 'state' | 'published_at'>): boolean {
  return state !== 'on_air' && published_at !== 0;
}

/** One line of the corrections page. */
export interface CorrectionRow extends Correction {
  /** `withdrawal` when the piece was withdrawn entirely. */
  kind: 'correction' | 'withdrawal';
  slug: string;
  headline: string;
  language: string;
  headline_withheld: boolean;
}

/** The counts shown on a persona's page. */
export interface PersonaCounts {
  /** On air. */
  pieces: number;
  /** The number of corrections of those. */
  corrections: number;
  /** Pieces that were on air, and are not now. */
  withdrawn: number;
}

/** A tag as the lists of tags show it. */
export interface TagCount {
  slug: string;
  /** As spelled by the newest piece that has it. */
  name: string;
  /** Pieces on air. */
  count: number;
}

/** Selects pieces on air, newest first. */
export interface LatestQuery {
  limit: number;
  persona?: string;
  /** Only pieces published at or after this time, in ms. */
  since?: number | undefined;
  /** Only pieces after this position in the list. Cannot be combined with `persona`. */
  after?: Position | undefined;
}

/** The position of a piece on air in a list. */
export type Position = Pick<Row, 'published_at' | 'id'>;

/** What a long list of pieces belongs to: a section by its name, or a tag by its slug. */
export type ListKind = 'section' | 'tag';

/** The pieces on air of a section or with a tag. */
export interface PieceList {
  count(): number;
  /** The newest pieces, or those that went on air immediately before a position; newest first. */
  newest(limit: number, before?: Position): Row[];
  /** The n-th page. Pages count from 1 at the oldest piece; within a page, newest first. */
  page(number: number, size: number): Row[];
  /** How many pieces went on air before this one. */
  rank(at: Position): number;
  /** How many pieces went on air after this one. Stops counting at `cap`. */
  newer(at: Position, cap: number): number;
}

/** Read-only access to one paper. Every list holds only pieces on air. */
export interface Archive {
  paper(): Paper;
  /** Active personas by name. */
  masthead(): Persona[];
  /** A persona, active or not. */
  persona(slug: string): Persona | null;
  personaCounts(slug: string): PersonaCounts;
  /** Slugs of all personas, active or not. */
  personaSlugs(): string[];
  /** Video editions, newest first. */
  casts(): Cast[];
  cast(day: string): Cast | null;
  /** The editor's placement of the front. It may name pieces that are scheduled. */
  placement(): Placement;
  media(path: string): Media | null;
  /** The paper's own pages, in reading order. */
  pages(): Page[];
  page(slug: string): Page | null;
  mediaPaths(): string[];
  /** What is known about a linked page; null when nothing is. */
  linkCard(url: string): LinkedPage | null;
  /** The pictures of linked pages: each page's address, and the path under the paper's root. */
  linkPictures(): { url: string; path: string }[];
  linkPicture(url: string): Uint8Array | null;
  /** Letters in the paper's texts that none of the papers' typefaces has, by language, as the last press found them. */
  scriptLetters(): { language: string; letters: string }[];
  /** The corrections of the clock, oldest first: signed notes. */
  clockNotes(): string[];
  /** The reviews of a piece, oldest first: signed notes. */
  reviewNotes(id: string): string[];
  /** Every signing key, current and retired, oldest first. */
  keys(): VerifyingKey[];

  /** Whether a piece with a revision from an archive was ever on air. Once true, it stays so. */
  hasArchived(): boolean;
  storyById(id: string): Story | null;
  storyBySlug(slug: string): Story | null;
  /** Whether a piece in any state has the slug. */
  hasSlug(slug: string): boolean;
  /** The slug of the piece, in any state, to which an earlier address leads; null for an unused address. */
  aliasOwner(alias: string): string | null;
  /** Like `aliasOwner`, only for pieces that have a page: where readers of that address are redirected. */
  redirect(alias: string): string | null;
  /** Every earlier address that leads to a page, in order. */
  redirects(): { alias: string; slug: string }[];
  /** The earlier addresses of a piece. */
  aliasesOf(id: string): string[];
  /** The filed content of a piece's newest revision. */
  piece(id: string): Piece | null;
  /** The filed content of every revision of a piece, oldest first. */
  revisions(id: string): Piece[];
  /** Oldest first. */
  generations(id: string): Generation[];
  /** The receipts of all pieces on air, oldest first. `is_newest` marks the receipt of a piece's newest revision. */
  receiptsOnAir(): Iterable<{ piece: string; receipt: string; is_newest: boolean }>;
  /** The proof that a receipt is in the log; null until a cosigned head covers it. */
  logProof(receipt: string): LogProof | null;
  /** Whether any head of the log has its quorum. Until then, no receipt has a proof. */
  isLogCosigned(): boolean;
  /**
   * Slugs of all pieces that have a page: pieces on air, section by section so that a piece follows the earlier one it
   * names, and then withdrawn ones with a notice.
   */
  slugs(): Iterable<{ id: string; slug: string }>;

  latest(query: LatestQuery): Row[];
  /** Ids of the pieces that match all terms (see `searchTerms`), newest first. Empty without terms. */
  search(terms: readonly string[], limit: number, filter?: SearchFilter): string[];
  /** A piece as lists show it. */
  row(id: string): Row | null;
  list(kind: ListKind, name: string): PieceList;
  /** A tag by its slug; null when no piece on air has it. */
  tag(slug: string): TagCount | null;
  /** The tags of pieces on air, most used first. */
  tags(page: { limit: number; after?: { count: number; slug: string } | undefined }): TagCount[];
  /** Scheduled pieces, earliest first. */
  scheduled(): Scheduled[];
  /** How many pieces went on air after this one. Stops counting at `cap`. */
  newer(at: Position, cap: number): number;
  /** Ids of the pieces of a section that went on air immediately after this one. */
  laterIds(section: string, at: Position, limit: number): string[];
  /** Days with pieces, newest first. */
  days(range?: { from?: string; until?: string; limit?: number }): { day: string; count: number }[];
  /** The pieces of a day, newest first; all of them by default. */
  day(day: string, limit?: number): Row[];
  /** Months with pieces (YYYY-MM) and their counts, oldest first. */
  months(): { month: string; count: number }[];
  /** The sitemap entries of a month's pieces, oldest first. */
  month(month: string): { slug: string; updated_at: number }[];
  /** The newest version of a fact; null for an unknown key. */
  fact(claim_key: string): FactRow | null;
  /** Every version of a fact, oldest first. */
  factVersions(claim_key: string): SignedFact[];
  /** Facts in their newest versions, most recently recorded first. */
  facts(query: FactQuery): FactRow[];
  /** The publishers of facts that pieces on air cite, ordered by number of facts, highest first. */
  factSources(): SourceRow[];
  /** Whether a piece on air cites a recorded fact, and how many such facts there are. */
  hasFacts(): boolean;
  factCount(): number;
  /** For each fact id, in ascending order: how many facts that pieces on air cite were recorded before it. */
  factRanks(ids: readonly number[]): number[];
  /** Facts that pieces on air cite, oldest first, starting at a rank. */
  factsFrom(rank: number, limit: number): FactRow[];
  /** Corrected or retracted facts that pieces on air cite, most recently changed first. */
  correctedFacts(limit: number): FactRow[];
  /** Facts of which pieces on air cite an outdated version, most recently changed first. */
  outdatedFacts(limit: number): OutdatedFact[];
  /** Facts that may say the same as an entry, for comparison. */
  factsLike(entry: { statement: string; instrument: string }): FactRow[];
  /** The facts that the newest revision of a piece cites, by claim key. */
  citations(id: string): Citation[];
  /** The pieces that cite a fact, newest first by id. */
  citedBy(claim_key: string, of: Citing, page?: { after?: string | undefined; limit?: number }): CitingRow[];
  /** The ids and sections of the pieces on air that cite a fact. */
  citingOnAir(claim_key: string): { id: string; category: string }[];
  /** Facts with a quote that the newest revision of a piece cites. */
  quotedFacts(id: string): QuotedFact[];
  /** The evidence notes of every reading for what the newest revision of a piece cites, oldest first. */
  evidenceNotesOf(id: string): string[];
  /** The evidence state of a fact's newest version; null before its source is read. */
  factEvidence(claim_key: string): EvidenceState | null;
  /** Facts to be revised that pieces on air cite, most recently read first. */
  factsToRevise(limit: number): FactToRevise[];
  /** Whether the evidence for what pieces on air cite names this digest, as a text or as an archive. */
  showsText(digest: string): boolean;
  showsArchive(digest: string): boolean;
  /** The digests of all such texts. */
  shownTexts(): Iterable<string>;
  /** Digests of the texts read for all versions of a recorded fact, or for a piece's entries, whether shown or not. */
  textsOf(of: { fact: string } | { piece: string }): string[];
  /** The notes of all versions of the facts that a piece cites, oldest first. */
  factReceiptsOf(id: string): string[];
  /** The notes of all versions of the facts that pieces on air cite, oldest first. */
  factReceiptsOnAir(): Iterable<string>;
  corrections(limit: number): CorrectionRow[];
  /** Whether any revision of the piece is a correction. */
  hasCorrections(piece: string): boolean;
}
