import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY } from '../../proof/time.ts';
import { isDead, PROCESS } from '../workers/process-name.ts';
import { textIn } from './plain-file.ts';

/** The prefix of folders in DATA_DIR that belong to audits of the archive. */
export const AUDIT_FOLDER = 'archive-audit.';
/** The file that names the process that owns a folder. */
const OWNER = 'owner';

/** Makes a folder for the work of this process, after removing those that killed processes left. */
export function newWorkFolder(parent: string, prefix: string): string {
  sweepWorkFolders(parent, prefix);
  const folder = mkdtempSync(join(parent, prefix));
  writeFileSync(join(folder, OWNER), `${PROCESS}:audit`);
  return folder;
}

/** Removes the folders of killed processes of this machine, and all that are older than a day. */
export function sweepWorkFolders(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    const owner = textIn(join(folder, OWNER));
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if ((owner !== null && isDead(owner)) || age > DAY) rmSync(folder, { recursive: true, force: true });
  }
}
