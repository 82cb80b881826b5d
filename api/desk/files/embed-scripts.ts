import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const known = new Map<string, { version: string; hashes: string[] }>();

/**
 * The hashes of the inline scripts in a pressed paper's embed cards, from its `_headers` file. Null for a paper that
 * was never pressed.
 */
export function embedScripts(folder: string): string[] | null {
  const file = join(folder, '_headers');
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const version = `${stat.mtimeMs} ${stat.size}`;
  const before = known.get(file);
  if (before?.version === version) return before.hashes;
  const listed = readFileSync(file, 'utf8').matchAll(/'(sha256-[A-Za-z0-9+/=]+)'/g);
  const hashes = [...new Set([...listed].map(([, hash = '']) => hash))];
  known.set(file, { version, hashes });
  return hashes;
}
