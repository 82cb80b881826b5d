import * as z from 'zod';
import { FACT_STATUSES, type FactVersion } from '../proof/fact-note.ts';
import { Fault, refusalOf } from '../shared/fault.ts';
import type { Problem } from '../shared/shape.ts';
import { lineProblems } from '../shared/shown-text.ts';
import { append } from './append.ts';
import { isClaimKey } from './door/claims.ts';
import { instrumentProblems } from './door/door.ts';
import { MAX } from './door/piece.ts';
import type { CitingRow, FactRow } from './fact.ts';
import type { Desk } from './file-story.ts';
import { filledLine, line } from './line.ts';
import { freePlace } from './placing.ts';
import { signFact } from './signing-facts.ts';

const text = (max: number, description: string) => filledLine(max).optional().meta({ description });

/** The body of `PUT /api/v1/facts/{claim_key}`. Omitted members keep their values. */
export const FactOrder = z
  .strictObject({
    version: z
      .int()
      .min(1)
      .meta({ description: 'The version that this one was made from; 409 if a newer one exists.' }),
    statement: text(MAX.statement, 'What holds.'),
    source: text(MAX.source, 'The publisher.'),
    instrument: text(MAX.instrument, 'The document that says it: an address or a name.'),
    quote: line(MAX.quote).nullable().optional().meta({
      description: 'The words of the document that support the statement; null for none.',
    }),
    status: z.enum(FACT_STATUSES).optional().meta({
      description:
        'Omitted: `corrected`. `retracted` for a fact that is not true: no piece may be filed with it any more. `standing` when the fact was right all along and only its source has moved, or to undo a retraction.',
    }),
    note: filledLine(MAX.correction).meta({ description: 'What was wrong, in one line; readers will see it.' }),
  })
  .meta({
    id: 'FactOrder',
    description: 'A new version of a fact.',
    example: {
      version: 2,
      statement: 'The metre was redefined in 1983.',
      note: 'The year was 1960, of an earlier definition.',
    },
  });
export type FactOrder = z.infer<typeof FactOrder>;

/** Maximum number of pieces that a correction lists. */
const OUTDATED_MAX = 1_000;

/** The result of a correction. */
export interface CorrectedFact {
  fact: FactRow;
  /** The pieces, on air or not, that cite an older version, newest first, at most `OUTDATED_MAX`. */
  outdated: CitingRow[];
  /** The pieces whose schedule was cancelled, with the reason. They need a revision without the retracted fact. */
  unscheduled: { id: string; slug: string; reason: string }[];
}

/**
 * Makes a new version of a fact; older versions are kept. Pieces keep the version that they were filed with, and their
 * pages say what became of it. A retraction cancels the schedules of the pieces that cite the fact; any new version
 * cancels those of pieces that wait for evidence of an older one. Throws `not_found`; `conflict` when `version` is not
 * the newest; `refused_by_door` for texts that cannot be published and for an order that changes nothing.
 */
export function correctFact(
  desk: Desk,
  paper: string,
  claim_key: string,
  order: FactOrder & { by: string },
): CorrectedFact {
  const { store } = desk;
  return store.transact(() => {
    const archive = store.archive(paper);
    const before = requireFact(paper, claim_key, archive.fact(claim_key));
    if (order.version !== before.version) {
      const message = `version ${order.version} of ${claim_key} is not the newest, which is ${before.version}; read that one and make the change again`;
      throw new Fault('conflict', message, { field: 'version' });
    }
    const next = nextVersion(before, order);
    const problems = orderProblems(before, next);
    if (problems.length > 0) throw refusalOf(problems);
    signFact(desk, paper, next, order.by);
    const unscheduled = unschedule(desk, paper, next, order.by);
    const fact = requireFact(paper, claim_key, archive.fact(claim_key));
    return { fact, outdated: archive.citedBy(claim_key, 'outdated', { limit: OUTDATED_MAX }), unscheduled };
  });
}

export function requireFact(paper: string, claim_key: string, fact: FactRow | null): FactRow {
  if (fact !== null) return fact;
  const why = isClaimKey(claim_key) ? '' : '; a claim key has words of a–z and 0–9 joined by single hyphens';
  throw new Fault('not_found', `the paper ${paper} has no fact ${JSON.stringify(claim_key.slice(0, 100))}${why}`);
}

function nextVersion(before: FactRow, order: FactOrder): FactVersion {
  const { claim_key, version } = before;
  const { statement = before.statement, source = before.source, instrument = before.instrument } = order;
  const { quote = before.quote, status = 'corrected', note } = order;
  return {
    claim_key,
    version: version + 1,
    statement,
    source,
    instrument,
    quote: quote === '' ? null : quote,
    status,
    note,
  };
}

const CONTENT = ['statement', 'source', 'instrument', 'quote', 'status'] as const;

function orderProblems(before: FactRow, next: FactVersion): Problem[] {
  const { statement, source, instrument, quote, status, note } = next;
  const problems = [
    ...lineProblems('statement', statement, MAX.statement, true),
    ...lineProblems('source', source, MAX.source, true),
    ...lineProblems('instrument', instrument, MAX.instrument, true),
    ...(quote === null ? [] : lineProblems('quote', quote, MAX.quote, false)),
    ...lineProblems('note', note ?? '', MAX.correction, true),
    ...instrumentProblems('instrument', instrument),
  ];
  const isSame = CONTENT.every((name) => name === 'status' || next[name] === before[name]);
  if (isSame && (status === before.status || status === 'corrected')) {
    const message = `this is what version ${before.version} says already; give what is to be changed: statement, source, instrument, quote, or status retracted`;
    problems.push({ field: 'statement', rule: 'nothing_changed', message });
  }
  if (status === 'retracted' && statement !== before.statement) {
    // Otherwise the next version could declare this statement valid although readers were never told of it.
    const message =
      'a retraction declares the existing statement invalid; leave statement out, or leave status out to correct it';
    problems.push({ field: 'statement', rule: 'statement_changed', message });
  }
  if (status === 'standing' && statement !== before.statement) {
    const message =
      'a fact cannot change its statement and stay standing; leave status out, and pieces that cite the old statement will say that it was corrected';
    problems.push({ field: 'status', rule: 'statement_changed', message });
  }
  return problems;
}

/**
 * Cancels the schedules of pieces that cite a retracted fact, and of pieces that wait for evidence of an older version,
 * whose source will no longer be read.
 */
function unschedule(
  { store, now }: Desk,
  paper: string,
  { claim_key, note, status }: FactVersion,
  by: string,
): CorrectedFact['unscheduled'] {
  const archive = store.archive(paper);
  const isLate = (piece: string) =>
    store.awaitsEvidence(piece) &&
    archive.quotedFacts(piece).some((fact) => fact.subject === claim_key && fact.is_late);
  const was = status === 'retracted' ? 'retracted' : 'corrected before its source was read';
  // Cutting may leave half of a surrogate pair, which the ledger rejects.
  const reason = `It cites ${claim_key}, which was ${was}: ${note}`.slice(0, MAX.correction).replace(/\p{Cs}$/u, '');
  const waiting = archive.citedBy(claim_key, 'scheduled').filter(({ id }) => status === 'retracted' || isLate(id));
  for (const { id: piece } of waiting) {
    append(store, { type: 'withdrawal', at: now(), paper, piece, reason, made_by: by }, now());
    freePlace(store, paper, piece, now());
  }
  return waiting.map(({ id, slug }) => ({ id, slug, reason }));
}
