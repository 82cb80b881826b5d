import { LogFault } from '../../proof/log/log-fault.ts';
import type { TileReader } from '../../proof/log/tile.ts';
import { logTree } from '../../proof/log/tree.ts';
import type { SignatureLine } from '../../proof/note.ts';
import type { LogHead } from '../../shared/transparency/log-tables.ts';
import {
  type AddCheckpointAnswer,
  addCheckpointBody,
  ConflictWithoutSize,
  sizeToProveFrom,
  WitnessDiverged,
} from './witness.ts';

/** A head to submit to a witness. */
interface Submission {
  head: LogHead;
  /** The size of the largest tree that the witness is known to have seen, at most the head's. */
  seen: number;
  /** The newest signed head at the time of the call: another process may have shown it to the witness already. */
  newestHead(): LogHead;
  tiles: TileReader;
  /** Sends the body of an `add-checkpoint` request. Throws a LogFault. */
  send(body: string): Promise<AddCheckpointAnswer>;
}

/** The result of a submission. */
export interface Submitted {
  /** The head that was sent last. */
  head: LogHead;
  /** The largest tree that the witness said it had seen, before the head. */
  seen: number;
  /** The witness's signature lines, not yet verified; none after a fault. */
  lines: SignatureLine[];
  fault: LogFault | null;
}

/**
 * Submits a head with a consistency proof. If the witness reports another size than expected, it is sent the newest
 * head with a proof from that size, once. The fault is a `WitnessContradicts` when the witness knows a history that
 * this log does not have.
 */
export async function submitHead({ head, seen, newestHead, tiles, send }: Submission): Promise<Submitted> {
  const submitted: Submitted = { head, seen, lines: [], fault: null };
  /** Sends the head with a proof from a tree of `old` leaves. Returns the witness's size if it is a different one. */
  const attempt = async (old: number): Promise<number | null> => {
    const { size, checkpoint } = submitted.head;
    const answer = await send(addCheckpointBody(old, logTree(size, tiles).consistencyProof(old), checkpoint)).catch(
      (fault: unknown) => {
        throw fault instanceof ConflictWithoutSize && old === size ? otherRoot(size) : fault;
      },
    );
    if (answer.kind === 'conflict') {
      if (answer.size !== old) return answer.size;
      throw old === size
        ? otherRoot(size)
        : new LogFault(`the witness rejects a proof from ${old} leaves, and says that it has seen ${old}`);
    }
    submitted.lines = answer.lines;
    return null;
  };
  try {
    const size = await attempt(seen);
    if (size === null) return submitted;
    submitted.head = newestHead();
    // Heads are on disk before they are sent, so if the witness knows a larger one, another copy of the database signed
    // it.
    const from = sizeToProveFrom(size, submitted.head.size, seen);
    submitted.seen = from;
    const again = await attempt(from);
    if (again === null) return submitted;
    sizeToProveFrom(again, submitted.head.size, from);
    throw new LogFault(
      `the witness says that it has seen ${size} leaves, and right after that, that it has seen ${again}`,
    );
  } catch (fault) {
    if (!(fault instanceof LogFault)) throw fault;
    return { ...submitted, fault };
  }
}

function otherRoot(size: number): WitnessDiverged {
  return new WitnessDiverged(`the witness has seen another tree of ${size} leaves`);
}
