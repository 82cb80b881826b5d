import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from './command-line.ts';

/** The file that marks a DATA_DIR as a demonstration. */
const MARKER_FILE = 'DEMONSTRATION';

/** Whether these records were invented by `broadsheet demo records`; if so, every page says so. */
export function isDemonstration({ dataDir }: { dataDir: string }): boolean {
  return existsSync(join(dataDir, MARKER_FILE));
}

export function markAsDemonstration({ dataDir }: { dataDir: string }): void {
  writeFileSync(
    join(dataDir, MARKER_FILE),
    `The records in this folder are invented: \`${CLI} demo records\` made them. Remove the folder when you are done.\n`,
  );
}
