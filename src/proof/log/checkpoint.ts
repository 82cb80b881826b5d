import { toBase64 } from '../bytes.ts';
import { type Note, parseNote } from '../note.ts';
import { NAME_MAX, readDecimal, readHash } from './fields.ts';
import { LogFault, shown } from './log-fault.ts';

/** Checkpoints of C2SP tlog-checkpoint (protocol 7.4): the head of a log's tree, as a signed note. */

/** Bytes. Sixteen ML-DSA-44 cosignatures take 53 kB. */
export const CHECKPOINT_MAX = 128 * 1024;
const SIGNATURES_MAX = 64;

export interface Checkpoint {
  /** The log's name: by convention its address without the scheme. */
  origin: string;
  /** The number of leaves in the tree. */
  size: number;
  root: Uint8Array;
}

/** A checkpoint as signed, not yet verified. */
export interface SignedCheckpoint extends Checkpoint {
  note: Note;
}

/** Whether a text can be the origin of a log, which is also the name of its key. */
export function isLogOrigin(text: string): boolean {
  return /^[^\s+]+$/.test(text) && !text.includes('://') && new TextEncoder().encode(text).length <= NAME_MAX;
}

/** The text that a log signs. Throws a TypeError when the origin is not a single line. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  if (!/^\S+$/.test(origin)) throw new TypeError(`${shown(origin)} is not an origin: a log's name has no blanks`);
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/** Parses a checkpoint without verifying it. Throws a LogFault. */
export function parseCheckpoint(text: string): SignedCheckpoint {
  if (text.length > CHECKPOINT_MAX) {
    throw new LogFault(`the checkpoint has more than ${CHECKPOINT_MAX} characters`);
  }
  const note = parseNote(text);
  if (note === null) throw new LogFault('the checkpoint is not a signed note');
  if (note.signatures.length > SIGNATURES_MAX) {
    throw new LogFault(`the checkpoint has ${note.signatures.length} signatures; ${SIGNATURES_MAX} are the most`);
  }
  const stray = note.signatures.find(({ name }) => name.includes('+'));
  if (stray !== undefined)
    throw new LogFault(`the checkpoint has a signature by ${shown(stray.name)}: a key's name has no +`);
  return { ...parseHead(note.text), note };
}

/** Parses the note's text. Rejects extension lines, which a witness's ML-DSA-44 cosignature would not cover. */
function parseHead(text: string): Checkpoint {
  const [origin = '', size, root, ...rest] = text.slice(0, -1).split('\n');
  if (origin === '' || size === undefined || root === undefined) {
    throw new LogFault('the checkpoint does not begin with an origin, a size and a root');
  }
  if (new TextEncoder().encode(origin).length > NAME_MAX) {
    throw new LogFault(`the checkpoint's origin ${shown(origin)} is longer than ${NAME_MAX} bytes`);
  }
  if (rest.length > 0) throw new LogFault(`the checkpoint has a line after its root: ${shown(rest[0] ?? '')}`);
  return {
    origin,
    size: readDecimal(size, "the checkpoint's size"),
    root: readHash(root, "the checkpoint's root"),
  };
}
