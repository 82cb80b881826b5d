import { type Evidence, evidenceText } from '../proof/evidence-note.ts';
import { signNote } from '../proof/signing.ts';
import { isoTime } from '../proof/time.ts';
import { filedAt } from './airing.ts';
import { append } from './append.ts';
import {
  type EvidenceBody,
  type EvidenceState,
  isAccepted,
  requiresQuotes,
  stateAfter,
  subjectNamed,
} from './evidence.ts';
import type { Desk } from './file-story.ts';

/** A fact whose source was read. */
interface ReadFact {
  /** The claim key, or `<piece>/<n>`. */
  subject: string;
  version: number;
  instrument: string;
}

/** What the desk found, as stored in the ledger. */
export interface ReadingFound extends Omit<EvidenceBody, 'note' | 'quoted' | 'released'> {
  status: Evidence['status'];
  /** `sha256:<hex>` of the body and of its text. */
  body: string | null;
  text: string | null;
  quote: Evidence['quote'];
  /** `sha256:<hex>` of the quote to look for; null without one. */
  sought: string | null;
  /** What the note says about the observation; absent for any other response. */
  observed?: NonNullable<Evidence['observation']>;
}

/**
 * Signs what the desk found in the source of a fact, and appends it to the ledger. A scheduled piece that waited only
 * for this reading goes on air if its time has come. Call it in a transaction. Returns the state of the fact.
 */
export function recordReading(desk: Desk, paper: string, fact: ReadFact, found: ReadingFound): EvidenceState {
  const { store } = desk;
  const { status, body, text, quote, sought, observed, ...line } = found;
  const { signer, kid, nbf } = desk.signingKey;
  const now = desk.now();
  const subject = subjectNamed(fact.subject);
  const of = store.archive(paper);
  const made = 'claim_key' in subject ? (of.fact(subject.claim_key)?.signed_at ?? 0) : filedAt(of, subject.piece);
  // A reading is never dated before its fact was filed or its key first used, even when the clock was set back.
  const at = Math.max(now, made, nbf);
  const said = {
    ...{ paper, subject, fact_version: fact.version, instrument: fact.instrument, read_at: isoTime(at) },
    ...{ status, body, text, quote, sought, seq: store.nextEvidenceSeq(paper), kid },
    ...(observed === undefined ? {} : { observation: observed }),
  };
  const quoted = sought !== null;
  const note = signNote(evidenceText(said), signer);
  const before = store.evidenceBefore(paper, fact.subject, fact.version);
  const state = stateAfter(said, { ...line, quoted }, before?.first_text ?? null);
  const released = store
    .waitingFor(paper, fact.subject, fact.version)
    .filter((piece) => isReleased(desk, paper, piece, fact.subject, state));
  const entry: EvidenceBody = { note, quoted, ...line, released };
  append(store, { type: 'record', at, paper, kind: 'evidence', name: fact.subject, body: entry }, now);
  if (!isAccepted(state)) holdBack(desk, paper, fact.subject, at);
  return state;
}

/** Makes scheduled pieces wait again if their sources supported them when they were scheduled, and no longer do. */
function holdBack({ store, now }: Desk, paper: string, subject: string, at: number): void {
  const archive = store.archive(paper);
  for (const { id: piece } of archive.citedBy(subject, 'scheduled')) {
    // Pieces that cite another version are not affected by this reading.
    const isLost = archive
      .quotedFacts(piece)
      .some((fact) => fact.subject === subject && fact.state !== null && !isAccepted(fact.state));
    const isHeld = requiresQuotes(archive.paper(), archive.row(piece)?.persona ?? '');
    if (!isLost || !isHeld || store.awaitsEvidence(piece)) continue;
    const on_air_at = store.pieceState(piece)?.scheduled_at ?? at;
    append(store, { type: 'airing', at, paper, piece, on_air_at, awaits_evidence: true, made_by: 'evidence' }, now());
  }
}

/** Whether a waiting piece has all the evidence that it needs, once a fact has this state. */
function isReleased({ store }: Desk, paper: string, piece: string, subject: string, state: EvidenceState): boolean {
  const archive = store.archive(paper);
  const row = archive.row(piece);
  // The paper's rules may have changed since.
  if (row === null || !requiresQuotes(archive.paper(), row.persona)) return row !== null;
  if (state === 'unverified') return false;
  return archive
    .quotedFacts(piece)
    .map((fact) => (fact.subject === subject ? state : fact.state))
    .every(isAccepted);
}
