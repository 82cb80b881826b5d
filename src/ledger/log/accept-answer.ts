import type { VerifierKey } from '../key-text.ts';
import type { SignatureLine } from '../note.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import type { LogCrypto } from './log-crypto.ts';
import { LogFault, shown } from './log-fault.ts';
import { signedBy } from './signatures.ts';
import { WitnessAhead } from './witness-fault.ts';

/** Validates a witness's response on behalf of a log. */

/** How far a witness's clock may be ahead of this one, in seconds. */
const AHEAD_MAX = 300;

/**
 * When the witness cosigned the checkpoint, in seconds since 1970. Ignores lines by other keys, as tlog-witness
 * requires. Throws a LogFault unless one line is the witness's cosignature, with a time that is not in the future.
 * `now` is in milliseconds.
 */
export async function cosignedAt(
  lines: SignatureLine[],
  checkpoint: SignedCheckpoint,
  key: VerifierKey,
  now: number,
  crypto: LogCrypto,
): Promise<number> {
  const answered: SignedCheckpoint = { ...checkpoint, note: { text: checkpoint.note.text, signatures: lines } };
  const signed = await signedBy(answered, key, crypto);
  if (signed.by === 'unchecked') {
    throw new LogFault(`the response is signed by ${shown(key.name)} with ML-DSA-44, which cannot be checked here`);
  }
  if (signed.by === 'nobody') {
    const names = [...new Set(lines.map(({ name }) => name))];
    throw new LogFault(`the response is not signed by ${shown(key.name)} but by ${shown(names.join(', '))}`);
  }
  const time = signed.time ?? 0;
  if (time === 0) throw new LogFault(`the cosignature of ${shown(key.name)} has no time`);
  if (time > now / 1_000 + AHEAD_MAX) {
    const [then, today] = [time * 1_000, now].map((ms) => new Date(ms).toISOString());
    throw new LogFault(`the cosignature of ${shown(key.name)} is of ${then}, and it is ${today}`);
  }
  return time;
}

/**
 * The size from which the proof must lead when a request is sent again after a 409. `size` is that of the log's newest
 * head, and `seen` the largest size that this witness has reported, 0 for a new witness. Throws a LogFault when the
 * witness reports a smaller size than before, and a WitnessAhead when it reports a larger one than that of the newest
 * head.
 */
export function sizeToProveFrom(witnessSize: number, size: number, seen: number): number {
  if (witnessSize > size) {
    throw new WitnessAhead(`the witness has seen a tree of ${witnessSize} leaves, and this log has signed ${size}`);
  }
  if (witnessSize < seen) {
    throw new LogFault(`the witness says that it has seen ${witnessSize} leaves, after it had seen ${seen}`);
  }
  return witnessSize;
}
