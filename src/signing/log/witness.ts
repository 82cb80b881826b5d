import type { VerifierKey } from '../../proof/key-text.ts';
import type { SignedCheckpoint } from '../../proof/log/checkpoint.ts';
import { hashLines, readDecimal } from '../../proof/log/fields.ts';
import { LogFault, shown } from '../../proof/log/log-fault.ts';
import { type LogCrypto, signedBy } from '../../proof/log/signatures.ts';
import { parseSignatureLines, type SignatureLine } from '../../proof/note.ts';

/** The `add-checkpoint` call of C2SP tlog-witness (protocol 7.7): its request body, and the witness's response. */

/** Maximum size of a response, in bytes: a few lines of several kilobytes each. */
export const ANSWER_MAX = 64 * 1024;
const LINES_MAX = 16;
const SIZE_TYPE = 'text/x.tlog.size';

/** The request body. The proof leads from a tree of `old` leaves to the checkpoint. */
export function addCheckpointBody(old: number, proof: Uint8Array[], checkpoint: string): string {
  return `old ${old}\n${hashLines(proof)}\n${checkpoint}`;
}

/** A witness's response, not yet verified. */
export type AddCheckpointAnswer =
  | { kind: 'cosigned'; lines: SignatureLine[] /** The signature lines as received. */; text: string }
  /** The witness has seen a tree of a size other than `old`. */
  | { kind: 'conflict'; size: number };

const GIVE_KEY = 'give its operator the verifier key of this log, which is the file vkey beside the checkpoint';

/** What an error status means for the log that sent the checkpoint, and what to do about it. */
const REFUSALS: Record<number, { fault: string; cure?: string }> = {
  400: { fault: 'the witness could not read the request' },
  403: { fault: "the witness does not take the checkpoint's signature", cure: GIVE_KEY },
  404: { fault: 'the witness does not follow this log', cure: GIVE_KEY },
  429: { fault: 'the witness asks for fewer requests' },
  // omniwitness responds 500 where tlog-witness requires 403 and 404.
  500: { fault: 'the witness answered 500', cure: `an omniwitness may not follow this log: ${GIVE_KEY}` },
};

/** Parses a response. Throws a LogFault for an error status or a wrong form, a WitnessDiverged for 422. */
export function readAddCheckpointAnswer(status: number, contentType: string | null, body: string): AddCheckpointAnswer {
  if (status === 409) return { kind: 'conflict', size: conflictSize(contentType, body) };
  if (status !== 200) {
    const said = body.trim() === '' ? '' : `: ${shown(body.trim())}`;
    if (status === 422) {
      const message = `the witness says that the checkpoint is not consistent with the last one it saw${said}`;
      throw new WitnessDiverged(message);
    }
    const { fault = `the witness answered ${status}`, cure } = REFUSALS[status] ?? {};
    throw new LogFault(`${fault}${said}${cure === undefined ? '' : `; ${cure}`}`);
  }
  if (body.length > ANSWER_MAX) throw new LogFault(`the witness’s response has more than ${ANSWER_MAX} characters`);
  const lines = parseSignatureLines(body);
  if (lines === null) throw new LogFault(`the witness’s response does not consist of signature lines: ${shown(body)}`);
  if (lines.length > LINES_MAX) {
    throw new LogFault(`the witness’s response has ${lines.length} signature lines; ${LINES_MAX} are the most`);
  }
  return { kind: 'cosigned', lines, text: body };
}

function conflictSize(contentType: string | null, body: string): number {
  if (contentType?.split(';', 1)[0]?.trim().toLowerCase() !== SIZE_TYPE) {
    const fault = `the witness answered 409 without a size of type ${SIZE_TYPE}`;
    // A proxy's error page says nothing about the log.
    throw body.trim() === ''
      ? new ConflictWithoutSize(`${fault}: it may have seen another root`)
      : new LogFault(`${fault}: ${shown(body.trim())}`);
  }
  if (!body.endsWith('\n')) throw new LogFault(`the witness answered 409 with ${shown(body)}, which is not one line`);
  return readDecimal(body.slice(0, -1), "the witness' size");
}

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
 * The size from which the proof must start when a request is repeated after a 409. `size` is that of the log's newest
 * head, and `seen` the largest size that this witness has reported, 0 for a new witness. Throws a LogFault when the
 * witness reports a smaller size than before, and a WitnessAhead when it reports a larger one than the newest head's.
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

/** A witness knows another history: this database is an old copy or a second one, and must sign nothing. */
export class WitnessContradicts extends LogFault {}

/** The witness has seen more leaves than the log has signed. */
export class WitnessAhead extends WitnessContradicts {}

/** The witness has seen other leaves. */
export class WitnessDiverged extends WitnessContradicts {}

/** A 409 without a size or a body. omniwitness sends it when it has seen another root for the submitted size. */
export class ConflictWithoutSize extends LogFault {}
