import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod';
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
  return bytesIn(file)?.toString('utf8') ?? null;
}

/** The bytes of a file; null when it cannot be read. */
export function bytesIn(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

/** The note that a process left in a file as JSON; null without one of this shape. */
export function noteIn<Note>(file: string, shape: z.ZodType<Note>): Note | null {
  try {
    return shape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

/** The folder itself, or the nearest one above it that exists. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
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

/** How many bytes a file has; 0 without one. */
export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
