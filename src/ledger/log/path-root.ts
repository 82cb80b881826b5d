import type { PathStep } from '../merkle-path.ts';
import { leafInput, nodeInput } from '../merkle-path.ts';
import type { LogCrypto } from './log-crypto.ts';

/** The root that the steps of an inclusion proof lead to from an entry (RFC 9162, section 2.1.3.2). */
export async function pathRoot(
  entry: string | Uint8Array,
  steps: PathStep[],
  sha256: LogCrypto['sha256'],
): Promise<Uint8Array> {
  let reached = await sha256(leafInput(entry));
  for (const { sibling, side } of steps) {
    reached = await sha256(side === 'left' ? nodeInput(sibling, reached) : nodeInput(reached, sibling));
  }
  return reached;
}
