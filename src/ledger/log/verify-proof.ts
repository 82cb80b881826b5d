import { sameBytes } from '../bytes.ts';
import { pathSteps } from '../merkle-path.ts';
import type { LogCrypto } from './log-crypto.ts';
import { LogFault } from './log-fault.ts';
import { pathRoot } from './path-root.ts';
import type { Policy } from './policy.ts';
import { parseTlogProof } from './tlog-proof.ts';
import type { VerifiedCheckpoint } from './verify-checkpoint.ts';
import { verifyCheckpoint } from './verify-checkpoint.ts';

/** What a valid proof shows. */
export interface VerifiedProof extends VerifiedCheckpoint {
  index: number;
}

/**
 * Verifies a tlog-proof of an entry against a policy: the checkpoint is accepted, and the entry is at its index in
 * that tree. Throws a LogFault.
 */
export async function verifyTlogProof(
  entry: string | Uint8Array,
  text: string,
  policy: Policy,
  crypto: LogCrypto,
): Promise<VerifiedProof> {
  const { index, path, checkpointText } = parseTlogProof(text);
  const verified = await verifyCheckpoint(checkpointText, policy, crypto);
  const { size, root } = verified.checkpoint;
  const steps = pathSteps(index, size, path);
  if (steps === null) {
    throw new LogFault(`a proof of ${path.length} hashes is not that of entry ${index} in a tree of ${size}`);
  }
  if (!sameBytes(await pathRoot(entry, steps, crypto.sha256), root)) {
    throw new LogFault(`the proof does not lead from entry ${index} to the checkpoint's root`);
  }
  return { ...verified, index };
}
