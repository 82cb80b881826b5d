import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../fault.ts';

/** An absolute path without links, as the file system spells it. What does not exist yet stays as it is. */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(absolute) === absolute) return absolute;
    return join(realPath(dirname(absolute)), basename(absolute));
  }
}
