import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Hashes of the inline scripts in embed cards, from a tree's `_headers`; null for a paper that was never pressed. */
export function embedScripts(folder: string): string[] | null {
  const file = join(folder, '_headers');
  if (!existsSync(file)) return null;
  const listed = readFileSync(file, 'utf8').matchAll(/'(sha256-[A-Za-z0-9+/=]+)'/g);
  return [...new Set([...listed].map(([, hash = '']) => hash))];
}
