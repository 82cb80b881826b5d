import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { makeFolder, putFile } from './durable-file.ts';

// The files and folders in DATA_DIR.

export const DATABASE_FILE = 'broadsheet.db';

interface DataFolder {
  dataDir: string;
}

export function databaseFile({ dataDir }: DataFolder): string {
  return join(dataDir, DATABASE_FILE);
}

export function mediaFolder({ dataDir }: DataFolder): string {
  return join(dataDir, 'media');
}

export function signingKeyFile({ dataDir }: DataFolder): string {
  return join(dataDir, 'door.key');
}

/** The secret from which the links in mails are made; created if there is none. Throws `unavailable`. */
export function linkKey({ dataDir }: DataFolder, of: 'readers' | 'accounts'): Uint8Array {
  return readerKey(join(dataDir, `${of}.key`));
}

const KEY_BYTES = 32;

/**
 * The secret that generates the links in mails: read from its file, or created (mode 0600) if there is none. Links in
 * sent mails remain valid without it, because the store has their hashes. Throws `unavailable`.
 */
export function readerKey(file: string): Uint8Array {
  try {
    return read(file) ?? make(file);
  } catch (error) {
    throw new Fault(
      'unavailable',
      `the key file ${file} cannot be used (${messageOf(error)}); check its permissions, or move it away to have a new key made`,
    );
  }
}

function read(file: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  const key = Buffer.from(text, 'base64');
  if (key.length !== KEY_BYTES) throw new Error(`it does not hold ${KEY_BYTES} bytes in base64`);
  return key;
}

/**
 * Creates a key, or keeps the one of another process that was faster. The key is on disk before the database contains
 * any hash made with it.
 */
function make(file: string): Uint8Array {
  const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
  makeFolder(dirname(file), 0o700);
  putFile(file, (aside) => writeFileSync(aside, text, { mode: 0o600 }), { keeps: true });
  const key = read(file);
  if (key === null) throw new Error('it was removed again');
  return key;
}
