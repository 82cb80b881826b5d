import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../env.ts';
import { Busy, Fault } from '../fault.ts';
import { putFile } from '../files/durable-file.ts';
import { fromBase64 } from '../ledger/bytes.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { parseAddress, shownAddress, treePrefix } from '../publish/address.ts';
import type { Bucket } from '../publish/bucket.ts';
import { LEASE_FILE, type LeasedHead, readLease, SignerLease } from '../standby/signer-lease.ts';
import type { Store } from '../store/store.ts';
import { cureOf, holdsHead } from './log-fence.ts';
import { readLogKey } from './log-key.ts';
import { openBucket } from './publish-target.ts';

/** What decides whether this process may sign. */
export interface SignerRight {
  /** Throws `unavailable` with the reason when it may not. */
  assertHeld(): void;
  /** Makes known that a head will be signed. Returns whether it may be. */
  announce(log: LogService, head: LeasedHead): Promise<boolean>;
}

/** A server without LEASE_URL is alone. */
export const ALONE: SignerRight = { assertHeld() {}, announce: async () => true };

/** Where a server says until when the commands on its machine may sign. */
const NOTE = 'signer.lease';
/** One clock for all processes of a boot, which nobody sets, in ms. */
const uptime = () => Number(process.hrtime.bigint() / 1_000_000n);
const BOOT = bootOf();

/** For commands beside a server: they may sign while the server on this machine may. Heads are the server's alone. */
export function rightBeside({ dataDir }: Settings): SignerRight {
  return {
    assertHeld() {
      if (isHeldHere({ dataDir })) return;
      throw new Busy('nothing is signed here: no server on this machine holds the lease of LEASE_URL; start one');
    },
    announce: async () => false,
  };
}

/** The lease of a server. Acquire it before anything is signed. */
export function openSignerLease(app: { settings: Settings; store: Store }, url: string, logger: Logger): SignerLease {
  const { settings, store } = app;
  let told = '';
  const lease: SignerLease = new SignerLease({
    ...leasePlace(settings, url),
    name: `${hostname()}, process ${process.pid}`,
    lasts: settings.leaseTime,
    requireContinued: (log, head) => requireContinued(app, log, head),
    waiting(reason) {
      if (reason !== told) logger.warn({ reason }, 'nothing is signed here');
      told = reason;
    },
    renewed() {
      const until = uptime() + lease.heldUntil() - performance.now();
      putFile(join(settings.dataDir, NOTE), (aside) => writeFileSync(aside, `${BOOT} ${Math.floor(until)}\n`));
    },
  });
  store.log.guard(() => lease.assertHeld());
  return lease;
}

function leasePlace(settings: Settings, url: string): { bucket: Bucket; key: string } {
  const address = parseAddress(url, settings.objectStorage);
  if (typeof address === 'string')
    throw new Fault('invalid_request', `LEASE_URL=${shownAddress(url)}: ${address}; correct it`);
  return {
    bucket: openBucket(settings, address),
    key: `${treePrefix({ ...address, paper: '' }, '')}${LEASE_FILE}`,
  };
}

/** Who holds the lease, null when nobody does, and whether it is a server of this machine. */
export async function readSignerLease(
  settings: Settings,
  url: string,
): Promise<{ name: string; holder: string | null; isHere: boolean }> {
  const { bucket, key } = leasePlace(settings, url);
  const found = await readLease(bucket, key);
  return { name: bucket.name, holder: found?.record.holder?.name ?? null, isHere: isHeldHere(settings) };
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
  if (holdsHead(store.log, log, head)) return;
  const count = (n: number) => n.toLocaleString('en');
  throw new Fault(
    'unavailable',
    `the log ${origin} has ${count(store.log.size(log))} leaves here, and the server that signed last has signed others, or more: ${count(size)}; ${cureOf(log)}`,
  );
}

function isHeldHere({ dataDir }: Pick<Settings, 'dataDir'>): boolean {
  const [boot, until] = noteIn(join(dataDir, NOTE));
  return boot === BOOT && Number(until) > uptime();
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
