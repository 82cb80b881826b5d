import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/**
 * The papers that come with Broadsheet, with the digest of each folder. Whoever changes one changes its digest: the
 * test beside `demo remove` says the new one.
 */
export const DEMO_PAPERS = [
  { slug: 'the-leading-light', nameplate: 'The Leading Light', digest: 'e66e3c4d31fef825' },
  { slug: 'the-plumb-line', nameplate: 'The Plumb Line', digest: 'ce73f47a59916819' },
] as const;

/** A digest of the names and bytes of all files below a folder; null when there is no folder. */
export function folderDigest(folder: string): string | null {
  if (!existsSync(folder)) return null;
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    // An empty folder is nothing of the desk's.
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) {
    const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
    hash.update(`${relative(folder, file).split(sep).join('/')}\0${digest}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
