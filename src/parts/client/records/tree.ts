import { toHex } from '../../../proof/bytes.ts';
import { leafInput, nodeInput, pathSteps } from '../../../proof/merkle-path.ts';
import { digest } from '../verify/crypto.ts';

/** The Merkle tree of RFC 6962, section 2.1, hashed by the browser. */

const leafHash = (text: string): Promise<Uint8Array> => digest(leafInput(text));
const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> => digest(nodeInput(left, right));

/** `sha256:<hex>` of the root over all disclosures of a record, in leaf order; null for an empty list. */
export async function rootOfAll(disclosures: string[]): Promise<string | null> {
  let level = await Promise.all(disclosures.map(leafHash));
  while (level.length > 1) level = await levelAbove(level);
  return level[0] === undefined ? null : rootText(level[0]);
}

/** `sha256:<hex>` of the root computed from a disclosure's path; null when the path does not fit its index. */
export async function rootOfPath(
  { index, disclosure, path }: { index: number; disclosure: string; path: string[] },
  size: number,
): Promise<string | null> {
  if (!path.every((hex) => /^[0-9a-f]{64}$/.test(hex))) return null;
  const steps = pathSteps(index, size, path.map(fromHex));
  if (steps === null) return null;
  let reached = await leafHash(disclosure);
  for (const { sibling, side } of steps) {
    reached = await (side === 'left' ? nodeHash(sibling, reached) : nodeHash(reached, sibling));
  }
  return rootText(reached);
}

/** Hashes each pair of neighbors; a node without one moves up unchanged. */
function levelAbove(level: Uint8Array[]): Promise<Uint8Array[]> {
  const pairs = level.flatMap((left, at) => (at % 2 === 0 ? [[left, level[at + 1]] as const] : []));
  return Promise.all(pairs.map(([left, right]) => (right === undefined ? left : nodeHash(left, right))));
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function rootText(root: Uint8Array): string {
  return `sha256:${toHex(root)}`;
}
