import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { signerFrom } from '../proof/ed25519.ts';
import { thumbprint } from '../proof/keyring.ts';
import type { Signer } from '../proof/signing.ts';
import { Fault, messageOf } from '../shared/fault.ts';
import { makeFolder, putFile } from '../shared/files/durable-file.ts';

/** Files with one Ed25519 key each, mode 0600: the key that signs receipts, and the keys of the logs. */

const KeyFile = z.strictObject({
  name: z.string().regex(/^[^\s+]+$/),
  kid: z.string(),
  /** Base64 of the 32-byte Ed25519 seed. */
  seed: z.base64(),
});

/** A signer and its kid, the thumbprint of its public key. */
export interface SigningKey {
  signer: Signer;
  kid: string;
}

/** The purpose of a key file, for messages. */
export type KeyUse = 'signing' | 'log';

/** Reads a key file. Throws `unavailable` when it cannot be read. */
export function readKeyFile(use: KeyUse, file: string): SigningKey {
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
      `the ${use} key file ${file} cannot be read (${messageOf(error)}); restore it from a backup, or move it away to have a new key made`,
    );
  }
}

/**
 * Makes a new key and writes it durably. With `keeps`, an existing file is kept and the new key discarded. Throws
 * `unavailable` when the file cannot be written.
 */
export function writeNewKey(use: KeyUse, file: string, name: string, options: { keeps?: boolean } = {}): SigningKey {
  const seed = randomBytes(32);
  const signer = signerFrom(name, seed);
  const kid = thumbprint(signer.publicKey);
  const text = `${JSON.stringify({ name, kid, seed: seed.toString('base64') })}\n`;
  writingKey(use, file, () => {
    makeFolder(dirname(file), 0o700);
    putFile(file, (aside) => writeFileSync(aside, text, { mode: 0o600 }), options);
  });
  return { signer, kid };
}

/** Runs code that writes a key file. Disk errors become an `unavailable` that names the file. */
export function writingKey(use: KeyUse, file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(
      'unavailable',
      `the ${use} key file ${file} cannot be written (${messageOf(error)}); check the free disk space and the folder's permissions`,
    );
  }
}
