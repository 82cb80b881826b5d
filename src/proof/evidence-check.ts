import { type Basis, sha256 } from './basis.ts';
import type { Generation } from './chain.ts';
import { type TimeCorrection, trueIso } from './clock-note.ts';
import { EVIDENCE_HEADER, type Evidence, parseEvidence } from './evidence-note.ts';
import { checkNote } from './generation.ts';
import { signingPeriodFaults } from './key-text.ts';
import { parseVkey, thumbprint, type VerifyingKey } from './keyring.ts';
import type { Verify } from './note.ts';
import { type CitedObservation, observedFault } from './records/cited-observation.ts';

/** Evidence as a proof lists it: the number of the cited fact, the note, and the verifier key of its signer. */
export interface ListedEvidence {
  n: number;
  note: string;
  vkey: string;
  /** The signed observation that the note names. */
  observation?: CitedObservation;
}

/**
 * Checks the form, the signature and the time of an evidence note. `fault` says what is wrong; null if nothing is. The
 * caller must check that the note belongs to the right fact.
 */
export function checkEvidence(
  note: string,
  keys: readonly VerifyingKey[],
  verify: Verify,
): { evidence: Evidence | null; fault: string | null } {
  const form = { parse: parseEvidence, header: EVIDENCE_HEADER };
  const { said: evidence, key, fault } = checkNote(note, form, keys, verify);
  if (evidence === null || key === null || fault !== null) return { evidence, fault };
  return { evidence, fault: signingPeriodFaults('read', evidence.read_at, key)[0] ?? null };
}

/** The piece of a proof, to whose facts the evidence must belong, and what is needed to check it. */
interface Cited {
  paper: string | undefined;
  piece: string;
  revision: number;
  basis: Pick<Basis, 'cited_facts'>;
  /** Oldest first. */
  generations: readonly Pick<Generation, 'seq' | 'filed_at'>[];
  keys: readonly VerifyingKey[];
  verify: Verify;
  corrections: readonly TimeCorrection[];
}

/** The faults of a proof's evidence, in the order of the cited facts, at most one fault per note. */
export function evidenceFaults(listed: readonly ListedEvidence[], of: Cited): string[] {
  let last = 0;
  return listed.flatMap(({ n, note, vkey, observation }, at) => {
    const { evidence, fault } = checkEvidence(note, of.keys, of.verify);
    const why =
      evidence === null || fault !== null
        ? fault
        : (subjectFault(evidence, n, vkey, last, of) ?? observedFault(evidence, observation, of.verify));
    last = n;
    return why === null ? [] : [`evidence[${at}]: ${why}`];
  });
}

function subjectFault(evidence: Evidence, n: number, vkey: string, last: number, of: Cited): string | null {
  const { paper, subject, instrument, fact_version, read_at, kid } = evidence;
  const key = parseVkey(vkey);
  if (key === null || thumbprint(key.publicKey) !== kid) return 'its vkey is not that of its kid';
  if (paper !== of.paper) return `it is of the paper ${paper}`;
  const facts = Array.isArray(of.basis.cited_facts) ? of.basis.cited_facts : [];
  const fact = facts.find((one) => one?.n === n);
  if (fact === undefined) return `the piece cites no fact ${n}`;
  if (n <= last) return `fact ${n} does not come after ${last}`;
  if (fact.instrument !== instrument) return `its instrument is ${instrument}, not that of fact ${n}`;
  const quote = typeof fact.quote === 'string' ? sha256(fact.quote) : null;
  // An entry with a claim key may leave out the quote of its fact.
  const isFree = evidence.sought === undefined || (quote === null && 'claim_key' in subject);
  if (!isFree && evidence.sought !== quote) return `it looked for a different quote than that of fact ${n}`;
  if ('claim_key' in subject) {
    return fact.claim_key === subject.claim_key ? null : `it is of the fact ${subject.claim_key}`;
  }
  if (subject.piece !== of.piece || subject.n !== n) return `it is of ${subject.piece} fact ${subject.n}`;
  if (fact_version !== of.revision) return `it is of revision ${fact_version}`;
  const filed = of.generations.at(-1);
  const isOlder = filed !== undefined && read_at < trueIso(filed.filed_at, filed.seq, of.corrections);
  return isOlder ? 'it is older than its revision' : null;
}
