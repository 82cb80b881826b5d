import { contentHash } from '../proof/basis.ts';
import type { Numbered } from '../proof/clock-note.ts';
import { verifyNode } from '../proof/ed25519.ts';
import { checkEvidence } from '../proof/evidence-check.ts';
import { checkFact } from '../proof/fact-document.ts';
import { factNoteHash } from '../proof/fact-hash.ts';
import { type AuditOptions, checkClockNotes, generationAuditor } from '../proof/generation.ts';
import { keyFaults, type VerifyingKey } from '../proof/keyring.ts';
import type { LogService } from '../proof/log/leaf.ts';
import { mismatches } from '../proof/members.ts';
import { CITED_OBSERVATION, observedFault } from '../proof/records/cited-observation.ts';
import { checkReview } from '../proof/review-note.ts';
import { isoTime } from '../proof/time.ts';
import type { ClockBody } from './clock-correction.ts';
import { type EvidenceBody, subjectName } from './evidence.ts';
import { factOf, type SignedFact } from './fact.ts';
import type { GenerationEntry, KeyEntry, LedgerEntry, RecordEntry } from './ledger-entry.ts';
import type { ReviewBody } from './review.ts';

/** Checks the keys, receipts and chains of ledger entries, one entry at a time. `keys` may grow while it runs. */
export function generationAudit(
  keys: VerifyingKey[],
  options: AuditOptions = {},
): { next(entry: LedgerEntry): string[]; revisions(): Map<string, number> } {
  const audit = generationAuditor(keys, options);
  const reviews = reviewAuditor(keys, audit.newestOf, options);
  const facts = factAuditor(keys, options);
  const evidence = evidenceAuditor(keys, options);
  return {
    next(entry) {
      if (entry.type === 'key') return keyFaults(verifyingKeyOf(entry));
      if (entry.type === 'record' && entry.kind === 'clock')
        return clockFaults(entry, keys, { receipts: audit.newestSeq, facts: facts.newestSeq });
      if (entry.type === 'record' && entry.kind === 'review') return reviews(entry);
      if (entry.type === 'record' && entry.kind === 'fact') evidence.noteFact(entry);
      if (entry.type === 'record' && entry.kind === 'evidence') return evidence.next(entry);
      if (entry.type === 'record' && entry.kind === 'fact') return facts.next(entry);
      if (entry.type !== 'generation') return [];
      const faults = audit.next({ ...entry, revision: entry.piece.revision, filed_at: isoTime(entry.at) });
      evidence.notePiece(entry);
      return [...faults, ...facts.cited(entry)];
    },
    revisions: audit.revisions,
  };
}

/**
 * Numbers the notes of one kind in each paper. `next` also returns the keys that may have signed the note, read anew
 * each time because `keys` grows.
 */
function noteCounter(keys: VerifyingKey[], clock: boolean) {
  const seqs = new Map<string, number>();
  const newest = (paper: string): number => seqs.get(paper) ?? 0;
  return {
    newest,
    next(paper: string): { seq: number; trusted: VerifyingKey[] } {
      const seq = newest(paper) + 1;
      seqs.set(paper, seq);
      return { seq, trusted: clock ? keys : keys.map((key) => ({ ...key, nbf: 0, retired_at: null })) };
    },
  };
}

/** Checks the number and the time of a note against its line. */
function lineFaults(said: { seq: number; time: string }, line: { seq: number; time: string }): string[] {
  return [
    ...(said.seq === line.seq ? [] : [`seq is ${said.seq}, not ${line.seq}`]),
    ...(said.time === line.time ? [] : [`it says ${said.time}, and its line ${line.time}`]),
  ];
}

/** Returns a function that checks the next review of a ledger and returns its faults. */
function reviewAuditor(
  keys: VerifyingKey[],
  newestOf: ReturnType<typeof generationAuditor>['newestOf'],
  { clock = true }: AuditOptions,
) {
  const count = noteCounter(keys, clock);
  return (entry: RecordEntry): string[] => {
    const { paper, name, body, at } = entry;
    const { seq, trusted } = count.next(paper);
    const { review, fault } = checkReview((body as ReviewBody).note, trusted, verifyNode);
    const faults = fault === null ? [] : [fault];
    const newest = newestOf(name);
    if (review !== null) {
      if (review.paper !== paper || review.piece !== name || newest?.paper !== paper)
        faults.push(`it is of ${review.paper}/${review.piece}`);
      else if (review.revision !== newest.revision)
        faults.push(`it is of revision ${review.revision}, but the newest was ${newest.revision}`);
      else if (clock && review.reviewed_at < newest.time) faults.push('it was made before its revision was filed');
      faults.push(...lineFaults({ seq: review.seq, time: review.reviewed_at }, { seq, time: isoTime(at) }));
    }
    return faults.map((fault) => `review ${seq} of ${paper}: ${fault}`);
  };
}

/** The hash of the texts that an entry must repeat from a version of a fact. */
const textHash = ({ statement, source, instrument }: Pick<SignedFact, 'statement' | 'source' | 'instrument'>): string =>
  contentHash([statement, source, instrument]);

