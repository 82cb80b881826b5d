import canonicalize from 'canonicalize';
import { basisOf, contentHash } from '../proof/basis.ts';
import { type Signer, signReceipt } from '../proof/signing.ts';
import { isoTime } from '../proof/time.ts';
import { Fault, refusalOf } from '../shared/fault.ts';
import type { Problem } from '../shared/shape.ts';
import { append } from './append.ts';
import type { Archive, Story } from './archive.ts';
import { withRecord } from './door/claims.ts';
import { filingProblems, type PaperRules, sourceFloorProblems } from './door/door.ts';
import type { Filing, Piece } from './door/piece.ts';
import { isAccepted, mustBeFound, requiresQuotes } from './evidence.ts';
import type { GenerationEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';
import { requiresReview, reviewProblem } from './review.ts';
import { recordFacts } from './signing-facts.ts';

/** The dependencies of filing: the store, the signing key, the clock and a source of ids. */
export interface Desk {
  store: LedgerStore;
  /** The current key, read on each access. Read it in the transaction that appends what it signs. */
  readonly signingKey: { signer: Signer; kid: string; nbf: number };
  /** The current time, in ms. */
  now(): number;
  /** A new piece's id: a lower-case ULID. */
  newId(): string;
}

export interface Filed {
  story: Story;
  /** False when the newest revision already has this content and nothing was appended. */
  changed: boolean;
}

/** The paper's rules that the filing door applies to a piece. */
export function paperRules(archive: Archive): PaperRules {
  const paper = archive.paper();
  return {
    sections: paper.sections,
    personas: archive.masthead().map(({ slug }) => slug),
    source_floor: paper.source_floor,
    hasMedia: (path) => archive.media(path) !== null,
    hasPage: (slug) => archive.page(slug) !== null,
    aliasOwner: (alias) => archive.aliasOwner(alias),
    fact: (claim_key) => archive.fact(claim_key),
  };
}

/**
 * Files a new piece, or a new revision of the piece with the same slug, which appears at once if the piece is on air.
 * Unchanged content may be filed even if its section or persona is gone. `from` is the revision that was edited, 0 for
 * a new piece. With `toAir` the piece must also meet the airing rules; with `takesUndescribed`, for archives, pictures
 * may lack a description. An agent's filing (`isAgent`) may need a review; an agent cannot then revise a piece that
 * readers have seen. Pass `rules` if this transaction has already read the paper's rules. Throws `refused_by_door` with
 * every problem, and `conflict` when `from` is not the newest revision.
 */
export function fileStory(
  desk: Desk,
  paper: string,
  given: Filing,
  options: {
    by: string;
    from?: number;
    toAir?: boolean;
    takesUndescribed?: boolean;
    isAgent?: boolean;
    rules?: PaperRules;
  },
): Filed {
  return desk.store.transact(() => {
    const archive = desk.store.archive(paper);
    const rules = { ...(options.rules ?? paperRules(archive)), takesUndescribed: options.takesUndescribed === true };
    const before = archive.storyBySlug(given.slug);
    const old = before === null ? null : archive.piece(before.id);
    if (options.from !== undefined) requireNewest(paper, given.slug, options.from, before?.revision ?? 0);
    if (given.provenance !== null && options.by !== 'cli')
      throw new Error(`${options.by} filed a piece as of an archive`);
    if (before !== null && old !== null && isUnchanged(given, old)) return { story: before, changed: false };
    const filing = withRecord(given, rules.fact);
    const toAir = options.toAir || before?.state === 'on_air' || before?.state === 'scheduled';
    // Checks both sections, so that an agent cannot move a piece out of a section that requires reviews.
    const of = [filing, ...(before === null ? [] : [before])];
    const needsReview = options.isAgent === true && of.some((piece) => requiresReview(archive.paper(), piece));
    const problems = doorProblems(filing, rules, { now: desk.now(), toAir });
    if (needsReview && before !== null && before.published_at !== 0) problems.push(reviewProblem(filing.slug));
    if (problems.length > 0) throw refusalOf(problems);
    const byline = archive.persona(filing.persona);
    if (byline === null) throw new Error(`persona ${filing.persona} passed the filing door but does not exist`);
    const piece: Piece = {
      ...filing,
      id: before?.id ?? desk.newId(),
      revision: (before?.revision ?? 0) + 1,
      byline: { name: byline.name, title: byline.title },
    };
    recordFacts(desk, paper, piece, options.by);
    const awaitsEvidence = before?.state === 'scheduled' && awaitsQuotes(archive, piece);
    appendGeneration(desk, paper, piece, archive, { by: options.by, needsReview, awaitsEvidence });
    const story = archive.storyById(piece.id);
    if (story === null) throw new Error(`piece ${piece.id} was filed but cannot be read`);
    return { story, changed: true };
  });
}

/** All rules of the filing door that a filing breaks at a time; with `toAir`, also the rules for pieces on air. */
export function doorProblems(
  given: Filing,
  rules: PaperRules,
  { now, toAir }: { now: number; toAir: boolean },
): Problem[] {
  const filing = withRecord(given, rules.fact);
  return [
    ...filingProblems(filing, rules),
    ...timeProblems(filing, now),
    ...(toAir ? sourceFloorProblems(filing, rules) : []),
  ];
}

/** Throws `conflict` unless `from` is the newest revision; 0 stands for a new piece. */
function requireNewest(paper: string, slug: string, from: number, newest: number): void {
  if (from === newest) return;
  throw new Fault(
    'conflict',
    from === 0
      ? `the paper ${paper} has a piece with the slug ${JSON.stringify(slug)} already; choose another slug, or revise that piece`
      : `this revision was made from revision ${from}, but the newest is ${newest || 'none'}; take the newest and make the change again`,
  );
}

/** The problem of a revision that claims to be made later than now. */
function timeProblems({ revised_at }: Filing, now: number): Problem[] {
  if (revised_at === null || revised_at <= now) return [];
  const message = `${isoTime(revised_at)} is in the future; give the time at which the revision was made, or leave it out`;
  return [{ field: 'revised_at', rule: 'time_to_come', message }];
}

function appendGeneration(
  desk: Desk,
  paper: string,
  piece: Piece,
  archive: Archive,
  { by, needsReview, awaitsEvidence }: { by: string; needsReview: boolean; awaitsEvidence: boolean },
): void {
  const { signer, kid, nbf } = desk.signingKey;
  const last = piece.revision === 1 ? undefined : archive.generations(piece.id).at(-1);
  // `filed_at` never decreases over `seq` and never precedes the key's first use, even when the clock was set back.
  const now = desk.now();
  const at = Math.max(now, desk.store.lastFiledAt(paper), nbf);
  const seq = desk.store.nextSeq(paper);
  const content_hash = contentHash(basisOf(piece));
  const of = { paper, seq, content_hash, filed_by: by, kid };
  const { note, receipt_hash } = signReceipt(
    { ...of, piece: piece.id, revision: piece.revision, prev: last?.receipt_hash ?? null, filed_at: isoTime(at) },
    signer,
  );
  const waits = {
    ...(needsReview ? { needs_review: true as const } : {}),
    ...(awaitsEvidence ? { awaits_evidence: true as const } : {}),
  };
  const entry: GenerationEntry = { type: 'generation', at, ...of, piece, receipt: note, receipt_hash, ...waits };
  append(desk.store, entry, now);
}

/** Whether a scheduled revision cites a fact that must be found in its source and has not been found yet. */
function awaitsQuotes(archive: Archive, { persona, cited_facts }: Piece): boolean {
  if (!requiresQuotes(archive.paper(), persona)) return false;
  return cited_facts.some(({ quote = null, instrument, claim_key }) => {
    const state = claim_key === null ? null : archive.factEvidence(claim_key);
    return mustBeFound({ instrument, quote, state }) && !isAccepted(state);
  });
}

/** A new correction note counts as a change. */
function isUnchanged(filing: Filing, old: Piece): boolean {
  return sameContent(old, filing) && (filing.correction === null || filing.correction === old.correction);
}

/**
 * Whether a filing has the same content as a filed one, ignoring when and why a revision was made. Texts that it leaves
 * out of an entry with a claim key are taken from the filed entry with that key.
 */
export function sameContent(filed: Filing, given: Filing): boolean {
  const cited = new Map(filed.cited_facts.map((fact) => [fact.claim_key, { quote: null, ...fact }]));
  const again = withRecord(given, (claim_key) => cited.get(claim_key) ?? null);
  return CONTENT.every((name) => canonicalize(filed[name]) === canonicalize(again[name]));
}

const CONTENT = [
  ...(['slug', 'headline', 'dek', 'prose', 'cited_facts', 'category', 'kind', 'persona'] as const),
  ...(['language', 'image', 'credit', 'authors', 'written_by', 'tags', 'aliases', 'provenance'] as const),
];
