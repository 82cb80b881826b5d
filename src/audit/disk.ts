import { readFileSync } from 'node:fs';

/** The bytes of a file; null when it does not exist or is not a file. */
export function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
