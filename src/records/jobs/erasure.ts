import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { bucketHash, type Hostname, pathOf } from '../hostname.ts';

type Store = Pick<AppContext['store'], 'records'>;

/** Erases what the database has of a host. What is in the archive is the archiver's to erase. */
function eraseHost({ store: { records } }: { store: Store }, host: number): void {
  const notes = records
    .provenance(host, Number.MAX_SAFE_INTEGER)
    .map(({ seq, receipt }) => ({ seq, hash: createHash('sha256').update(receipt).digest() }));
  records.erasure.eraseHost(host, notes);
}

/**
 * Erases again what a restored database has of hosts that were erased since its backup, and what a kill left. Such a host
 * is opted out: the backup does not know that it was. Returns whether there was any.
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

/** How often the log of the database is tried to be emptied, and the pause between, in ms. */
const TRIES = 10;
const PAUSE = 200;

/**
 * Empties the write-ahead log, which still has what was erased. Returns whether it could: while somebody reads an earlier
 * state of the database, it cannot.
 */
export async function forgetEarlier({ store }: Pick<AppContext, 'store'>): Promise<boolean> {
  for (let tried = 1; tried <= TRIES; tried++) {
    if (store.database.emptyWal()) return true;
    await pause(PAUSE);
  }
  return false;
}

/**
 * Erases a name and all names below it: opts them out, and forgets what they answered, here at once and in the archive
 * in the next steps of the archiver. Returns the names. Throws `invalid_request` for a public suffix, and when the
 * archive cannot be reached because ARCHIVE_URL is not set.
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
  // With the opt-out, what remains to be done: the archiver completes it after a kill.
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
