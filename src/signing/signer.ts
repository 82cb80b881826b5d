import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import { fromBase64 } from '../proof/bytes.ts';
import type { LogService } from '../proof/log/leaf.ts';
import { SECOND } from '../proof/time.ts';
import type { Settings } from '../server/env.ts';
import { Busy, Fault, messageOf } from '../shared/fault.ts';
import { putFile } from '../shared/files/durable-file.ts';
import { type Address, parseAddress, shownAddress, treePrefix } from '../shared/storage/address.ts';
import type { Bucket } from '../shared/storage/bucket.ts';
import { openBucket } from '../shared/storage/publish-target.ts';
import type { Store } from '../store/store.ts';
import { cureOf, holdsHead } from './log/log-fence.ts';
import { readLogKey } from './log/log-key.ts';
import { LEASE_FILE, type LeasedHead, type LeaseState, readLease, SignerLease } from './signer-lease.ts';
import { keepCopy } from './standby-copy.ts';

/** What decides whether this process may sign. */
export interface SignerRight {
  /** Throws `unavailable` with the reason when it may not. */
  assertHeld(): void;
  /** The lease as a server sees it; null without one, and for commands. */
  state(): LeaseState | null;
  /** Makes known that a head will be signed. Returns whether it may be. */
  announce(log: LogService, head: LeasedHead): Promise<boolean>;
}

/** A server without LEASE_URL is alone. */
export const ALONE: SignerRight = { assertHeld() {}, state: () => null, announce: async () => true };

/** Where a server says until when the commands on its machine may sign. */
const NOTE = 'signer.lease';
/** Monotonic clocks that all processes of a boot share, in ms. Only the second one keeps running during suspend. */
const clocks = () => [Number(process.hrtime.bigint() / 1_000_000n), uptime() * SECOND] as const;
const BOOT = bootOf();

/** For commands beside a server: they may sign while the server on this machine may. Heads are the server's alone. */
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

/** The lease of a server, to be acquired before signing. `signLast` signs what is left before another server does. */
export function openSignerLease(
  app: { settings: Settings; store: Store },
  url: string,
  logger: Logger,
  signLast: () => Promise<void>,
): SignerLease {
  const { settings, store } = app;
  const note = join(settings.dataDir, NOTE);
  let told = '';
  /** Another server over the same folder may hold the lease: its note stays. */
  let isNoted = false;
  const unnote = () => {
    if (isNoted) rmSync(note, { force: true });
    isNoted = false;
  };
  const lease: SignerLease = new SignerLease({
    ...leasePlace(settings, url),
    name: `${hostname()}, process ${process.pid}`,
    lasts: settings.leaseTime,
    desk: () => store.desk.signingKeys()[0]?.kid ?? null,
    requireContinued: (log, head) => requireContinued(app, log, head),
    waiting(reason) {
      if (reason !== told) logger.warn({ reason }, 'nothing is signed here');
      told = reason;
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
      // A command that has read the note is in a transaction, which ends first.
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

function leasePlace(settings: Settings, url: string): { bucket: Bucket; key: string } {
  const place = address(settings, url);
  return { bucket: openBucket(settings, place), key: `${treePrefix({ ...place, paper: '' }, '')}${LEASE_FILE}` };
}

function address(settings: Settings, url: string): Address {
  const parsed = parseAddress(url, settings.objectStorage);
  if (typeof parsed !== 'string') return parsed;
  throw new Fault('invalid_request', `LEASE_URL=${shownAddress(url)}: ${parsed}; correct it`);
}

/** Looks at the lease once. */
export async function readSignerLease(
  settings: Settings,
  url: string,
  app: { settings: Settings; store: Store } | null,
) {
  const { bucket, key } = leasePlace(settings, url);
  const found = await readLease(bucket, key);
  const holder = found?.record.holder ?? null;
  const isHere = isHeldHere(settings);
  // A holder renews six times in the time of the lease. Only a store reports the age of an object by its own clock.
  const age = found === null || address(settings, url).kind === 'folder' ? null : found.age;
  return {
    name: bucket.name,
    /** Null when no server holds it. */
    holder: holder === null ? null : { name: holder.name, since: holder.since ?? null },
    /** Whether the holder is a server of this machine, whose time is not over. */
    isHere,
    /** Whether the holder renewed it recently; null when one reading cannot tell. */
    isFresh: isHere ? true : age === null ? null : age < settings.leaseTime,
    /** Why a server over this database must not take it; null when it may, and without a database. */
    copyFault: app === null || found === null ? null : copyFault(app, found.record.heads),
  };
}

/** Whether the holder renews the lease while one watches for up to half of its time. */
export async function watchSignerLease(settings: Settings, url: string): Promise<boolean> {
  const { bucket, key } = leasePlace(settings, url);
  const first = await readLease(bucket, key);
  for (let waited = 0; waited < settings.leaseTime / 2; waited += settings.leaseTime / 20) {
    await sleep(settings.leaseTime / 20);
    if ((await readLease(bucket, key))?.etag !== first?.etag) return true;
  }
  return false;
}

function copyFault(
  app: { settings: Settings; store: Store },
  heads: Readonly<Record<LogService, LeasedHead | null>>,
): string | null {
  try {
    for (const log of LOG_SERVICES) {
      const head = heads[log];
      if (head !== null) requireContinued(app, log, head);
    }
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}

/** Throws when a log of this database does not continue a head that another server may have signed. */
function requireContinued(
  { settings, store }: { settings: Settings; store: Store },
  log: LogService,
  { origin, size, root }: LeasedHead,
): void {
  const key = readLogKey({ settings, store }, log);
  // A log of another name is another log.
  if (key !== null && key.origin !== origin) return;
  const head = { size, root: fromBase64(root) ?? new Uint8Array() };
  if (holdsHead(store.database.log, log, head)) return;
  const count = (n: number) => n.toLocaleString('en');
  throw new Fault(
    'unavailable',
    `the log ${origin} has ${count(store.database.log.size(log))} leaves here, and the server that signed last has signed others, or more: ${count(size)}; ${cureOf(log)}`,
  );
}

function isHeldHere({ dataDir }: Pick<Settings, 'dataDir'>): boolean {
  const [boot, ...until] = noteIn(join(dataDir, NOTE));
  return boot === BOOT && clocks().every((now, n) => Number(until[n]) > now);
}

function noteIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(' ');
  } catch {
    return [];
  }
}

function bootOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
}

/** Which of several servers signs, as a command of this machine sees it, and why nothing is signed here; null without LEASE_URL. */
export async function signerStatus(app: { settings: Settings; store: Store }) {
  const { settings } = app;
  if (settings.leaseUrl === null) return null;
  try {
    const { holder, isHere, isFresh, copyFault } = await readSignerLease(settings, settings.leaseUrl, app);
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
