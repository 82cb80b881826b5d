import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../fault.ts';

/** The most links that a path may lead through. */
const LINKS_MAX = 40;

/** An absolute path without links, as the file system spells it, whether or not there is something at its end. */
export function realPath(path: string, links = LINKS_MAX): string {
  const absolute = resolve(path);
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    const parent = dirname(absolute);
    if (codeOf(error) !== 'ENOENT' || parent === absolute || links === 0) return absolute;
    const target = linkAt(absolute);
    return target === null
      ? join(realPath(parent, links), basename(absolute))
      : realPath(resolve(parent, target), links - 1);
  }
}

/** The target of a link; null for anything else. */
function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
