import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Refusal } from './refusal.ts';

/** Throws a Refusal unless the name can be the address of a paper, in which it is a part of URLs. */
export function requireSlug(name: string): void {
  if (name.length <= 60 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return;
  throw new Refusal(
    `${JSON.stringify(name)} cannot be the address of a paper; use 1 to 60 of a–z, 0–9 and single hyphens, such as my-paper`,
  );
}

/** Throws a Refusal unless there is nothing at this path, or an empty folder. */
export function requireFree(folder: string): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    const what = code === 'ENOTDIR' ? 'is a file, not a folder' : `cannot be read (${message})`;
    throw new Refusal(`${folder} ${what}; choose another name`);
  }
  if (names.length === 0) return;
  throw new Refusal(`${folder} is not empty (it has ${names[0]}), and nothing in it was changed; choose another name`);
}

/** Writes files, by path, into a folder. */
export function writeFiles(folder: string, files: Map<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
