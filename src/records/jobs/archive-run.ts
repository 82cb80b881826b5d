import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE, SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { codeOf, Fault, messageOf } from '../../shared/fault.ts';
import { AUDIT_FOLDER, sweepWorkFolders } from '../../shared/files/work-folder.ts';
import { LEASE_TIME, requestLease } from '../../shared/workers/lease.ts';
import { BATCH_PAUSE } from '../../shared/workers/poll.ts';
import { lookAtArchive } from './archive-look.ts';
import { Archiver } from './archiver.ts';
import { markDumps } from './dump-marks.ts';

/** How often the lease is renewed while a step works, in ms. */
const RENEW_EVERY = 2 * SECOND;

/**
 * How long a run waits for another one, in ms: a server's own takes its turn. One that was killed, or could not write that
 * it ended, is waited for as well: nobody archives then.
 */
const patience = (): number => (process.connected ? 30 * MINUTE : LEASE_TIME + RENEW_EVERY);

/**
 * Archives what is due, as the only one on this database. Resolves to false when another process archives for longer than
 * `wait` ms. Throws `invalid_request` without ARCHIVE_URL, and whatever keeps a step from its end.
 */
export async function runArchiver(app: AppContext, wait?: number): Promise<boolean> {
  const { archive: place } = app;
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to a bucket or a folder');
  return withArchiveLease(app, wait, async (assertHeld) => {
    await lookAtArchive(app);
    // What comes late for a dump is seen before it leaves.
    markDumps(app);
    const archiver = new Archiver(app, place, { assertHeld });
    while (await archiver.step()) await pause(BATCH_PAUSE);
  });
}

/**
 * Works on what leaves the database as the only one: the archive and the dumps. Resolves to false when another process
 * does for longer than `wait` ms. `assertHeld` throws when this process may not go on. Throws `unavailable` where
 * DATA_DIR cannot be written.
 */
export async function withArchiveLease(
  { store, signer, clock, settings }: AppContext,
  wait: number = patience(),
  work: (assertHeld: () => void) => Promise<void>,
): Promise<boolean> {
  signer.open();
  const lease = requestLease(store.database.leases, 'archive', clock.now, () => {});
  const until = performance.now() + wait;
  while (!lease.isHeld()) {
    if (performance.now() >= until) return false;
    await pause(RENEW_EVERY);
  }
  const renewal = setInterval(() => {
    try {
      lease.isHeld();
    } catch {
      // A full disk or a locked database: the next step meets it too, and says so.
    }
  }, RENEW_EVERY);
  try {
    sweepWorkFolders(settings.dataDir, AUDIT_FOLDER);
    // What a killed one was working on, with names that may be erased by now.
    for (const name of readdirSync(settings.dataDir)) {
      if (/^archive\.\d+$/.test(name)) rmSync(join(settings.dataDir, name), { recursive: true, force: true });
    }
    await work(() => {
      signer.assertHeld();
      if (!lease.isHeld()) throw new Fault('unavailable', 'another process archives now');
    });
    return true;
  } catch (error) {
    // Faults of the database and of the archive say it themselves: this is what is written here on the way.
    if (error instanceof Fault || !/^(?:ENOSPC|EDQUOT|EROFS|EACCES|EIO)$/.test(codeOf(error))) throw error;
    const message = `cannot write below ${settings.dataDir} (${messageOf(error)}); free space there, or correct its permissions`;
    throw new Fault('unavailable', message);
  } finally {
    clearInterval(renewal);
    lease.release();
  }
}
