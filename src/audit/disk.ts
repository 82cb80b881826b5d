import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** In bytes. Larger files are hashed in parts, because videos have no size limit. */
const WHOLE_MAX = 8 * 1024 * 1024;

/** The bytes of a file; null when it does not exist or is not a file. */
export function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

/** `sha256:<hex>` of a file; null when it does not exist or is not a file. */
export function digestOf(file: string): string | null {
  const hash = createHash('sha256');
  try {
    const input = openSync(file, 'r');
    try {
      if (fstatSync(input).size <= WHOLE_MAX) hash.update(readFileSync(input));
      else {
        const part = Buffer.allocUnsafe(WHOLE_MAX);
        for (let size = readSync(input, part); size > 0; size = readSync(input, part)) {
          hash.update(part.subarray(0, size));
        }
      }
    } finally {
      closeSync(input);
    }
  } catch {
    return null;
  }
  return `sha256:${hash.digest('hex')}`;
}
