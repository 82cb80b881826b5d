import { factHash, factNoteHash } from '../proof/fact-hash.ts';
import { type FactVersion, factText } from '../proof/fact-note.ts';
import { type Signer, signNote } from '../proof/signing.ts';
import { isoTime } from '../proof/time.ts';
import { append } from './append.ts';
import type { Piece } from './door/piece.ts';
import type { FactBody } from './fact.ts';
import type { LedgerStore } from './ledger-store.ts';

/** The parts of a desk that signing a fact uses. */
interface FactDesk {
  store: LedgerStore;
  readonly signingKey: { signer: Signer; kid: string; nbf: number };
  now(): number;
}

/** Records the facts that a piece cites by keys new to the record; each becomes a first version. */
export function recordFacts(
  desk: FactDesk,
  paper: string,
  { cited_facts }: Pick<Piece, 'cited_facts'>,
  by: string,
): void {
  for (const { claim_key, statement, source, instrument, quote = null } of cited_facts) {
    if (claim_key === null || desk.store.archive(paper).fact(claim_key) !== null) continue;
    signFact(
      desk,
      paper,
      { claim_key, version: 1, statement, source, instrument, quote, status: 'standing', note: null },
      by,
    );
  }
}

/** Signs a version and appends it to the ledger. */
export function signFact(
  { store, signingKey, now: clock }: FactDesk,
  paper: string,
  fact: FactVersion,
  by: string,
): void {
  const { signer, kid, nbf } = signingKey;
  const now = clock();
  const at = Math.max(now, nbf);
  const { claim_key, ...content } = fact;
  const before = fact.version === 1 ? undefined : store.archive(paper).factVersions(claim_key).at(-1);
  const receipt = signNote(
    factText({
      ...{ paper, claim_key, version: fact.version, fact_hash: factHash(fact) },
      ...{ prev: before === undefined ? null : factNoteHash(before.receipt), seq: store.nextFactSeq(paper) },
      ...{ signed_at: isoTime(at), signed_by: by, kid },
    }),
    signer,
  );
  const body: FactBody = { ...content, receipt };
  append(store, { type: 'record', at, paper, kind: 'fact', name: claim_key, body }, now);
}
