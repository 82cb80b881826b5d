import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../shared/fault.ts';
import { DATABASE_FILE } from '../shared/files/data-folder.ts';
import { putFile, syncFolder } from '../shared/files/durable-file.ts';
import { noteIn } from '../shared/files/plain-file.ts';
import { RESTORING } from '../shared/files/restore-folder.ts';

/**
 * The copy of a desk that `broadsheet standby` maintains. A note marks a folder whose content a newer backup may
 * replace. The server that acquires the lease removes the note before it signs.
 */

const NOTE = 'standby.copy';
/** The folder in which the next copy is restored and audited. */
const STAGE = '.standby';

const Note = z.object({
  /** Passed to the server that may serve this copy. */
  id: z.string(),
  /** The backup, and what distinguishes it from later ones at the same location. */
  backup: z.string(),
  version: z.string(),
  made_at: z.string(),
});
type CopyNote = z.infer<typeof Note>;

export const stageIn = (dataDir: string): string => join(dataDir, STAGE);

/** The note of a copy; null for a folder that is not a copy, or no longer one. */
export function readCopyNote(dataDir: string): CopyNote | null {
  return noteIn(join(dataDir, NOTE), Note);
}

export function writeCopyNote(dataDir: string, note: CopyNote): void {
  putFile(join(dataDir, NOTE), (aside) => writeFileSync(aside, `${JSON.stringify(note)}\n`));
}

/** Turns the copy into the folder of a desk, which nothing replaces. Durable when it returns. */
export function keepCopy(dataDir: string): void {
  const note = join(dataDir, NOTE);
  if (!existsSync(note)) return;
  rmSync(note);
  syncFolder(dataDir);
}

/** Throws `conflict` when a server would use a copy that may be replaced while it runs. */
export function assertOwnCopy(dataDir: string, id: string | undefined): void {
  const note = readCopyNote(dataDir);
  if (note === null || note.id === id) return;
  throw new Fault(
    'conflict',
    `${dataDir} is the copy of a standby, which replaces it by the next backup; run broadsheet standby, or remove ${join(dataDir, NOTE)} to keep this copy as it is`,
  );
}

/** The files that a new copy replaces. Media are named by content, so those of both are kept. */
const REPLACED = /^(?:broadsheet\.db(?:-wal|-shm)?|[a-z-]+\.key(?:\.next)?|settings|signer\.lease|standby\.copy)$/;

/**
 * Moves the staged copy into place while nothing uses the folder. If interrupted, it leaves no database, and the next
 * copy fills the folder.
 */
export async function putCopy(dataDir: string): Promise<void> {
  const stage = stageIn(dataDir);
  const under = join(dataDir, RESTORING);
  await mkdir(under, { recursive: true });
  syncFolder(dataDir);
  for (const name of readdirSync(dataDir)) {
    if (REPLACED.test(name)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  await moveMedia(join(stage, 'media'), join(dataDir, 'media'));
  const names = (await readdir(stage)).filter((name) => REPLACED.test(name));
  const last = (name: string) => Number(name.startsWith(DATABASE_FILE)) + Number(name === DATABASE_FILE);
  for (const name of names.sort((a, b) => last(a) - last(b))) renameSync(join(stage, name), join(dataDir, name));
  syncFolder(dataDir);
  await rm(under, { recursive: true });
  await rm(stage, { recursive: true });
}

async function moveMedia(from: string, to: string): Promise<void> {
  for (const part of existsSync(from) ? await readdir(from) : []) {
    await mkdir(join(to, part), { recursive: true });
    for (const name of await readdir(join(from, part))) await rename(join(from, part, name), join(to, part, name));
    syncFolder(join(to, part));
  }
}
