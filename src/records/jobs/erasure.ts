import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { bucketHash, type Hostname, pathOf } from '../hostname.ts';

type Store = Pick<AppContext['store'], 'records'>;

/** Erases a host from the database. The archiver erases it from the archive. */
function eraseHost({ store: { records } }: { store: Store }, host: number): void {
  const notes = records
    .provenance(host, Number.MAX_SAFE_INTEGER)
    .map(({ seq, receipt }) => ({ seq, hash: createHash('sha256').update(receipt).digest() }));
  records.erasure.eraseHost(host, notes);
}

/**
 * Repeats erasures in a database that was restored from an older backup, and completes those interrupted by a kill.
 * Also opts these hosts out, since the backup may lack the opt-out. Returns whether there were any.
 */
export function eraseAgain({ store, clock }: Pick<AppContext, 'store' | 'clock'>): boolean {
  const { records } = store;
  let isAny = false;
  for (let host = records.erasure.erasedBefore(); host !== null; host = records.erasure.erasedBefore()) {
    if (records.optOutOf(host.hostname) === null) {
      records.optOut(host, 'erased before this database was restored', 'archive', clock.now());
    }
    isAny = true;
    records.erasure.eraseMessages(new Set([host.hostname]));
    eraseHost({ store }, host.id);
  }
  return isAny;
}

/** How many times emptying the write-ahead log is tried, and the pause between, in ms. */
const TRIES = 10;
const PAUSE = 200;

/**
 * Empties the write-ahead log, which still contains erased data. Returns false if that failed because other connections
 * still read an earlier state of the database.
 */
export async function forgetEarlier({ store }: Pick<AppContext, 'store'>): Promise<boolean> {
  for (let tried = 1; tried <= TRIES; tried++) {
    if (store.database.emptyWal()) return true;
    await pause(PAUSE);
  }
  return false;
}

/**
 * Erases a name and all names below it: opts them out, and deletes their observations, here at once and in the archive
 * with the next steps of the archiver. Returns the names. Throws `invalid_request` for a public suffix, and if there is
 * an archive but ARCHIVE_URL is not set.
 */
export function eraseName(app: AppContext, name: Hostname, reason: string): string[] {
  const { store, settings, clock } = app;
  const { records } = store;
  const hasArchive = settings.archiveUrl !== null || records.archive.newest() !== null;
  if (hasArchive && settings.archiveUrl === null) {
    throw new Fault(
      'invalid_request',
      'observations are in an archive, and ARCHIVE_URL is not set; set it, and erase again',
    );
  }
  // The opt-out is stored together with the erasures still to do, so that the archiver completes them after a kill.
  const hosts = store.database.transact(() => {
    records.optOut(name, reason, 'cli', clock.now());
    const below = records.erasure.hostsBelow(pathOf(name.hostname));
    for (const { hostname, path, registrable_domain } of hasArchive ? below : []) {
      records.archive.addErasure(path, bucketHash(hostname, registrable_domain));
    }
    return below;
  });
  records.erasure.eraseMessages(new Set(hosts.map(({ hostname }) => hostname)));
  for (const { id } of hosts) eraseHost(app, id);
  return hosts.map(({ hostname }) => hostname);
}
