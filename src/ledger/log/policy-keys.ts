import { toHex } from '../bytes.ts';
import { keyHash } from '../verifier-key.ts';
import { LogFault, shown } from './log-fault.ts';
import type { Policy } from './policy.ts';
import { parsePolicy } from './policy.ts';

/** Parses a policy, and checks each key against its claimed key hash. Throws a LogFault. */
export function readPolicy(text: string): Policy {
  const policy = parsePolicy(text);
  for (const { key } of [...policy.logs, ...policy.witnesses]) {
    const hash = toHex(keyHash(key.name, key.publicKey, key.type));
    if (hash !== key.hash) {
      throw new LogFault(
        `the verifier key of ${shown(key.name)} says key hash ${key.hash}, but its bytes have ${hash}`,
      );
    }
  }
  return policy;
}
