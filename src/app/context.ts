import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { monotonicFactory } from 'ulid';
import { assertRestored } from '../backup/restore-folder.ts';
import type { Desk } from '../desk/filing.ts';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import { SEARCH_ROWS } from '../desk/search.ts';
import type { Settings } from '../env.ts';
import { codeOf, Fault } from '../fault.ts';
import { type MediaFiles, mediaFiles } from '../files/media.ts';
import { readerKey } from '../files/reader-key.ts';
import { type CurrentKey, currentSigningKey, openSigningKey } from '../files/signing-key.ts';
import { isTree } from '../files/tree.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { publicPapers } from '../press/newsstand.ts';
import type { Pictures } from '../press/output.ts';
import { openSearchReader } from '../store/search-reader.ts';
import { Snapshots } from '../store/snapshots.ts';
import { openStore, type Store } from '../store/store.ts';
import { type ClockCheck, ClockGuard, UNCHECKED } from './clock-guard.ts';
import { assertNotFenced, raiseFence } from './log-fence.ts';
import { fillLogs } from './log-fill.ts';
import { openPictures } from './pictures.ts';
import { Readiness } from './readiness.ts';
import { SearchPool } from './search-pool.ts';
import { ALONE, rightBeside, type SignerRight } from './signer.ts';
import { keyUnderName, signingName } from './signing-name.ts';

/** What commands and the server share: settings, database, files, and the signing key. */
export interface AppContext {
  settings: Settings;
  store: Store;
  /** Consistent snapshots of the ledger, for long reads. */
  snapshots: Snapshots;
  media: MediaFiles;
  /** The variants of pictures. */
  pictures: Pictures;
  /** Searches the papers on other threads. */
  searchPool: SearchPool;
  readiness: Readiness;
  /** Whether this server is the one that signs. */
  signer: SignerRight;
  /** Whether the clock may date what is signed. */
  clock: ClockCheck;
  /** The current time, in ms. */
  now(): number;
  /** Files and signs pieces. Its key is read on first use, because reading and pressing need no key. */
  readonly desk: Desk;
  /** Makes a missing signing key, and fills the logs. Every process that will sign calls it first. */
  openSigningKey(): void;
  /** The current signing key. Throws `unavailable` while the service may sign nothing (`log-fence.ts`). */
  signingKey(service: LogService): CurrentKey;
  close(): void;
}

// ulid expects numbers in [0, 1).
const ulid = monotonicFactory(() => randomInt(2 ** 32) / 2 ** 32);

/** Returns a new id: a lower-case ULID, monotonic within this process. */
export function newId(): string {
  // A ULID has no time before 1970.
  return ulid(Math.max(1, Date.now())).toLowerCase();
}

export function databaseFile(settings: Settings): string {
  return join(settings.dataDir, 'broadsheet.db');
}

export function mediaFolder(settings: Settings): string {
  return join(settings.dataDir, 'media');
}

export function signingKeyFile(settings: Settings): string {
  return join(settings.dataDir, 'door.key');
}

/** The secret of links in mails, made when it is missing. Throws `unavailable`. */
export function linkKey({ dataDir }: Settings, of: 'readers' | 'accounts'): Uint8Array {
  return readerKey(join(dataDir, `${of}.key`));
}

/**
 * Opens the database under `DATA_DIR`. Without addresses in the environment, those count at which a server last served,
 * so that a command beside it presses the same.
 */
export function openAppContext(given: Settings, now: () => number = Date.now): AppContext {
  assertRestored(given.dataDir);
  const file = databaseFile(given);
  const store = openStore({ file });
  const snapshots = new Snapshots(file);
  const { assumed, origin, dataOrigin } = given;
  const settings: Settings = {
    ...given,
    origin: (assumed.origin ? store.served.origin('desk') : null) ?? origin,
    dataOrigin: (assumed.dataOrigin ? store.served.origin('records') : null) ?? dataOrigin,
  };
  const keyFile = signingKeyFile(settings);
  const inForce = currentSigningKey(store, keyFile);
  const media = mediaFiles(mediaFolder(settings));
  const app: AppContext = {
    settings,
    store,
    snapshots,
    media,
    pictures: openPictures(settings, media),
    searchPool: new SearchPool(() => openSearchReader(file, SEARCH_ROWS)),
    readiness: new Readiness(store, {
      standsBy: () => app.signer.state()?.isHeld === false,
      isPressed: () => publicPapers(store).every(({ slug }) => isTree(join(settings.distDir, slug))),
    }),
    signer: settings.leaseUrl === null ? ALONE : rightBeside(settings),
    clock: UNCHECKED,
    now,
    desk: {
      store,
      get signingKey() {
        return app.signingKey('desk');
      },
      now,
      newId,
    },
    openSigningKey() {
      openSigningKey(store, keyFile, signingName(app.settings), now());
      fillLogs(store);
      for (const log of LOG_SERVICES) raiseFence(app, log);
    },
    signingKey(service) {
      app.signer.assertHeld();
      app.clock.assertRight();
      assertNotFenced(store.log, service);
      return keyUnderName(store, app.settings, service, inForce(), now());
    },
    close() {
      app.searchPool.close();
      snapshots.close();
      store.close();
    },
  };
  if (settings.leaseUrl !== null) store.log.guard(() => app.signer.assertHeld());
  store.log.guard(() => app.clock.assertRight());
  store.guard(() => app.clock.assertRight());
  return app;
}

/** Opens the app, runs `work`, and closes the app. Turns errors of the database into faults that name the cure. */
export async function withAppContext<T>(settings: Settings, work: (app: AppContext) => T | Promise<T>): Promise<T> {
  const app = openAppContext(settings);
  app.clock = new ClockGuard(app);
  try {
    return await work(app);
  } catch (error) {
    throw app.store.fault(error);
  } finally {
    app.close();
  }
}

/** As `withAppContext`, for existing data. Throws `not_found` instead of creating the database in the wrong folder. */
export async function withExistingData<T>(settings: Settings, work: (app: AppContext) => T | Promise<T>): Promise<T> {
  const file = databaseFile(settings);
  assertRestored(settings.dataDir);
  if (isMissing(file)) {
    throw new Fault(
      'not_found',
      `there is no database at ${file}; run this command in the folder of your project or set DATA_DIR, or start the server once to create one`,
    );
  }
  return withAppContext(settings, work);
}

/** Whether nothing is there. What cannot be looked at, as below a file, is for opening it to name. */
function isMissing(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

/** Throws `not_found`, listing the existing papers, when the paper does not exist. */
export function requirePaper({ store }: AppContext, paper: string): void {
  if (store.hasPaper(paper)) return;
  const papers = store.paperSlugs().join(', ') || 'none';
  throw new Fault('not_found', `there is no paper ${JSON.stringify(paper)}; there are ${papers}`);
}
