import type { Generation } from './chain.ts';
import { type TimeCorrection, trueIso } from './clock-note.ts';
import { checkNote } from './generation.ts';
import { signingPeriodFaults } from './key-text.ts';
import { parseVkey, thumbprint, type VerifyingKey } from './keyring.ts';
import { parseNote, type Verify } from './note.ts';
import { linesParser, NUMBER, TIME, WORD } from './signed-lines.ts';

/**
 * Reviews (protocol 4.7): who approved a revision, in which role and when. Each is a signed note and a line of the
 * ledger. It states that the desk's server recorded the approval, not that a person signed with a key of their own.
 */

/** The first line of every review. */
export const REVIEW_HEADER = 'review/v1';

/** The content of a review. */
export interface Review {
  paper: string;
  piece: string;
  revision: number;
  /** The reviewer's name as shown to readers: one line, which may have spaces. */
  reviewed_by: string;
  /** The role in which that person approved, in the same form. */
  role: string;
  /** ISO 8601, UTC, milliseconds. */
  reviewed_at: string;
  /** Counts the reviews of the paper, from 1, without gaps. */
  seq: number;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** The signed text, byte for byte. Throws for a value that the format cannot hold, such as a newline in a name. */
export function reviewText(review: Review): string {
  const { paper, piece, revision, reviewed_by, role, reviewed_at, seq, kid } = review;
  const text = `${REVIEW_HEADER}\npaper ${paper}\npiece ${piece}\nrevision ${revision}\nreviewed_by ${reviewed_by}\nrole ${role}\nreviewed_at ${reviewed_at}\nseq ${seq}\nkid ${kid}\n`;
  if (parseReview(text) === null) throw new TypeError(`a review cannot say ${JSON.stringify(text)}`);
  return text;
}

/** The format of a paper's slug and a piece's id. */
const SLUG = '[a-z0-9][a-z0-9-]*';
/** No control characters or line breaks, and no space first or last. */
const NAME = '(?! )[^\\p{Cc}\\u2028\\u2029]{1,200}(?<! )';

const linesIn = linesParser(REVIEW_HEADER, {
  paper: SLUG,
  piece: SLUG,
  revision: NUMBER,
  reviewed_by: NAME,
  role: NAME,
  reviewed_at: TIME,
  seq: NUMBER,
  kid: WORD,
});

/** Parses a review's signed text; null unless it has exactly the form of `reviewText`. */
export function parseReview(text: string): Review | null {
  const lines = linesIn(text);
  return lines === null ? null : { ...lines, revision: Number(lines.revision), seq: Number(lines.seq) };
}

/** Parses a review's note without verifying it; null for any other note. */
export function reviewIn(note: string): Review | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseReview(parsed.text);
}

/** A review as a proof lists it: the note, and the verifier key of its signer. */
export interface ListedReview {
  note: string;
  vkey: string;
}

/**
 * Checks the form, the signature and the time of a review. `fault` says what is wrong; null if nothing is. The caller
 * must check that it belongs to the right piece and came in order.
 */
export function checkReview(
  note: string,
  keys: readonly VerifyingKey[],
  verify: Verify,
): { review: Review | null; fault: string | null } {
  const { said: review, key, fault } = checkNote(note, { parse: parseReview, header: REVIEW_HEADER }, keys, verify);
  if (review === null || key === null || fault !== null) return { review, fault };
  return { review, fault: signingPeriodFaults('reviewed', review.reviewed_at, key)[0] ?? null };
}

/** The piece of a proof, to which the reviews must belong, and what is needed to check them. */
interface Reviewed {
  paper: string | undefined;
  piece: string;
  /** Oldest first, the first one of revision 1. */
  generations: readonly Pick<Generation, 'seq' | 'filed_at'>[];
  keys: readonly VerifyingKey[];
  verify: Verify;
  corrections: readonly TimeCorrection[];
}

/** The faults of a proof's reviews, which must be oldest first; at most one fault per review. */
export function reviewFaults(reviews: readonly ListedReview[], of: Reviewed): string[] {
  let last = 0;
  return reviews.flatMap(({ note, vkey }, at) => {
    const { review, fault } = checkReview(note, of.keys, of.verify);
    const why = review === null || fault !== null ? fault : placeFault(review, vkey, last, of);
    last = review?.seq ?? last;
    return why === null ? [] : [`reviews[${at}]: ${why}`];
  });
}

function placeFault(review: Review, vkey: string, last: number, of: Reviewed): string | null {
  const { paper, piece, revision, reviewed_at, seq, kid } = review;
  const filed = of.generations[revision - 1];
  const key = parseVkey(vkey);
  if (key === null || thumbprint(key.publicKey) !== kid) return 'its vkey is not that of its kid';
  if (paper !== of.paper || piece !== of.piece || filed === undefined)
    return `it is of ${paper}/${piece} revision ${revision}`;
  if (reviewed_at < trueIso(filed.filed_at, filed.seq, of.corrections)) return 'it is older than its revision';
  return seq > last ? null : `seq ${seq} does not come after ${last}`;
}
