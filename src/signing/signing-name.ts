import { append } from '../desk/append.ts';
import { followedName, isLoopbackName, signingNameEntry } from '../desk/papers/signing-names.ts';
import type { LogService } from '../proof/log/leaf.ts';
import { parseNote } from '../proof/note.ts';
import { parseReceipt } from '../proof/receipt.ts';
import { parseObservation } from '../proof/records/receipt.ts';
import type { Settings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { isPublicHost } from '../shared/public-address.ts';
import { parseAddress } from '../shared/storage/address.ts';
import type { Store } from '../store/store.ts';
import type { CurrentKey } from './signing-key.ts';

/** The name under which a service signs: a host and a path, as C2SP recommends. */
export function signingName({ origin, dataOrigin }: Settings, service: LogService = 'desk'): string {
  return `${new URL(service === 'desk' ? origin : dataOrigin).host}/door`;
}

/**
 * The key in force, under the name of a service. Records a new name in the ledger, so call it in the transaction that
 * uses the key. Throws `unavailable` for a name that is meaningless on other machines.
 */
export function keyUnderName(store: Store, settings: Settings, service: LogService, key: CurrentKey, now: number) {
  const { noted, name } = namesOf(store, settings, service, { kid: key.kid, name: key.signer.name });
  const problem = nameProblem(settings, service, name);
  if (problem !== null) throw new Fault('unavailable', `nothing is signed: ${problem}`);
  if (name === (noted ?? key.signer.name)) return name === key.signer.name ? key : under(name, key);
  const before = noted ?? (hasSigned(store, service, key.kid) ? key.signer.name : null);
  append(store.desk, signingNameEntry({ service, kid: key.kid, name, before }, now), now);
  return under(name, key);
}

/** A key's name in the ledger, and the name that follows from it and from the settings. */
function namesOf(store: Store, settings: Settings, service: LogService, key?: { kid: string; name: string }) {
  const noted = store.desk.signingNames(service).findLast(({ kid }) => kid === key?.kid)?.name ?? null;
  const current = noted ?? (service === 'desk' ? (key?.name ?? null) : null);
  return { noted, name: followedName(current, signingName(settings, service)) };
}

function under(name: string, key: CurrentKey): CurrentKey {
  return { ...key, signer: { ...key.signer, name } };
}

/**
 * Whether the newest receipt of a service, or of any paper, is by this key, which must be the one in force. Checking
 * the newest is enough, because no other key has signed since this one came into force.
 */
function hasSigned(store: Store, service: LogService, kid: string): boolean {
  if (service === 'records') {
    const newest = store.records.nextSeq() - 1;
    const [receipt] = newest === 0 ? [] : store.records.receipts(newest, 1);
    return parseObservation(parseNote(receipt ?? '')?.text ?? '')?.kid === kid;
  }
  return store.desk.signedLast().some((receipt) => parseReceipt(parseNote(receipt)?.text ?? '')?.kid === kid);
}

/**
 * Why a service must not sign under a name, ending with the cure: `localhost` does not identify a signer. Else null.
 */
function nameProblem(settings: Settings, service: LogService, name: string): string | null {
  if (!isLoopbackName(name)) return null;
  const isDesk = service === 'desk';
  const [setting, other] = isDesk ? ['ORIGIN', 'DATA_ORIGIN'] : ['DATA_ORIGIN', 'ORIGIN'];
  const address = isDesk ? settings.dataOrigin : settings.origin;
  const bucket = isDesk ? publicBucket(settings) : null;
  const pointer = isPublicAddress(address) ? `${other} is ${address}` : bucket;
  if (pointer === null) return null;
  const whose = isDesk ? 'papers' : 'domain records';
  return `the receipts would be by ${name}, an address of this machine, though ${pointer}; set ${setting} to the public address of the ${whose}`;
}

/** Why `keyUnderName` would refuse; null when it would not. Changes nothing. */
export function signingNameProblem(store: Store, settings: Settings, service: LogService): string | null {
  const key = store.desk.signingKeys().findLast(({ retired_at }) => retired_at === null);
  return nameProblem(settings, service, namesOf(store, settings, service, key).name);
}

function isPublicAddress(address: string): boolean {
  return isPublicHost(new URL(address).hostname);
}

/** The public bucket to which the papers are published, in words. */
function publicBucket({ publishUrl, objectStorage }: Settings): string | null {
  const address = publishUrl === null ? null : parseAddress(publishUrl, objectStorage);
  if (address === null || typeof address === 'string' || address.kind !== 's3') return null;
  return isPublicAddress(address.endpoint) ? `PUBLISH_URL names ${new URL(address.endpoint).host}` : null;
}
