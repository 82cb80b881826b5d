import { basisOf, contentHash, type Hashed, sha256 } from './basis.ts';
import { type CheckedReceipt, chainRules, type Generation, generationRules } from './chain.ts';
import {
  CLOCK_HEADER,
  type ClockStatement,
  type Numbered,
  parseClock,
  type TimeCorrection,
  trueIso,
} from './clock-note.ts';
import { verifyNode } from './ed25519.ts';
import { keyOfNote } from './key-text.ts';
import { isSignedBy, type VerifyingKey } from './keyring.ts';
import type { LogService } from './log/leaf.ts';
import { parseNote, type Verify } from './note.ts';
import { parseReceipt, type Receipt } from './receipt.ts';

/** The faults of the chain of one piece's generations, oldest first; empty when there are none. */
export function chainFaults(
  generations: Generation[],
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[] = [],
): string[] {
  return chainRules(
    generations.map((generation) => ({
      generation,
      seen: checkReceipt(generation.receipt, FILED, keys, verify, corrections),
    })),
  );
}

/** Parses a receipt, hashes its signed text and verifies its signature. `timeOf` is the time that it states. */
export function checkReceipt<R extends { kid: string; seq: number }>(
  text: string,
  { parse, timeOf }: { parse(text: string): R | null; timeOf(receipt: R): string },
  keys: VerifyingKey[],
  verify: Verify,
  corrections: readonly TimeCorrection[] = [],
): CheckedReceipt<R> {
  const note = parseNote(text);
  const receipt = note === null ? null : parse(note.text);
  if (note === null || receipt === null) return { receipt: null, hash: '', signature: 'fails', key: null, time: '' };
  const key = keyOfNote(keys, receipt.kid, note);
  const signature = key === null ? 'no_such_key' : isSignedBy(note, key, verify) ? 'holds' : 'fails';
  return { receipt, hash: sha256(note.text), signature, key, time: trueIso(timeOf(receipt), receipt.seq, corrections) };
}

/** How the receipt of a generation is read. */
export const FILED = { parse: parseReceipt, timeOf: ({ filed_at }: Receipt) => filed_at };

/** A generation as the ledger stores it. */
interface AuditedGeneration extends Generation {
  paper: string;
  piece: Hashed & { slug: string };
}

export interface AuditOptions {
  /** Whether to require that time never decreases over `seq` and lies within the key's period. */
  clock?: boolean;
  /** The corrections of the clock for a paper's receipts, or for other numbers of it. */
  corrections?(paper: string, of?: Numbered): readonly TimeCorrection[];
}

/**
 * Audits generations in the order in which they were appended. Keeps only a hash per piece, and a number and a time per
 * paper. Without `clock`, times are not compared: old versions let them decrease while the clock was set back.
 */
export function generationAuditor(keys: VerifyingKey[], { clock = true, corrections = () => [] }: AuditOptions = {}) {
  const last = new Map<string, { paper: string; revision: number; hash: string; time: string }>();
  const seqs = new Map<string, { seq: number; time: string }>();
  return {
    /** The faults of the next generation; empty when there are none. */
    next(generation: AuditedGeneration): string[] {
      const { paper, piece } = generation;
      const trusted = clock ? keys : keys.map(withoutPeriod);
      const seen = checkReceipt(generation.receipt, FILED, trusted, verifyNode, corrections(paper));
      const { receipt, time } = seen;
      const faults = generationRules(generation, seen);
      const at = receipt === null ? generation.filed_at : time;
      const before = last.get(piece.id);
      if (contentHash(basisOf(piece)) !== generation.content_hash) {
        faults.push(`revision ${piece.revision}: content_hash is not the hash of what is stored`);
      }
      if (generation.revision !== (before?.revision ?? 0) + 1) {
        faults.push(`revision ${piece.revision}: it follows revision ${before?.revision ?? 'none'}`);
      }
      if (receipt !== null) {
        if (receipt.paper !== paper || receipt.piece !== piece.id) {
          faults.push(`revision ${piece.revision}: its receipt is of ${receipt.paper}/${receipt.piece}`);
        }
        if (receipt.prev !== (before?.hash ?? null)) {
          faults.push(`revision ${piece.revision}: prev is not the hash of the generation before it`);
        }
        if (clock && before !== undefined && at < before.time) {
          faults.push(`revision ${piece.revision}: it was filed before the generation that it follows`);
        }
      }
      const newest = seqs.get(paper) ?? { seq: 0, time: '' };
      const seq = newest.seq + 1;
      if (generation.seq !== seq) faults.push(`seq is ${generation.seq}, not ${seq}`);
      if (clock && at < newest.time) {
        faults.push(`seq ${generation.seq}: filed at ${at}, before seq ${newest.seq} at ${newest.time}`);
      }
      seqs.set(paper, { seq: generation.seq, time: at });
      last.set(piece.id, {
        paper,
        revision: generation.revision,
        hash: generation.receipt_hash,
        time: at,
      });
      return faults.map((fault) => `${paper}/${piece.slug}: ${fault}`);
    },
    /** The number of the newest generation seen so far; 0 before the first. */
    newestSeq: (paper: string): number => seqs.get(paper)?.seq ?? 0,
    /** The newest revision of a piece seen so far, and its time after corrections; null before the first. */
    newestOf: (piece: string): { paper: string; revision: number; time: string } | null => last.get(piece) ?? null,
    /** Pieces seen so far, with their newest revision. */
    revisions: (): Map<string, number> => new Map([...last].map(([id, { revision }]) => [id, revision])),
  };
}

function withoutPeriod(key: VerifyingKey): VerifyingKey {
  return { ...key, nbf: 0, retired_at: null };
}

/**
 * Parses a note of one kind and checks its signature. `said` is its content, null if it is no such note; `key` is null
 * if unknown; `fault` says what is wrong, null if nothing is.
 */
export function checkNote<T extends { kid: string }>(
  text: string,
  { parse, header }: { parse(text: string): T | null; header: string },
  keys: readonly VerifyingKey[],
  verify: Verify,
): { said: T | null; key: VerifyingKey | null; fault: string | null } {
  const note = parseNote(text);
  const said = note === null ? null : parse(note.text);
  if (note === null || said === null) return { said: null, key: null, fault: `it is not a ${header} note` };
  const key = keyOfNote(keys, said.kid, note);
  if (key === null) return { said, key, fault: `no key with kid ${said.kid} is known` };
  return { said, key, fault: isSignedBy(note, key, verify) ? null : 'the signature does not hold' };
}

/** The content of the valid corrections of a service or a paper, and the faults of the others. */
export function checkClockNotes(
  notes: readonly string[],
  of: { service: LogService; paper: string | null },
  keys: readonly VerifyingKey[],
  verify: Verify,
): { statements: ClockStatement[]; faults: string[] } {
  const statements: ClockStatement[] = [];
  const faults: string[] = [];
  for (const [at, text] of notes.entries()) {
    const { said, fault } = checkNote(text, { parse: parseClock, header: CLOCK_HEADER }, keys, verify);
    const isOf = said !== null && said.service === of.service && said.paper === of.paper;
    if (isOf && fault === null) statements.push(said);
    else faults.push(`clock[${at}]: ${isOf || said === null ? fault : `it is of ${said.paper ?? said.service}`}`);
  }
  return { statements, faults };
}
