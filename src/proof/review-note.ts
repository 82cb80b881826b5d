import { type TimeCorrection, trueIso } from './clock-note.ts';
import { keyOfNote, signingPeriodFaults } from './key-text.ts';
import { isSignedBy, parseVkey, thumbprint, type VerifyingKey } from './keyring.ts';
import { parseNote, type Verify } from './note.ts';
import { parseReceipt } from './receipt.ts';
import { isIsoTime } from './time.ts';

/**
 * Reviews (protocol 4.7): who approved a revision, in which role and when. Each is a signed note and a line of the
 * ledger. It says that the desk's server recorded the approval, not that a person signed with a key of their own.
 */

/** The first line of every review. */
export const REVIEW_HEADER = 'review/v1';

/** What a review says. */
export interface Review {
  paper: string;
  piece: string;
  revision: number;
  /** A name as readers may see it: one line, which may have spaces. */
  reviewed_by: string;
  /** The same of the capacity in which that person approved. */
  role: string;
  /** ISO 8601, UTC, milliseconds. */
  reviewed_at: string;
  /** Counts the reviews of the paper, from 1, without gaps. */
  seq: number;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** The signed text, byte for byte. Throws for a value that has no place in it, such as a newline in a name. */
export function reviewText(review: Review): string {
  const { paper, piece, revision, reviewed_by, role, reviewed_at, seq, kid } = review;
  const text = `${REVIEW_HEADER}\npaper ${paper}\npiece ${piece}\nrevision ${revision}\nreviewed_by ${reviewed_by}\nrole ${role}\nreviewed_at ${reviewed_at}\nseq ${seq}\nkid ${kid}\n`;
  if (parseReview(text) === null) throw new TypeError(`a review cannot say ${JSON.stringify(text)}`);
  return text;
}

// A name begins and ends with a character other than a space, and has no control characters and line breaks. Numbers
// have at most 15 digits, because longer ones lose precision.
const REVIEW_PATTERN =
  /^review\/v1\npaper (?<paper>[a-z0-9][a-z0-9-]*)\npiece (?<piece>[a-z0-9][a-z0-9-]*)\nrevision (?<revision>[1-9]\d{0,14})\nreviewed_by (?<reviewed_by>(?! )[^\p{Cc}\u2028\u2029]{1,200})\nrole (?<role>(?! )[^\p{Cc}\u2028\u2029]{1,200})\nreviewed_at (?<reviewed_at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\nseq (?<seq>[1-9]\d{0,14})\nkid (?<kid>\S+)\n$/u;

/** Parses a review's signed text; null unless it has exactly the form of `reviewText`. */
export function parseReview(text: string): Review | null {
  const lines = REVIEW_PATTERN.exec(text)?.groups as Record<keyof Review, string> | undefined;
  if (lines === undefined || !isIsoTime(lines.reviewed_at)) return null;
  if (lines.reviewed_by.endsWith(' ') || lines.role.endsWith(' ')) return null;
  return { ...lines, revision: Number(lines.revision), seq: Number(lines.seq) };
}

/** What a note says, which is not verified; null when it is no review. */
export function reviewIn(note: string): Review | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseReview(parsed.text);
}

/** A review as a proof lists it: the note, and the verifier key of its signer. */
export interface ListedReview {
  note: string;
  vkey: string;
}

/** The keys under which the reviews of a proof say they are signed, without periods. Omits invalid ones. */
export function keysOfReviews(reviews: readonly ListedReview[]): VerifyingKey[] {
  return reviews
    .map(({ vkey }) => parseVkey(vkey))
    .filter((key) => key !== null)
    .map((key) => ({ ...key, kid: thumbprint(key.publicKey), nbf: 0, retired_at: null }));
}

/**
 * Checks the form and the signature of a review. The second member is what does not hold; null when all does. Whether
 * the review is of the right piece, and came in order, is for the caller to say.
 */
export function checkReview(
  note: string,
  keys: readonly VerifyingKey[],
  verify: Verify,
): { review: Review | null; fault: string | null } {
  const parsed = parseNote(note);
  const review = parsed === null ? null : parseReview(parsed.text);
  if (parsed === null || review === null) return { review: null, fault: 'it is not a review/v1 note' };
  const key = keyOfNote(keys, review.kid, parsed);
  if (key === null) return { review, fault: `no key with kid ${review.kid} is known` };
  if (!isSignedBy(parsed, key, verify)) return { review, fault: 'the signature does not hold' };
  return { review, fault: signingPeriodFaults('reviewed', review.reviewed_at, key)[0] ?? null };
}

/** What a review of a piece must agree with. */
interface Reviewed {
  /** The receipts of the piece, one for each revision, oldest first: notes. */
  receipts: readonly string[];
  keys: readonly VerifyingKey[];
  verify: Verify;
  corrections?: readonly TimeCorrection[];
}

/** The faults of the reviews that a proof lists, oldest first; empty when all hold. */
export function reviewFaults(reviews: readonly ListedReview[], of: Reviewed): string[] {
  const { receipts, keys, verify, corrections = [] } = of;
  const filed = new Map(
    receipts.map((note) => {
      const receipt = parseReceipt(parseNote(note)?.text ?? '');
      return [receipt?.revision, receipt];
    }),
  );
  const faults: string[] = [];
  let last = 0;
  for (const [at, { note, vkey }] of reviews.entries()) {
    const fault = (why: string) => faults.push(`reviews[${at}]: ${why}`);
    const { review, fault: broken } = checkReview(note, keys, verify);
    if (broken !== null) fault(broken);
    if (review === null) continue;
    const key = parseVkey(vkey);
    if (key === null || thumbprint(key.publicKey) !== review.kid) fault("its vkey is not that of the review's key");
    const receipt = filed.get(review.revision) ?? null;
    if (receipt === null) fault(`it is of revision ${review.revision}, which the proof does not have`);
    else if (receipt.paper !== review.paper || receipt.piece !== review.piece)
      fault(`it is of ${review.paper}/${review.piece}, not of ${receipt.paper}/${receipt.piece}`);
    else if (review.reviewed_at < trueIso(receipt.filed_at, receipt.seq, corrections))
      fault(`revision ${review.revision} was reviewed before it was filed`);
    if (review.seq <= last) fault(`seq ${review.seq} does not come after ${last}`);
    last = review.seq;
  }
  return faults;
}
