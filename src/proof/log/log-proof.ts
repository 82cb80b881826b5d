import { fromBase64, toBase64 } from '../bytes.ts';
import type { Shape } from '../members.ts';
import { parseCheckpoint, type SignedCheckpoint } from './checkpoint.ts';
import { hashLines, readDecimal, readHashes } from './fields.ts';
import { LogFault, shown } from './log-fault.ts';

/**
 * The proof that a receipt is in the log (protocol 7.9): the `log` member of a proof, of a provenance row, and of a
 * record in an evidence bundle. Null until a cosigned head covers the leaf; absent in documents from before the log
 * existed.
 */
export interface LogProof {
  /** The log's name: the first line of its checkpoints. */
  origin: string;
  /** The leaf's index, from 0. */
  index: number;
  /** The text of the proof (C2SP tlog-proof). */
  tlog_proof: string;
}

/** The shape of the member in documents that a verifier reads. */
export const LOG_PROOF: Shape = { origin: 'a text', index: 'a whole number', tlog_proof: 'a text' };

/** Parses the proof, and compares it with the other members. Verifies nothing. Throws a LogFault. */
export function readLogProof({ origin, index, tlog_proof }: LogProof): ParsedTlogProof {
  const parsed = parseTlogProof(tlog_proof);
  if (parsed.checkpoint.origin !== origin) {
    throw new LogFault(`it says origin ${shown(origin)}, but its proof is of ${shown(parsed.checkpoint.origin)}`);
  }
  if (parsed.index !== index) throw new LogFault(`it says index ${index}, but its proof is of entry ${parsed.index}`);
  return parsed;
}

/** Proofs of C2SP tlog-proof (protocol 7.9), which need an entry and a policy, and no network. */

const HEADER = 'c2sp.org/tlog-proof@v1';
/** Characters: a proof's lines and the longest checkpoint. */
const TLOG_PROOF_MAX = 136 * 1024;

interface TlogProof {
  /** The entry's index, from 0. */
  index: number;
  /** The inclusion proof, from the leaf's sibling upward. */
  path: Uint8Array[];
  /** The checkpoint's text with its signatures. */
  checkpoint: string;
  /** Additional unsigned data from the application. */
  extra: Uint8Array | null;
}

/** A parsed proof, not yet verified. */
interface ParsedTlogProof extends Omit<TlogProof, 'checkpoint'> {
  checkpoint: SignedCheckpoint;
  checkpointText: string;
}

export function tlogProofText({ index, path, checkpoint, extra }: TlogProof): string {
  const extraLine = extra === null ? '' : `extra ${toBase64(extra)}\n`;
  return `${HEADER}\n${extraLine}index ${index}\n${hashLines(path)}\n${checkpoint}`;
}

/** Parses a proof without verifying it. Throws a LogFault. */
export function parseTlogProof(text: string): ParsedTlogProof {
  if (text.length > TLOG_PROOF_MAX) throw new LogFault(`the proof has more than ${TLOG_PROOF_MAX} characters`);
  const end = text.indexOf('\n\n');
  const [header, ...lines] = text.slice(0, Math.max(0, end)).split('\n');
  if (header !== HEADER) throw new LogFault(`the proof does not begin with the line ${HEADER}`);
  const extra = lines[0]?.startsWith('extra ') ? readExtra((lines.shift() ?? '').slice('extra '.length)) : null;
  const indexLine = lines.shift() ?? '';
  if (!indexLine.startsWith('index ')) {
    throw new LogFault(`the proof has ${shown(indexLine)} in place of its index line`);
  }
  const index = readDecimal(indexLine.slice('index '.length), "the proof's index");
  const path = readHashes(lines);
  const checkpointText = text.slice(end + 2);
  const checkpoint = parseCheckpoint(checkpointText);
  if (index >= checkpoint.size) {
    throw new LogFault(`the proof's index ${index} is not in a tree of ${checkpoint.size} leaves`);
  }
  return { index, path, extra, checkpoint, checkpointText };
}

function readExtra(text: string): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes === null) throw new LogFault(`the proof's extra ${shown(text)} is not base64`);
  return bytes;
}
