import type { SignatureLine } from '../note.ts';
import { parseSignatureLines } from '../note.ts';
import { readDecimal } from './decimal.ts';
import { hashLines } from './hash-lines.ts';
import { LogFault, shown } from './log-fault.ts';
import { ConflictWithoutSize, WitnessDiverged } from './witness-fault.ts';

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
  // omniwitness answers 500 where tlog-witness asks for 403 and 404.
  500: { fault: 'the witness answered 500', cure: `an omniwitness may not follow this log: ${GIVE_KEY}` },
};

/**
 * Parses a response. Throws a LogFault for an error status, a WitnessDiverged for 422, and a LogFault for a response
 * that does not follow tlog-witness.
 */
export function readAddCheckpointAnswer(status: number, contentType: string | null, body: string): AddCheckpointAnswer {
  if (status === 409) return { kind: 'conflict', size: conflictSize(contentType, body) };
  if (status !== 200) {
    const said = body.trim() === '' ? '' : `: ${shown(body.trim())}`;
    if (status === 422) {
      throw new WitnessDiverged(
        `the witness says that the checkpoint is not consistent with the last one it saw${said}`,
      );
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
