import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Imports and re-exports, except of types alone, which leave nothing in the running code. */
const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^;']*?\sfrom\s+)?'([^']+)';/gm;

/**
 * A digest of modules with everything that they import, for keeping what they make until their code changes. A
 * package counts by its version, and those that it depends on by theirs.
 */
export function codeDigest(entries: readonly URL[]): string {
  const hash = createHash('sha256');
  const seen = new Set<string>();
  const add = (file: string, text: string): boolean => {
    if (seen.has(file)) return false;
    seen.add(file);
    hash.update(`${text}\0`);
    return true;
  };
  const addModule = (file: URL): void => {
    const text = readFileSync(file, 'utf8');
    if (!add(file.href, text)) return;
    for (const [, name = ''] of text.matchAll(IMPORT)) {
      if (name.startsWith('.')) addModule(new URL(name, file));
      else if (!name.startsWith('node:')) addPackage(name, file);
    }
  };
  const addPackage = (name: string, from: URL | string): void => {
    const file = findPackageJSON(name, from);
    if (file === undefined) throw new Error(`the package ${name} has no package.json; run npm ci`);
    const { version, dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
      version: string;
      dependencies?: Record<string, string>;
    };
    if (!add(file, `${name} ${version}`)) return;
    for (const dependency of Object.keys(dependencies)) addPackage(dependency, file);
  };
  for (const entry of entries) addModule(entry);
  return hash.digest('hex');
}
