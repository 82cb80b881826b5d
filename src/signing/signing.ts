import { LOG_SERVICES } from '../desk/log-leaves.ts';
import type { LogService } from '../proof/log/leaf.ts';
import type { Settings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { signingKeyFile } from '../shared/files/data-folder.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from './clock/clock-guard.ts';
import { assertNotFenced, raiseFence } from './log/log-fence.ts';
import { fillLogs } from './log/log-fill.ts';
import { ALONE, rightBeside, type SignerRight } from './signer.ts';
import { type CurrentKey, currentSigningKey, openSigningKey, rotateSigningKey } from './signing-key.ts';
import { keyUnderName, signingName } from './signing-name.ts';

interface SigningContext {
  settings: Settings;
  store: Store;
  clock: Clock;
}

export interface ServiceSigner extends SignerRight {
  /** Whether this process may sign. A server with LEASE_URL sets it to its lease. */
  right: SignerRight;
  /**
   * Creates the signing key if there is none, and logs what was signed before the log existed. Every process that will
   * sign calls it first.
   */
  open(): void;
  /** The current signing key. Throws `unavailable` while nothing may be signed for the service (`log-fence.ts`). */
  key(service: LogService): CurrentKey;
  /**
   * Whether this process knows which observations are archived; always true without ARCHIVE_URL. Until then it signs no
   * observation, because an older copy of the database would assign their numbers again.
   */
  knowsArchive: boolean;
}

/**
 * Signs with the key in a file, which is read on first use: reading and pressing need no key. Reads the settings at
 * each use, because a running server may load new ones.
 */
export function signerOf(app: SigningContext, file: string): ServiceSigner {
  const { store, clock } = app;
  const inForce = currentSigningKey(store, file);
  const signer: ServiceSigner = {
    right: app.settings.leaseUrl === null ? ALONE : rightBeside(app.settings),
    knowsArchive: app.settings.archiveUrl === null,
    assertHeld: () => signer.right.assertHeld(),
    state: () => signer.right.state(),
    announce: (log, head) => signer.right.announce(log, head),
    open() {
      noteNode(app);
      openSigningKey(store, file, signingName(app.settings), clock.now());
      fillLogs(store);
      for (const log of LOG_SERVICES) raiseFence(app, log);
    },
    key(service) {
      signer.assertHeld();
      clock.assertRight();
      assertNotFenced(store.database.log, service);
      return keyUnderName(store, app.settings, service, inForce(), clock.now());
    },
  };
  return signer;
}

/**
 * Records which node this database belongs to. Throws `conflict` if it belongs to another one: two nodes with the same
 * key would sign two logs with the same name. Throws `invalid_request` for a node without a lease.
 */
function noteNode({ settings, store, clock }: SigningContext): void {
  const own = settings.nodes?.own ?? null;
  const newest = store.records.node.newest();
  if (newest !== null && newest.name !== own?.name) {
    const message = `this database is of node ${newest.name}, and RECORDS_NODE is ${own?.name ?? 'not set'}; set it to ${newest.name}, or give this node a DATA_DIR of its own`;
    throw new Fault('conflict', message);
  }
  if (own === null) return;
  if (settings.leaseUrl === null) {
    const message =
      'RECORDS_NODE is set, but LEASE_URL is not; set it on every node, so that no two nodes sign for the same name';
    throw new Fault('invalid_request', message);
  }
  if (newest?.range !== own.range) store.records.node.note(own.name, own.range, clock.now());
}

/**
 * Replaces the signing key; returns its thumbprint. Throws `unavailable` on an old copy, which would announce a key
 * that the log does not contain.
 */
export function rotateKey({ store, settings, clock }: SigningContext): string {
  for (const log of LOG_SERVICES) {
    raiseFence({ settings, store }, log);
    assertNotFenced(store.database.log, log);
  }
  return rotateSigningKey(store, signingKeyFile(settings), signingName(settings), clock.now()).kid;
}
