import { parseNote } from './note.ts';
import { HASH, linesParser, NUMBER, PREVIOUS, TIME, WORD } from './signed-lines.ts';

/**
 * Facts (protocol 4.8) that a paper's pieces cite by a claim key. Each version is a signed note and a line of the
 * ledger. It proves what the desk recorded and when, not that the fact is true.
 */

/** The first line of every version's note. */
export const FACT_HEADER = 'fact/v1';

export const FACT_STATUSES = ['standing', 'corrected', 'retracted'] as const;
export type FactStatus = (typeof FACT_STATUSES)[number];

/** The form of a claim key: words of a–z and 0–9, joined by single hyphens. */
export const CLAIM_KEY = '[a-z0-9]+(?:-[a-z0-9]+)*';
/** Maximum length of a claim key. */
export const CLAIM_KEY_MAX = 80;

/** The content of a fact's version. */
export interface FactVersion {
  claim_key: string;
  /** From 1. */
  version: number;
  statement: string;
  /** The publisher. */
  source: string;
  /** The document: an address, or its name. */
  instrument: string;
  /** The passage of the document on which the statement rests; null if none was given. */
  quote: string | null;
  status: FactStatus;
  /** Why this version was made; null for the first. */
  note: string | null;
}

/** The content of a version's note. */
export interface FactNote {
  paper: string;
  claim_key: string;
  version: number;
  /** See `factHash` (`fact-hash.ts`). */
  fact_hash: string;
  /** Hash of the previous version's signed text; null for the first. */
  prev: string | null;
  /** Numbers all fact versions of the paper, from 1, without gaps. */
  seq: number;
  /** ISO 8601, UTC, milliseconds. */
  signed_at: string;
  /** Who made it: `key:<id>` or `cli`. */
  signed_by: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** The signed text, byte for byte. Throws for a value that the format cannot hold. */
export function factText(fact: FactNote): string {
  const { paper, claim_key, version, fact_hash, prev, seq, signed_at, signed_by, kid } = fact;
  const text = `${FACT_HEADER}\npaper ${paper}\nclaim_key ${claim_key}\nversion ${version}\nfact_hash ${fact_hash}\nprev ${prev ?? 'none'}\nseq ${seq}\nsigned_at ${signed_at}\nsigned_by ${signed_by}\nkid ${kid}\n`;
  if (parseFact(text) === null) throw new TypeError(`a fact cannot say ${JSON.stringify(text)}`);
  return text;
}

const linesIn = linesParser(FACT_HEADER, {
  paper: '[a-z0-9][a-z0-9-]*',
  claim_key: CLAIM_KEY,
  version: NUMBER,
  fact_hash: HASH,
  prev: PREVIOUS,
  seq: NUMBER,
  signed_at: TIME,
  signed_by: WORD,
  kid: WORD,
});

/** Parses a version's signed text; null unless it has exactly the form of `factText`. */
export function parseFact(text: string): FactNote | null {
  const lines = linesIn(text);
  if (lines === null || lines.claim_key.length > CLAIM_KEY_MAX) return null;
  const { version, prev, seq } = lines;
  // Only the first version has no previous one.
  if ((version === '1') !== (prev === 'none')) return null;
  return { ...lines, version: Number(version), prev: prev === 'none' ? null : prev, seq: Number(seq) };
}

/** Parses a fact version's note without verifying it; null for any other note. */
export function factIn(note: string): FactNote | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseFact(parsed.text);
}
