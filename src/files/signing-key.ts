import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { append } from '../desk/append.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import { Fault } from '../fault.ts';
import { signerFrom } from '../ledger/ed25519.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import { thumbprint } from '../ledger/keyring.ts';
import type { Signer } from '../ledger/signing.ts';
import { makeFolder, putFile, syncFolder } from './durable-file.ts';

const KeyFile = z.strictObject({
  name: z.string().regex(/^[^\s+]+$/),
  kid: z.string(),
  /** Base64 of the 32-byte Ed25519 seed. */
  seed: z.base64(),
});

/** The door's signer, and the kid that its receipts name. */
export interface SigningKey {
  signer: Signer;
  kid: string;
}

/** The key that is in force, and since when, in ms. */
export interface CurrentKey extends SigningKey {
  nbf: number;
}

interface KeyStore extends LedgerStore {
  doorKeys(): VerifyingKey[];
  records: { lastProbeAt(): number | null };
}

// The ledger says which key signs; the file holds it. A new key is written beside the present one, synced, entered into
// the ledger, and renamed into its place once that is committed: at no moment does the ledger name a key that is on no
// disk, and no key signs that the ledger does not name.

/**
 * Opens the door at the start of whoever is going to sign: enters the key of the
 * key file, or makes one where there is none (mode 0600). A key that was in force
 * before is retired. Never part of another transaction, which may be taken back.
 */
export function openSigningKey(store: KeyStore, file: string, name: string, now: number): CurrentKey {
  store.transact(() => {
    const present = presentKey(store);
    if (present !== null && holding(file, present.kid) !== null) return;
    if (existsSync(file)) enterKey(store, readSigningKey(file), file, now);
    else enterNew(store, file, name, now);
  });
  return settled(store, file);
}

/** Puts a new key in the place of the present one, which stays in the key document as retired. */
export function rotateSigningKey(store: KeyStore, file: string, name: string, now: number): CurrentKey {
  store.transact(() => {
    // Another rotation may have been committed a moment ago: its file gets its place before this one's is written there.
    const present = presentKey(store);
    if (present !== null) takePlace(file, present.kid);
    enterNew(store, file, existsSync(file) ? readSigningKey(file).signer.name : name, now);
  });
  return settled(store, file);
}

/**
 * The key that signs, at the moment of asking: asked inside the transaction that
 * enters what is signed, it cannot be retired in between. Makes no key. Throws
 * `unavailable` when the file does not hold it.
 */
export function currentSigningKey(store: Pick<KeyStore, 'doorKeys'>, file: string): () => CurrentKey {
  let door: CurrentKey | null = null;
  return () => {
    const present = presentKey(store);
    if (present === null) {
      throw new Fault(
        'unavailable',
        'the door has no key yet; the start of a server makes it, and so does `npm run -s broadsheet -- file`',
      );
    }
    if (door?.kid === present.kid) return door;
    const found = holding(file, present.kid);
    door = found && { ...found, nbf: present.nbf };
    if (door !== null) return door;
    throw new Fault(
      'unavailable',
      `the door's key file ${file} does not hold ${present.kid}, the key that the ledger says is in force; restore it from a backup, or run \`npm run -s broadsheet -- key rotate\``,
    );
  };
}

/** The door of a key file that is there. Throws `unavailable` for one that cannot be read. */
export function readSigningKey(file: string): SigningKey {
  try {
    const parsed = KeyFile.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!parsed.success)
      throw new Error(`${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`);
    const { name, kid, seed } = parsed.data;
    const signer = signerFrom(name, new Uint8Array(Buffer.from(seed, 'base64')));
    if (thumbprint(signer.publicKey) !== kid) throw new Error('kid is not that of seed');
    return { signer, kid };
  } catch (error) {
    throw new Fault(
      'unavailable',
      `the door's key file ${file} cannot be read (${(error as Error).message}); restore it from a backup, or move it away and a new key is made`,
    );
  }
}

/** Where a new key waits for the ledger. */
function nextOf(file: string): string {
  return `${file}.next`;
}

function presentKey(store: Pick<KeyStore, 'doorKeys'>): VerifyingKey | null {
  return store.doorKeys().findLast(({ retired_at }) => retired_at === null) ?? null;
}

/** The key of this kid, from the file or from where it waited when its process died; null when neither holds it. */
function holding(file: string, kid: string): SigningKey | null {
  for (const place of [file, nextOf(file)]) {
    const door = existsSync(place) ? readSigningKey(place) : null;
    if (door?.kid === kid) return door;
  }
  return null;
}

function enterNew(store: KeyStore, file: string, name: string, now: number): void {
  const seed = randomBytes(32);
  const signer = signerFrom(name, seed);
  const kid = thumbprint(signer.publicKey);
  const text = `${JSON.stringify({ name, kid, seed: seed.toString('base64') })}\n`;
  written(file, () => {
    makeFolder(dirname(file), 0o700);
    putFile(nextOf(file), (aside) => writeFileSync(aside, text, { mode: 0o600 }));
  });
  enterKey(store, { signer, kid }, file, now);
}

/** Enters a key, and retires the one before it. Throws `unavailable` for one that was retired itself. */
function enterKey(store: KeyStore, { signer, kid }: SigningKey, file: string, now: number): void {
  const known = store.doorKeys();
  if (known.some((key) => key.kid === kid)) {
    throw new Fault(
      'unavailable',
      `the door's key file ${file} holds ${kid}, which was retired; restore the file of the key in force from a backup, or run \`npm run -s broadsheet -- key rotate\``,
    );
  }
  // Whatever the old key signed, it signed before: also where the clock was set back since.
  const signed = [store.records.lastProbeAt() ?? 0, ...store.paperSlugs().map(store.lastFiledAt)];
  const at = Math.max(now, ...known.map(({ nbf }) => nbf), ...signed.map((last) => last + 1));
  for (const key of known) {
    if (key.retired_at === null) append(store, { type: 'retirement', at, kid: key.kid }, now);
  }
  const public_key = Buffer.from(signer.publicKey).toString('base64');
  append(store, { type: 'key', at, kid, name: signer.name, public_key }, now);
}

/** Gives the key in force its place, now that the ledger names it. */
function settled(store: KeyStore, file: string): CurrentKey {
  const kid = presentKey(store)?.kid ?? '';
  written(file, () => takePlace(file, kid));
  return currentSigningKey(store, file)();
}

function takePlace(file: string, kid: string): void {
  const next = nextOf(file);
  if (!existsSync(next) || readSigningKey(next).kid !== kid) return;
  try {
    renameSync(next, file);
  } catch (error) {
    // Another process was quicker with the same.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  syncFolder(dirname(file));
}

function written(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(
      'unavailable',
      `the door's key file ${file} cannot be written (${(error as Error).message}); check the disk's space and the folder's permissions`,
    );
  }
}
