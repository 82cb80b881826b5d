import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { enter } from '../desk/enter.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import { Fault } from '../fault.ts';
import { signerFrom } from '../ledger/ed25519.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { thumbprint } from '../ledger/keyring.ts';
import type { Signer } from '../ledger/signing.ts';

const KeyFile = z.strictObject({
  name: z.string().regex(/^[^\s+]+$/),
  kid: z.string(),
  /** Base64 of the 32-byte Ed25519 seed. */
  seed: z.base64(),
});

/** The door's signer, and the kid that its receipts name. */
export interface Door {
  signer: Signer;
  kid: string;
}

interface KeyStore extends LedgerStore {
  doorKeys(): DoorKey[];
}

/**
 * Opens the door's key file, or makes it (mode 0600) on the first start. A key
 * that the ledger does not know is entered there, and the one before it retired.
 */
export function openDoor(store: KeyStore, file: string, name: string, now: number): Door {
  if (!existsSync(file)) makeDoor(file, name, putNew);
  const door = readDoor(file);
  enterKey(store, door, now);
  return door;
}

/** Puts a new key in the place of the present one, which stays in the key document as retired. */
export function rotateDoor(store: KeyStore, file: string, name: string, now: number): Door {
  makeDoor(file, existsSync(file) ? readDoor(file).signer.name : name, renameSync);
  const door = readDoor(file);
  enterKey(store, door, now);
  return door;
}

/** The door of a key file that is there. Throws `unavailable` for one that cannot be read. */
export function readDoor(file: string): Door {
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

/**
 * Makes a key file. It is written aside first: a crash must not leave half a key
 * in the place of a whole one. `put` is `putNew` where another process may
 * have made one meanwhile, which then stays, and `renameSync` to replace one.
 */
function makeDoor(file: string, name: string, put: (from: string, to: string) => void): void {
  const seed = randomBytes(32);
  const kid = thumbprint(signerFrom(name, seed).publicKey);
  const aside = `${file}.${process.pid}`;
  const text = `${JSON.stringify({ name, kid, seed: seed.toString('base64') })}\n`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(aside, text, { mode: 0o600, flush: true });
    put(aside, file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && put === putNew) return;
    throw new Fault(
      'unavailable',
      `the door's key file ${file} cannot be written (${message}); check the disk's space and the folder's permissions`,
    );
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Gives a file its place unless there is one; throws `EEXIST`. */
function putNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A disk that knows no hard links.
    renameSync(from, to);
  }
}

function enterKey(store: KeyStore, { signer, kid }: Door, now: number): void {
  store.transact(() => {
    const known = store.doorKeys();
    if (known.some((key) => key.kid === kid)) return;
    for (const key of known) {
      if (key.retired_at === null) enter(store, { type: 'retirement', at: now, kid: key.kid });
    }
    const public_key = Buffer.from(signer.publicKey).toString('base64');
    enter(store, { type: 'key', at: now, kid, name: signer.name, public_key });
  });
}
