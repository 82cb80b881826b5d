import { toHex } from '../../proof/bytes.ts';
import { type VerifierKey, vkeyText } from '../../proof/key-text.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { nodeCrypto } from '../../proof/log/node-crypto.ts';
import { meetsQuorum, type Policy } from '../../proof/log/policy.ts';
import { statedTime } from '../../proof/log/signatures.ts';
import { type SignatureLine, signatureLineText } from '../../proof/note.ts';
import type { LogCosignature, LogHead, LogTables } from '../../shared/transparency/log-tables.ts';
import { cosignedAt } from './witness.ts';

/** A log and the policy by which its heads are cosigned. */
export interface WitnessedLog {
  log: LogService;
  origin: string;
  policy: Policy;
}

/** The leaves whose first proof comes from a head: from `start` up to, not including, `end`. */
export interface CoveredLeaves {
  start: number;
  end: number;
}

type SignedHead = Pick<LogHead, 'size' | 'checkpoint'>;

/**
 * The cosigned text of a head: the checkpoint and the signature lines of the policy's witnesses, in the policy's order.
 * Null while its cosignatures do not meet the quorum, and when this head or a larger one has been cosigned already.
 */
export function cosignedText(
  tables: LogTables,
  { log, origin, policy }: WitnessedLog,
  { size, checkpoint }: SignedHead,
): string | null {
  // A leaf's proof uses the first cosigned head that covers it, so an older head must not become cosigned later.
  if (cosignedSize(tables, { log, origin }) >= size) return null;
  const cosigned = linesOf(tables, { log, origin, policy }, size);
  if (!meetsQuorum(policy, new Set(cosigned.map(({ name }) => name)))) return null;
  return checkpoint + cosigned.map(({ line }) => `${line}\n`).join('');
}

/**
 * Stores the cosigned text of a head. Returns the leaves whose proofs this determines; null when there is nothing to
 * store.
 */
export function cosignHead(tables: LogTables, witnessed: WitnessedLog, head: SignedHead): CoveredLeaves | null {
  const text = cosignedText(tables, witnessed, head);
  const start = cosignedSize(tables, witnessed);
  if (text === null || !tables.setCosigned(witnessed.log, witnessed.origin, head.size, text)) return null;
  return { start, end: head.size };
}

/**
 * The checkpoint to publish for a cosigned head: its cosigned text, plus later signatures by the policy's witnesses.
 * Proofs keep the stored text. So after a change of the policy, the checkpoint can meet the new quorum without a new
 * leaf.
 */
export function checkpointWithLateLines(
  tables: Pick<LogTables, 'cosignatures'>,
  witnessed: WitnessedLog,
  { size, checkpoint, cosigned }: Pick<LogHead, 'size' | 'checkpoint' | 'cosigned'>,
): string {
  const text = cosigned ?? checkpoint;
  const late = linesOf(tables, witnessed, size).filter(({ line }) => !text.includes(`\n${line}\n`));
  return text + late.map(({ line }) => `${line}\n`).join('');
}

/** The cosignatures of a head by the policy's witnesses, in the policy's order. */
function linesOf(
  tables: Pick<LogTables, 'cosignatures'>,
  { log, origin, policy }: WitnessedLog,
  size: number,
): { name: string; line: string }[] {
  const lineOf = new Map(tables.cosignatures(log, origin, size).map(({ vkey, line }) => [vkey, line]));
  return policy.witnesses.flatMap(({ name, key }) => {
    const line = lineOf.get(vkeyText(key));
    return line === undefined ? [] : [{ name, line }];
  });
}

/** The number of leaves under the newest cosigned head. */
function cosignedSize(tables: LogTables, { log, origin }: Pick<WitnessedLog, 'log' | 'origin'>): number {
  return tables.newestCosigned(log, origin)?.size ?? 0;
}

/** The cosignature of a witness among the lines. Throws a LogFault unless it is there, valid and not in the future. */
export async function cosignatureFrom(
  lines: SignatureLine[],
  { origin, size, checkpoint }: LogHead,
  key: VerifierKey,
  now: number,
): Promise<LogCosignature> {
  const time = await cosignedAt(lines, parseCheckpoint(checkpoint), key, now, nodeCrypto);
  // Every line of this key was verified above, and one of them has this time.
  const isSought = ({ name, keyHash, signature }: SignatureLine) =>
    name === key.name && toHex(keyHash) === key.hash && statedTime(signature) === BigInt(time);
  const line = lines.find(isSought);
  if (line === undefined) throw new Error(`no line of ${key.name} has the time ${time}`);
  return { origin, size, vkey: vkeyText(key), time, line: signatureLineText(line) };
}
