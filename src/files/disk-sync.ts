import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Names the time since the machine started: what was written in it and is not on the disk yet is lost with it. */
const BOOT = bootId();

/** A note that the press up to a number wrote files in this boot that the disk may not have yet. */
export function unsyncedNote(until: number): string {
  return `${BOOT} ${until}`;
}

/** Whether files were written before the machine started and never known to be on the disk. `note` is null when all are. */
export function mayHaveLostWrites(note: string | null): boolean {
  return note !== null && note.split(' ')[0] !== BOOT;
}

/**
 * Brings everything written below a folder to the disk itself, all at once:
 * to sync each of a hundred thousand files takes minutes. Calls `done` when
 * that is so. Where the system has no such program, the files stay noted, and
 * are looked at after the next start of the machine.
 */
export function syncTree(folder: string, done: () => void): Promise<void> {
  return new Promise((resolve) => {
    execFile('sync', ['-f', folder], (error) => {
      try {
        if (error === null) done();
      } catch {
        // The database is busy or closed: the note stays, which costs a look and no file.
      }
      resolve();
    });
  });
}

function bootId(): string {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    // To the minute: the two clocks are not read at the same moment.
    return `boot-${Math.round((Date.now() / 1_000 - uptime()) / 60)}`;
  }
}
