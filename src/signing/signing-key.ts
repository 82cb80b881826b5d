import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { append } from '../desk/append.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import { followedName } from '../desk/papers/signing-names.ts';
import type { VerifyingKey } from '../proof/keyring.ts';
import { CLI } from '../shared/command-line.ts';
import { codeOf, Fault } from '../shared/fault.ts';
import { syncFolder } from '../shared/files/durable-file.ts';
import { readKeyFile, type SigningKey, writeNewKey, writingKey } from './key-file.ts';

/** The active key. `nbf` is when it came into force, in ms. */
export interface CurrentKey extends SigningKey {
  nbf: number;
}

interface KeyStore {
  desk: LedgerStore & {
    removedPapers(): { slug: string }[];
    signingKeys(): VerifyingKey[];
  };
  records: { lastProbeAt(): number | null };
}

// The ledger decides which key signs; the file contains it. A new key is written beside the current one, synced,
// appended to the ledger, and renamed into place after the commit. So the ledger never refers to a key that is not on
// disk, and a key that is not in the ledger never signs.

/**
 * Appends the key in the file to the ledger, or creates one (mode 0600) if there is no file, and retires the previous
 * key. Programs that sign call this first. Must not run inside another transaction, which may be rolled back.
 */
export function openSigningKey(store: KeyStore, file: string, name: string, now: number): CurrentKey {
  store.desk.transact(() => {
    const present = keyInForce(store);
    if (present !== null && keyHeldIn(file, present.kid) !== null) return;
    if (existsSync(file)) appendKey(store, readSigningKey(file), file, now);
    else appendNewKey(store, file, name, now);
  });
  return promoted(store, file);
}

/** Replaces the active key, which the key document then lists as retired. */
export function rotateSigningKey(store: KeyStore, file: string, name: string, now: number): CurrentKey {
  store.desk.transact(() => {
    // Another rotation may have just committed: its key moves into place before this one is written.
    const present = keyInForce(store);
    if (present !== null) promote(file, present.kid);
    appendNewKey(store, file, followedName(existsSync(file) ? readSigningKey(file).signer.name : null, name), now);
  });
  return promoted(store, file);
}

/**
 * Returns a function that reads the active key. Call it inside the transaction that appends what it signs, so that the
 * key cannot be retired in between. Never creates a key. Throws `unavailable` when the file does not contain the key.
 */
export function currentSigningKey(store: Pick<KeyStore, 'desk'>, file: string): () => CurrentKey {
  let current: CurrentKey | null = null;
  return () => {
    const present = keyInForce(store);
    if (present === null) {
      throw new Fault(
        'unavailable',
        `there is no signing key yet; start the server, or run \`${CLI} file\`, to make one`,
      );
    }
    // A correction of the clock changes when a key came into force.
    if (current?.kid === present.kid) return current.nbf === present.nbf ? current : { ...current, nbf: present.nbf };
    const found = keyHeldIn(file, present.kid);
    current = found && { ...found, nbf: present.nbf };
    if (current !== null) return current;
    throw new Fault(
      'unavailable',
      `the signing key file ${file} does not hold ${present.kid}, the key in force according to the ledger; restore it from a backup, or run \`${CLI} key rotate\``,
    );
  };
}

/** Reads the file of a signing key. Throws `unavailable` when it cannot be read. */
export function readSigningKey(file: string): SigningKey {
  return readKeyFile('signing', file);
}

/** The file of a new key before the ledger contains it. */
function nextOf(file: string): string {
  return `${file}.next`;
}

function keyInForce(store: Pick<KeyStore, 'desk'>): VerifyingKey | null {
  return store.desk.signingKeys().findLast(({ retired_at }) => retired_at === null) ?? null;
}

/**
 * The key with this kid, from the key file, or from the new key's file if a process was interrupted; null when neither
 * contains it.
 */
function keyHeldIn(file: string, kid: string): SigningKey | null {
  for (const path of [file, nextOf(file)]) {
    const key = existsSync(path) ? readSigningKey(path) : null;
    if (key?.kid === kid) return key;
  }
  return null;
}

function appendNewKey(store: KeyStore, file: string, name: string, now: number): void {
  appendKey(store, writeNewKey('signing', nextOf(file), name), file, now);
}

/** Appends a key to the ledger and retires the previous one. Throws `unavailable` when this key is itself retired. */
function appendKey(store: KeyStore, { signer, kid }: SigningKey, file: string, now: number): void {
  const known = store.desk.signingKeys();
  if (known.some((key) => key.kid === kid)) {
    throw new Fault(
      'unavailable',
      `the signing key file ${file} holds ${kid}, which was retired; restore the file of the key in force from a backup, or run \`${CLI} key rotate\``,
    );
  }
  // Later than everything the old key signed, even if the clock was set back since.
  const slugs = [...store.desk.paperSlugs(), ...store.desk.removedPapers().map(({ slug }) => slug)];
  const signed = [store.records.lastProbeAt() ?? 0, ...slugs.map(store.desk.lastFiledAt)];
  const at = Math.max(now, ...known.map(({ nbf }) => nbf), ...signed.map((last) => last + 1));
  for (const key of known) {
    if (key.retired_at === null) append(store.desk, { type: 'retirement', at, kid: key.kid }, now);
  }
  const public_key = Buffer.from(signer.publicKey).toString('base64');
  append(store.desk, { type: 'key', at, kid, name: signer.name, public_key }, now);
}

/** Moves the active key into place once it is in the ledger. */
function promoted(store: KeyStore, file: string): CurrentKey {
  const kid = keyInForce(store)?.kid ?? '';
  writingKey('signing', file, () => promote(file, kid));
  return currentSigningKey(store, file)();
}

function promote(file: string, kid: string): void {
  const next = nextOf(file);
  if (!existsSync(next) || readSigningKey(next).kid !== kid) return;
  try {
    renameSync(next, file);
  } catch (error) {
    // Another process moved it first.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  syncFolder(dirname(file));
}
