import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isLink } from '../../shared/files/plain-file.ts';
import { filesIn } from '../press/tree.ts';

/** The demo papers, with a digest of each folder. After a change, the test of `demo remove` prints the new digest. */
export const DEMO_PAPERS = [
  { slug: 'the-leading-light', nameplate: 'The Leading Light', digest: '0f13a7f8301f813e' },
  { slug: 'the-plumb-line', nameplate: 'The Plumb Line', digest: '28274dd0c98d97ef' },
] as const;

/** Whether a paper is a demo paper. Compares the nameplate too, since another paper may have taken over the slug. */
export function isDemoPaper({ slug, nameplate }: { slug: string; nameplate: string }): boolean {
  return DEMO_PAPERS.some((demo) => demo.slug === slug && demo.nameplate === nameplate);
}

/** A digest of the names and bytes of all files below a folder; null when there is no folder. */
export function folderDigest(folder: string): string | null {
  if (!existsSync(folder)) return null;
  const hash = createHash('sha256');
  // Empty folders do not count, and links are not followed.
  for (const path of [...filesIn(folder)].sort()) {
    const file = join(folder, path);
    const bytes = isLink(file) ? readlinkSync(file) : readFileSync(file);
    hash.update(`${path}\0${createHash('sha256').update(bytes).digest('hex')}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}
