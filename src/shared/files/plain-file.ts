import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { CLI } from '../command-line.ts';
import { codeOf, Fault } from '../fault.ts';

/** Whether there is a link at a path. */
export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/**
 * A regular file below a folder; null without one, or where a link is part of the path below the folder: what a link
 * leads to may be anything on this machine.
 */
export function plainFile(folder: string, path: string): Stats | null {
  let stat: Stats | undefined;
  let at = folder;
  for (const name of path.split('/').filter(Boolean)) {
    at += `/${name}`;
    stat = statOf(at);
    if (stat === undefined || stat.isSymbolicLink()) return null;
  }
  return stat?.isFile() === true ? stat : null;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A name that the file system cannot represent, or a file where a folder belongs.
    if (/^(?:ENAMETOOLONG|ENOTDIR|EINVAL|EILSEQ|ERR_INVALID_ARG_VALUE|ENOENT)$/.test(codeOf(error))) return undefined;
    throw error;
  }
}

/** The text of a file; null when it cannot be read. */
export function textIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Throws `conflict` for a path below a folder that leads through a link. */
export function requireUnlinked(folder: string, path: string): void {
  let at = folder;
  for (const name of path.split('/').filter(Boolean)) {
    at += `/${name}`;
    if (!isLink(at)) continue;
    throw new Fault(
      'conflict',
      `${at} is a link, and nothing that a link leads to is published; remove it and run \`${CLI} press --full\``,
    );
  }
}
