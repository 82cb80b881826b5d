import { fromBase64, toBase64 } from '../bytes.ts';
import { LogFault, shown } from './log-fault.ts';

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** Parses a number of the C2SP documents: digits without leading zeros. Throws a LogFault that begins with `what`. */
export function readDecimal(text: string, what: string): number {
  if (!DECIMAL.test(text)) {
    throw new LogFault(`${what} ${shown(text)} is not a number in decimal digits without leading zeros`);
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new LogFault(`${what} ${text} is more than ${Number.MAX_SAFE_INTEGER}`);
  return value;
}

/** Length of a SHA-256 hash, in bytes. */
export const HASH_LENGTH = 32;
/** The most hashes in a proof: tlog-witness sends no more, and a tree of 2^63 leaves needs no more. */
const PROOF_MAX = 63;

/** Parses a hash in base64. Throws a LogFault that begins with `what`. */
export function readHash(text: string, what: string): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes?.length !== HASH_LENGTH) throw new LogFault(`${what} ${shown(text)} is not the base64 of 32 bytes`);
  return bytes;
}

/** Parses the hashes of a proof, one per line. Throws a LogFault. */
export function readHashes(lines: string[]): Uint8Array[] {
  if (lines.length > PROOF_MAX) throw new LogFault(`the proof has ${lines.length} hashes; ${PROOF_MAX} are the most`);
  return lines.map((line, at) => readHash(line, `hash ${at + 1} of the proof`));
}

/** The lines of a proof, each with its newline. */
export function hashLines(hashes: Uint8Array[]): string {
  return hashes.map((hash) => `${toBase64(hash)}\n`).join('');
}

/** Maximum length of a log's or a witness's name, in bytes: an ML-DSA-44 cosignature cannot hold a longer one. */
export const NAME_MAX = 255;
