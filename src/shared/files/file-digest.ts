import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** In bytes. Larger files are hashed in parts, because videos have no size limit. */
const WHOLE_MAX = 8 * 1024 * 1024;

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

/** The same without blocking this thread. Throws when the file cannot be read. */
export async function digestOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest('hex')}`;
}
