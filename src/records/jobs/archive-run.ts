import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { AUDIT_FOLDER, sweepWorkFolders } from '../../shared/files/work-folder.ts';
import { requestLease } from '../../shared/workers/lease.ts';
import { BATCH_PAUSE } from '../../shared/workers/poll.ts';
import { Archiver } from './archiver.ts';

/** How often the lease is renewed while a step works, in ms. */
const RENEW_EVERY = 2 * SECOND;

/**
 * Archives what is due, as the only one on this database. Resolves to false when another process archives for longer than
 * `patience` ms. Throws `invalid_request` without ARCHIVE_URL, and whatever keeps a step from its end.
 */
export async function runArchiver(app: AppContext, patience = 0): Promise<boolean> {
  const { archive: place, store, signer, clock, settings } = app;
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to a bucket or a folder');
  signer.open();
  const lease = requestLease(store.database.leases, 'archive', clock.now, () => {});
  const until = performance.now() + patience;
  while (!lease.isHeld()) {
    if (performance.now() >= until) return false;
    await pause(RENEW_EVERY);
  }
  const renewal = setInterval(() => lease.isHeld(), RENEW_EVERY);
  try {
    sweepWorkFolders(settings.dataDir, AUDIT_FOLDER);
    // What a killed one was working on, with names that may be erased by now.
    for (const name of readdirSync(settings.dataDir)) {
      if (/^archive\.\d+$/.test(name)) rmSync(join(settings.dataDir, name), { recursive: true, force: true });
    }
    const assertHeld = () => {
      signer.assertHeld();
      if (!lease.isHeld()) throw new Fault('unavailable', 'another process archives now');
    };
    const archiver = new Archiver(app, place, { assertHeld });
    while (await archiver.step()) await pause(BATCH_PAUSE);
    return true;
  } finally {
    clearInterval(renewal);
    lease.release();
  }
}
