import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { enter } from '../desk/enter.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import { Fault } from '../fault.ts';
import { signerFrom } from '../ledger/ed25519.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { thumbprint } from '../ledger/keyring.ts';
import type { Signer } from '../ledger/note.ts';

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
  const door = existsSync(file) ? readDoor(file) : makeDoor(file, name);
  enterKey(store, door, now);
  return door;
}

/** Puts a new key in the place of the present one, which stays in the key document as retired. */
export function rotateDoor(store: KeyStore, file: string, name: string, now: number): Door {
  const door = makeDoor(file, existsSync(file) ? readDoor(file).signer.name : name);
  enterKey(store, door, now);
  return door;
}

function readDoor(file: string): Door {
  let parsed: z.infer<typeof KeyFile>;
  try {
    parsed = KeyFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Fault(
      'unavailable',
      `the door's key file ${file} cannot be read (${error instanceof Error ? error.message.split('\n')[0] : error}); restore it from a backup, or move it away and a new key is made`,
    );
  }
  const signer = signerFrom(parsed.name, new Uint8Array(Buffer.from(parsed.seed, 'base64')));
  return { signer, kid: thumbprint(signer.publicKey) };
}

function makeDoor(file: string, name: string): Door {
  const seed = randomBytes(32);
  const signer = signerFrom(name, seed);
  const kid = thumbprint(signer.publicKey);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Written aside first: a crash must not leave half a key in the place of a whole one.
  const aside = `${file}.new`;
  const text = `${JSON.stringify({ name, kid, seed: seed.toString('base64') })}\n`;
  writeFileSync(aside, text, { mode: 0o600, flush: true });
  renameSync(aside, file);
  return { signer, kid };
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
