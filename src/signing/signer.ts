import { rmSync, writeFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import { fromBase64 } from '../proof/bytes.ts';
import type { LogService } from '../proof/log/leaf.ts';
import { SECOND } from '../proof/time.ts';
import type { Settings } from '../server/env.ts';
import { Busy, caught, Fault, messageOf } from '../shared/fault.ts';
import { putFile } from '../shared/files/durable-file.ts';
import { textIn } from '../shared/files/plain-file.ts';
import { parseAddress, shownAddress, treePrefix } from '../shared/storage/address.ts';
import { openBucket } from '../shared/storage/publish-target.ts';
import { BOOT_ID } from '../shared/workers/process-name.ts';
import type { Store } from '../store/store.ts';
import { cureOf, holdsHead } from './log/log-fence.ts';
import { newLogOrigin, readLogKey } from './log/log-key.ts';
import { leaseKey, RangeClaim } from './range-claim.ts';
import {
  cededWords,
  type LeasedHead,
  type LeasedHeads,
  type LeaseState,
  readLease,
  SignerLease,
} from './signer-lease.ts';
import { keepCopy } from './standby-copy.ts';

/** Whether this process may sign. */
export interface SignerRight {
  /** Throws `unavailable` with the reason when it may not. */
  assertHeld(): void;
  /** The lease as a server sees it; null without a lease, and for commands. */
  state(): LeaseState | null;
  /** Announces that a head will be signed. Returns whether it may be. */
  announce(log: LogService, head: LeasedHead): Promise<boolean>;
}

/** Without LEASE_URL, a server is the only one. */
export const ALONE: SignerRight = { assertHeld() {}, state: () => null, announce: async () => true };

interface LeaseContext {
  settings: Settings;
  store: Store;
}

/** The file in which a server states until when commands on its machine may sign. */
const NOTE = 'signer.lease';
/** Two monotonic clocks that all processes of a boot share, in ms. Only the second one keeps running during suspend. */
const clocks = () => [Number(process.hrtime.bigint() / 1_000_000n), uptime() * SECOND] as const;
const BOOT = BOOT_ID ?? 'boot';

/** For commands: they may sign while the server on this machine may, but not heads, which only the server signs. */
export function rightBeside({ dataDir }: Settings): SignerRight {
  return {
    assertHeld() {
      if (isHeldHere({ dataDir })) return;
      throw new Busy('nothing is signed here: no server on this machine holds the lease of LEASE_URL; start one');
    },
    state: () => null,
    announce: async () => false,
  };
}

/**
 * The lease of a server, which must acquire it before signing. `signLast` signs the last heads before another server
 * takes over.
 */
export function openSignerLease(
  app: LeaseContext,
  url: string,
  logger: Logger,
  signLast: () => Promise<void>,
): SignerLease {
  const { settings, store } = app;
  const { bucket, key, prefix } = leaseLocation(settings, url);
  const note = join(settings.dataDir, NOTE);
  const desk = () => store.desk.signingKeys()[0]?.kid ?? null;
  let lastReason = '';
  /**
   * Whether this server wrote the note: another server on the same folder may hold the lease, and its note must stay.
   */
  let isNoted = false;
  const unnote = () => {
    if (isNoted) rmSync(note, { force: true });
    isNoted = false;
  };
  const lease: SignerLease = new SignerLease({
    bucket,
    key,
    name: `${hostname()}, process ${process.pid}`,
    lasts: settings.leaseTime,
    desk,
    claim: settings.nodes?.own && new RangeClaim({ bucket, prefix, lasts: settings.leaseTime }, settings.nodes, desk),
    requireContinued: (heads) => requireContinued(app, heads),
    waiting(reason) {
      if (reason !== lastReason) logger.warn({ reason }, 'nothing is signed here');
      lastReason = reason;
    },
    renewed() {
      keepCopy(settings.dataDir);
      const until = clocks().map((now) => Math.floor(now + lease.heldFor()));
      isNoted = true;
      try {
        putFile(note, (aside) => writeFileSync(aside, `${[BOOT, ...until].join(' ')}\n`));
      } catch (error) {
        logger.warn({ err: error }, 'the commands on this machine cannot sign: their note was not written');
      }
    },
    async releasing() {
      unnote();
      // A command that has read the note may be in a transaction: wait until that ends.
      store.database.transact(() => {});
      if (lease.isHeld()) await signLast();
    },
  });
  lease.lost.addEventListener('abort', () => {
    try {
      unnote();
    } catch {
      // The disk rejects writes, so commands cannot write either.
    }
  });
  store.database.log.guard(() => lease.assertHeld());
  return lease;
}

function leaseLocation(settings: Settings, url: string) {
  const address = parseAddress(url, settings.objectStorage);
  if (typeof address === 'string') {
    throw new Fault('invalid_request', `LEASE_URL=${shownAddress(url)}: ${address}; correct it`);
  }
  const prefix = treePrefix({ ...address, paper: '' }, '');
  const key = leaseKey(prefix, settings.nodes);
  return { bucket: openBucket(settings, address), prefix, key, isFolder: address.kind === 'folder' };
}

/** Reads the lease once. */
export async function readSignerLease(settings: Settings, url: string, app: LeaseContext | null) {
  const { bucket, key, isFolder } = leaseLocation(settings, url);
  const found = await readLease(bucket, key);
  const holder = found?.record.holder ?? null;
  const isHere = isHeldHere(settings);
  // A holder renews six times within the lease's duration. Only object storage reports an object's age by its own
  // clock; a folder does not.
  const age = found === null || isFolder ? null : found.age;
  return {
    name: bucket.name,
    /** Null when no server holds it. */
    holder: holder === null ? null : { name: holder.name, since: holder.since ?? null },
    /** Whether the holder is a server on this machine whose lease has not expired. */
    isHere,
    /** Whether the holder renewed it recently; null when a single reading cannot tell. */
    isFresh: isHere ? true : age === null ? null : age < settings.leaseTime,
    /** Why a server on this database must not take the lease; null when it may, and without a database. */
    copyFault: app === null || found === null ? null : copyFault(app, found.record.heads),
    /** The node that took over this one, for good; null when none did. */
    ceded: found?.record.ceded ?? null,
  };
}

/** Watches the lease for up to half its duration. Returns whether the holder renewed it. */
export async function watchSignerLease(settings: Settings, url: string): Promise<boolean> {
  const { bucket, key } = leaseLocation(settings, url);
  const first = await readLease(bucket, key);
  for (let waited = 0; waited < settings.leaseTime / 2; waited += settings.leaseTime / 20) {
    await sleep(settings.leaseTime / 20);
    if ((await readLease(bucket, key))?.etag !== first?.etag) return true;
  }
  return false;
}

function copyFault(app: LeaseContext, heads: LeasedHeads): string | null {
  const fault = caught(Fault, () => requireContinued(app, heads));
  return fault instanceof Fault ? fault.message : null;
}

/** Throws when a log of this database does not continue a head that another server may have signed. */
function requireContinued({ settings, store }: LeaseContext, heads: LeasedHeads): void {
  for (const log of LOG_SERVICES) {
    const signed = heads[log];
    if (signed === null) continue;
    const key = readLogKey({ settings, store }, log);
    // A log with another name is a different log, even before its key exists.
    if ((key?.origin ?? newLogOrigin(settings, log)) !== signed.origin) continue;
    const { origin, size } = signed;
    const head = { size, root: fromBase64(signed.root) ?? new Uint8Array() };
    if (holdsHead(store.database.log, log, head)) continue;
    const [here, there] = [store.database.log.size(log), size].map((n) => n.toLocaleString('en'));
    throw new Fault(
      'unavailable',
      `the log ${origin} has ${here} leaves here, and the server that signed last has signed others, or more: ${there}; ${cureOf(log)}`,
    );
  }
}

function isHeldHere({ dataDir }: Pick<Settings, 'dataDir'>): boolean {
  const [boot, ...until] = (textIn(join(dataDir, NOTE)) ?? '').trim().split(' ');
  return boot === BOOT && clocks().every((now, n) => Number(until[n]) > now);
}

/**
 * Which of several servers signs, as seen by a command on this machine, and why nothing is signed here; null without
 * LEASE_URL.
 */
export async function signerStatus(app: LeaseContext) {
  const { settings } = app;
  if (settings.leaseUrl === null) return null;
  try {
    const { holder, isHere, isFresh, copyFault, ceded } = await readSignerLease(settings, settings.leaseUrl, app);
    if (ceded !== null) return { signs_here: false, holder: null, reason: cededWords(ceded) };
    if (isHere) return { signs_here: true, holder, reason: null };
    const reason =
      holder === null
        ? (copyFault ?? 'no server holds the lease; the next one to start takes it')
        : isFresh === false
          ? `${holder.name} holds the lease and no longer renews it${copyFault === null ? '' : `; ${copyFault}`}`
          : `${holder.name} signs${holder.since === null ? '' : `, since ${holder.since}`}`;
    return { signs_here: false, holder, reason };
  } catch (error) {
    return { signs_here: false, holder: null, reason: messageOf(error) };
  }
}

export function signerLines(status: Awaited<ReturnType<typeof signerStatus>>): string[] {
  if (status === null) return [];
  const { signs_here, holder, reason } = status;
  if (signs_here) return [`signing: ${holder?.name ?? 'a server'}, on this machine, holds the lease`];
  return [`signing: nothing is signed here: ${reason}`];
}
