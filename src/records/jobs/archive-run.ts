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
import { removeLost } from './archive-lost.ts';
import { Archiver } from './archiver.ts';
import { markDumps } from './dump-marks.ts';

/** How often the lease is renewed while a step runs, in ms. */
const RENEW_EVERY = 2 * SECOND;

/**
 * How long a run waits for the lease, in ms. A server's own run waits for its turn. A manual run only waits long enough
 * for the lease of a process that was killed, or could not release it, to expire.
 */
const patience = (): number => (process.connected ? 30 * MINUTE : LEASE_TIME + RENEW_EVERY);

/**
 * Archives what is due, under the lease. Resolves to false when another process holds the lease for longer than `wait`
 * ms. Throws `invalid_request` without ARCHIVE_URL, and whatever stops a step.
 */
export async function runArchiver(app: AppContext, wait?: number): Promise<boolean> {
  const { archive: place } = app;
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to a bucket or a folder');
  return withArchiveLease(app, wait, async (assertHeld) => {
    try {
      await lookAtArchive(app);
      // Late observations must be noted for the dumps before they leave the database.
      markDumps(app);
      const archiver = new Archiver(app, place, { assertHeld });
      while (await archiver.step()) await pause(BATCH_PAUSE);
    } catch (error) {
      // What cannot be removed now is removed by the next run, which fails the same way.
      if (error instanceof Fault && error.code === 'conflict') await removeLost(app, place, assertHeld).catch(() => {});
      throw error;
    }
  });
}

/**
 * Runs work that moves data out of the database (the archive, the dumps) under a lease. Resolves to false when another
 * process holds the lease for longer than `wait` ms. `assertHeld` throws when this process has lost it. Throws
 * `unavailable` if DATA_DIR is not writable.
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
      // The disk is full or the database locked: the next step fails the same way and reports it.
    }
  }, RENEW_EVERY);
  try {
    sweepWorkFolders(settings.dataDir, AUDIT_FOLDER);
    // The working folders of killed processes may contain names that were erased since.
    for (const name of readdirSync(settings.dataDir)) {
      if (/^archive\.\d+$/.test(name)) rmSync(join(settings.dataDir, name), { recursive: true, force: true });
    }
    await work(() => {
      signer.assertHeld();
      if (!lease.isHeld()) throw new Fault('unavailable', 'another process is archiving');
    });
    return true;
  } catch (error) {
    // Faults of the database and the archive have their own messages; this one is for the local working files.
    if (error instanceof Fault || !/^(?:ENOSPC|EDQUOT|EROFS|EACCES|EIO)$/.test(codeOf(error))) throw error;
    const message = `cannot write below ${settings.dataDir} (${messageOf(error)}); free space there, or correct its permissions`;
    throw new Fault('unavailable', message);
  } finally {
    clearInterval(renewal);
    lease.release();
  }
}
