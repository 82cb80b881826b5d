import { CLAIM_KEY, CLAIM_KEY_MAX } from './fact-note.ts';
import { parseNote } from './note.ts';
import { HASH, linesParser, NUMBER, PREVIOUS, TIME, WORD } from './signed-lines.ts';

/**
 * Evidence (protocol 4.9): what a desk found when it read the source of a cited fact. Each reading is a signed note and
 * a line of the ledger. It states what the desk's server received from an address at a time, not that the source is
 * right.
 */

/** The first line of every evidence note. */
export const EVIDENCE_HEADER = 'evidence/v1';

/** The fact that was looked up: one of the fact record, or one that a piece cites without a key. */
export type EvidenceSubject = { claim_key: string } | { piece: string; n: number };

/** The content of an evidence note. */
export interface Evidence {
  paper: string;
  subject: EvidenceSubject;
  /** The version of the fact, or the revision of the piece. */
  fact_version: number;
  /** The address that was read, exactly as in the fact. */
  instrument: string;
  /** ISO 8601, UTC, milliseconds. */
  read_at: string;
  /** The HTTP status of a response that was read; `gone` for 404 and 410, `unread` for anything else. */
  status: number | 'unread' | 'gone';
  /** `sha256:<hex>` of the body without transfer coding; null if no body was read. */
  body: string | null;
  /** `sha256:<hex>` of the body's text in UTF-8; null if it has none. */
  text: string | null;
  /**
   * The position of the quote in the text, in UTF-8 bytes, `end` exclusive; null if it was not found, or none was
   * given.
   */
  quote: { start: number; end: number } | null;
  /** `sha256:<hex>` of the quote to look for, in UTF-8; null without a quote. Absent in notes older than this line. */
  sought?: string | null;
  /**
   * If the address returned a signed observation: the hash of its receipt's text, and the verifier key that verified
   * it. `unverified` for one that failed verification. Absent for any other response.
   */
  observation?: { receipt: string; observed_by: string } | 'unverified';
  /** Counts the readings of the paper, from 1, without gaps. */
  seq: number;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/**
 * The signed text, byte for byte. Throws for a value that the format cannot hold, such as a line feed in an instrument.
 */
export function evidenceText(evidence: Evidence): string {
  const { paper, subject, fact_version, instrument, read_at, status, body, text, quote, sought, seq, kid } = evidence;
  const fact = 'claim_key' in subject ? `claim_key ${subject.claim_key}` : `piece ${subject.piece} fact ${subject.n}`;
  const place = quote === null ? 'none' : `${quote.start}-${quote.end}`;
  const later = `${sought === undefined ? '' : `sought ${sought ?? 'none'}\n`}${observationLines(evidence)}`;
  const said = `${EVIDENCE_HEADER}\npaper ${paper}\n${fact}\nfact_version ${fact_version}\ninstrument ${instrument}\nread_at ${read_at}\nstatus ${status}\nbody ${body ?? 'none'}\ntext ${text ?? 'none'}\nquote ${place}\n${later}seq ${seq}\nkid ${kid}\n`;
  if (parseEvidence(said) === null) throw new TypeError(`evidence cannot say ${JSON.stringify(said)}`);
  return said;
}

function observationLines({ observation }: Evidence): string {
  if (observation === undefined) return '';
  if (observation === 'unverified') return 'observation unverified\n';
  return `observation ${observation.receipt}\nobserved_by ${observation.observed_by}\n`;
}

/** The format of a paper's slug and a piece's id. */
const SLUG = '[a-z0-9][a-z0-9-]*';
/** A byte offset in a text: less than 10^15. */
const OFFSET = '(?:0|[1-9]\\d{0,14})';

const REST = {
  fact_version: NUMBER,
  /** No white space, so that the value ends with the line. */
  instrument: '[^\\s\\p{Cc}]{1,2000}',
  read_at: TIME,
  status: '2\\d\\d|unread|gone',
  body: PREVIOUS,
  text: PREVIOUS,
  quote: `none|${OFFSET}-${NUMBER}`,
  sought: PREVIOUS,
  observation: `unverified|${HASH}`,
  observed_by: WORD,
  seq: NUMBER,
  kid: WORD,
};
const LATER = ['sought', 'observation', 'observed_by'] as const;
const keyedIn = linesParser(EVIDENCE_HEADER, { paper: SLUG, claim_key: CLAIM_KEY, ...REST }, LATER);
const unkeyedIn = linesParser(EVIDENCE_HEADER, { paper: SLUG, piece: `${SLUG} fact ${NUMBER}`, ...REST }, LATER);

const orNull = (text: string): string | null => (text === 'none' ? null : text);

/** Parses the signed text of evidence; null unless it has exactly the form of `evidenceText`. */
export function parseEvidence(text: string): Evidence | null {
  const [keyed, unkeyed] = [keyedIn(text), unkeyedIn(text)];
  const lines = keyed ?? unkeyed;
  if (lines === null || (keyed !== null && keyed.claim_key.length > CLAIM_KEY_MAX)) return null;
  const [piece = '', n] = unkeyed?.piece.split(' fact ') ?? [];
  const subject = keyed === null ? { piece, n: Number(n) } : { claim_key: keyed.claim_key };
  const { paper, instrument, read_at, kid } = lines;
  const status = lines.status === 'unread' || lines.status === 'gone' ? lines.status : Number(lines.status);
  const [body, digest] = [orNull(lines.body), orNull(lines.text)];
  const [start = 0, end = 0] = lines.quote === 'none' ? [] : lines.quote.split('-').map(Number);
  const quote = lines.quote === 'none' ? null : { start, end };
  // Without a status there is no body, without a body no text, and without a text no quote.
  if ((typeof status === 'number') !== (body !== null)) return null;
  if ((body === null && digest !== null) || (quote !== null && (digest === null || end <= start))) return null;
  const { sought, observation: seen, observed_by } = lines;
  // A quote has a position only if one was looked for. A verified observation has a text, an unverified one has none.
  if (sought === 'none' && quote !== null) return null;
  if ((observed_by !== undefined) !== (seen !== undefined && seen !== 'unverified')) return null;
  if (seen !== undefined && (body === null || (digest === null) !== (seen === 'unverified'))) return null;
  const observation = observed_by === undefined ? ('unverified' as const) : { receipt: seen ?? '', observed_by };
  const fact_version = Number(lines.fact_version);
  return {
    ...{ paper, subject, fact_version, instrument, read_at, status },
    ...{ body, text: digest, quote, seq: Number(lines.seq), kid },
    ...(sought === undefined ? {} : { sought: orNull(sought) }),
    ...(seen === undefined ? {} : { observation }),
  };
}

/** Parses an evidence note without verifying it; null for any other note. */
export function evidenceIn(note: string): Evidence | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseEvidence(parsed.text);
}
