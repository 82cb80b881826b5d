import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a folder holds, by path. */
export interface Listing {
  /** A text for each file or link that changes whenever it is written, replaced or touched. */
  files: Map<string, string>;
  folders: string[];
}

/** Lists a folder and everything below it, without names that begin with a dot. An unreadable folder is empty. */
export function listing(folder: string, into: Listing = { files: new Map(), folders: [] }): Listing {
  let entries: import('node:fs').Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return into;
  }
  into.folders.push(folder);
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) listing(path, into);
    else into.files.set(path, stampOf(path));
  }
  return into;
}

/** Files that replace one another in the same millisecond differ in their inode. */
function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`;
}

/** The paths whose stamps differ, including those that only one of the two has. */
export function changedPaths(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Set<string> {
  const changed = new Set<string>();
  for (const [path, stamp] of now) if (before.get(path) !== stamp) changed.add(path);
  for (const path of before.keys()) if (!now.has(path)) changed.add(path);
  return changed;
}