/** Checks the versions of facts in the order in which they were appended, and that generations cite the newest ones. */
function factAuditor(keys: VerifyingKey[], { clock = true, corrections = () => [] }: AuditOptions) {
  const count = noteCounter(keys, clock);
  const newest = new Map<
    string,
    { version: number; prev: string; texts: string; quote: string | null; isRetracted: boolean }
  >();
  return {
    next(entry: RecordEntry): string[] {
      const { paper, name, at } = entry;
      const fact = factOf(entry);
      const before = newest.get(`${paper}\n${name}`);
      const { seq, trusted } = count.next(paper);
      const { said, faults } = checkFact(fact, fact.receipt, {
        ...{ keys: trusted, verify: verifyNode, corrections: corrections(paper, 'facts') },
      });
      if (fact.version !== (before?.version ?? 0) + 1) faults.push(`it follows version ${before?.version ?? 'none'}`);
      if (said !== null) {
        if (said.paper !== paper) faults.push(`it is of ${said.paper}`);
        if (said.prev !== (before?.prev ?? null)) faults.push('prev is not the hash of the version before it');
        faults.push(...lineFaults({ seq: said.seq, time: said.signed_at }, { seq, time: isoTime(at) }));
      }
      const { version, quote, status } = fact;
      const of = { version, quote, isRetracted: status === 'retracted', texts: textHash(fact) };
      newest.set(`${paper}\n${name}`, { ...of, prev: factNoteHash(fact.receipt) });
      return faults.map((fault) => `version ${version} of ${paper}/${name}: ${fault}`);
    },
    newestSeq: count.newest,
    /** Checks cited keys only after a paper's first fact: entries filed earlier had no record to refer to. */
    cited({ paper, piece }: GenerationEntry): string[] {
      if (count.newest(paper) === 0) return [];
      return piece.cited_facts.flatMap((fact) => {
        if (fact.claim_key === null) return [];
        const record = newest.get(`${paper}\n${fact.claim_key}`);
        const why =
          record === undefined
            ? 'which is not in the record'
            : record.isRetracted
              ? 'which was retracted'
              : textHash(fact) !== record.texts || (fact.quote !== undefined && fact.quote !== record.quote)
                ? `and differs from its version ${record.version}`
                : null;
        return why === null
          ? []
          : [`${paper}/${piece.slug} revision ${piece.revision}: entry ${fact.n} cites ${fact.claim_key}, ${why}`];
      });
    },
  };
}

/** Checks readings in the order in which they were appended, and that the cited fact or piece was filed before. */
function evidenceAuditor(keys: VerifyingKey[], { clock = true }: AuditOptions) {
  const count = noteCounter(keys, clock);
  /** The instruments of the newest version of each fact and the newest revision of each piece. */
  const known = new Map<string, { version: number; instruments: Map<string, string> }>();
  return {
    noteFact(entry: RecordEntry): void {
      const { version, instrument } = factOf(entry);
      const instruments = new Map([[entry.name, instrument]]);
      known.set(`${entry.paper}\n${entry.name}`, { version, instruments });
    },
    notePiece({ paper, piece }: GenerationEntry): void {
      const instruments = new Map(piece.cited_facts.map(({ n, instrument }) => [`${piece.id}/${n}`, instrument]));
      known.set(`${paper}\n${piece.id}`, { version: piece.revision, instruments });
    },
    next(entry: RecordEntry): string[] {
      const { paper, name, body, at } = entry;
      const { seq, trusted } = count.next(paper);
      const { evidence, fault } = checkEvidence((body as EvidenceBody).note, trusted, verifyNode);
      const faults = fault === null ? [] : [fault];
      if (evidence !== null) {
        const of = known.get(`${paper}\n${name.split('/')[0]}`);
        if (evidence.paper !== paper || subjectName(evidence.subject) !== name || of === undefined)
          faults.push(`it is of ${evidence.paper}/${subjectName(evidence.subject)}`);
        else if (evidence.fact_version !== of.version)
          faults.push(`it is of version ${evidence.fact_version}, but the newest was ${of.version}`);
        else if (evidence.instrument !== of.instruments.get(name))
          faults.push(`it is of the instrument ${evidence.instrument}`);
        const { observation } = body as EvidenceBody;
        const [misshapen] = observation === undefined ? [] : mismatches(observation, CITED_OBSERVATION);
        const unseen = misshapen ?? observedFault(evidence, observation, verifyNode);
        if (unseen !== null) faults.push(unseen);
        faults.push(...lineFaults({ seq: evidence.seq, time: evidence.read_at }, { seq, time: isoTime(at) }));
      }
      return faults.map((one) => `evidence ${seq} of ${paper}: ${one}`);
    },
  };
}

/** Checks a correction of the clock and returns its faults. The desk's keys also sign those of the domain records. */
function clockFaults(
  entry: RecordEntry,
  keys: VerifyingKey[],
  newestSeq: Record<Numbered, (paper: string) => number>,
): string[] {
  const { paper, name, body, at } = entry;
  const of = { service: name as LogService, paper: paper === '' ? null : paper };
  const { statements, faults } = checkClockNotes([(body as ClockBody).note], of, keys, verifyNode);
  for (const { true_time, of: counted, seqs } of statements) {
    if (true_time !== isoTime(at)) faults.push(`it says ${true_time}, and its line ${isoTime(at)}`);
    if (paper !== '' && seqs !== null && seqs.last !== newestSeq[counted](paper))
      faults.push(`it ends at seq ${seqs.last}`);
  }
  return faults.map((fault) => `correction of the clock for ${paper || name}: ${fault}`);
}

/** A key as its entry lists it, before any retirement. */
export function verifyingKeyOf({ kid, name, public_key, at }: KeyEntry): VerifyingKey {
  return { kid, name, publicKey: new Uint8Array(Buffer.from(public_key, 'base64')), nbf: at, retired_at: null };
}
