import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from '../fault.ts';

const KEY_BYTES = 32;

/**
 * The secret that the links in mails are made with: read from its file, or made
 * (mode 0600) on first use. When it is lost, links that were mailed still hold,
 * since the store has their hashes. Throws `unavailable`.
 */
export function readerKey(file: string): Uint8Array {
  try {
    return read(file) ?? make(file);
  } catch (error) {
    throw new Fault(
      'unavailable',
      `the key file ${file} cannot be used (${(error as Error).message}); check its permissions, or move it away and a new key is made`,
    );
  }
}

function read(file: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const key = Buffer.from(text, 'base64');
  if (key.length !== KEY_BYTES) throw new Error(`it does not hold ${KEY_BYTES} bytes in base64`);
  return key;
}

/** Written aside first, so that no process reads half of it; where another made one meanwhile, that one stays. */
function make(file: string): Uint8Array {
  const aside = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(aside, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
    try {
      linkSync(aside, file);
    } catch (error) {
      // A disk that knows no hard links.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(aside, file);
    }
  } finally {
    rmSync(aside, { force: true });
  }
  const key = read(file);
  if (key === null) throw new Error('it was taken away again');
  return key;
}
