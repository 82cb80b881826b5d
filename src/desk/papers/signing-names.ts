import type { VerifyingKey } from '../../proof/keyring.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { isLoopbackHost } from '../../shared/public-address.ts';
import type { RecordEntry } from '../ledger-entry.ts';

/**
 * The names under which the filing door's key signs. Both services share the key, and each signs under its own host.
 * Unless another name is recorded, both sign under the name in the key's entry, so that signatures from before the
 * domain records had a name of their own stay verifiable.
 */

/** From this entry on, a key signs for a service under a new name. */
export interface SigningName {
  service: LogService;
  kid: string;
  name: string;
  /** The name under which the key signed for the service before; null if it had signed nothing for it. */
  before: string | null;
}

/** The ledger entry for a name. */
export function signingNameEntry({ service, ...body }: SigningName, at: number): RecordEntry {
  return { type: 'record', at, paper: '', kind: 'signing-name', name: service, body };
}

/** The name in a line of the ledger; null for any other line. */
export function signingNameOf({ kind, name, body }: Pick<RecordEntry, 'kind' | 'name' | 'body'>): SigningName | null {
  if (kind !== 'signing-name') return null;
  const { kid, name: own, before } = body as Omit<SigningName, 'service'>;
  return { service: name as LogService, kid, name: own, before };
}

/**
 * The name under which to sign, `host/door`. It follows the address of the service, but is never replaced by a local
 * address, which changes with the port and means nothing elsewhere.
 */
export function followedName(current: string | null, wanted: string): string {
  return current === null || !isLoopbackName(wanted) ? wanted : current;
}

/** Whether a name has a host on this machine. */
export function isLoopbackName(name: string): boolean {
  return isLoopbackHost(new URL(`http://${name}`).hostname);
}

/** The keys of a service, once for each name under which they have signed for it, oldest first. */
export function keysUnderNames(keys: readonly VerifyingKey[], names: readonly SigningName[]): VerifyingKey[] {
  return keys.flatMap((key) => {
    const taken = names.filter(({ kid }) => kid === key.kid);
    const all = taken.length === 0 ? [key.name] : taken.flatMap(({ name, before }) => [before ?? [], name].flat());
    return [...new Set(all)].map((name) => (name === key.name ? key : { ...key, name }));
  });
}
