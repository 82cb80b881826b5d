import { statSync } from 'node:fs';
import type { Desk } from '../desk/file-story.ts';
import type { Pictures } from '../desk/press/output.ts';
import { openPictures } from '../desk/press/pictures.ts';
import { SEARCH_ROWS } from '../desk/search.ts';
import { type MediaFiles, mediaFiles } from '../media/media.ts';
import { codeOf, Fault } from '../shared/fault.ts';
import { databaseFile, mediaFolder, signingKeyFile } from '../shared/files/data-folder.ts';
import { assertRestored } from '../shared/files/restore-folder.ts';
import { newId } from '../shared/new-id.ts';
import { type ArchivePlace, openArchivePlace } from '../shared/storage/archive-place.ts';
import { type DumpPlace, openDumpPlace } from '../shared/storage/dump-place.ts';
import { type Clock, ClockGuard, clockOf } from '../signing/clock/clock-guard.ts';
import { type ServiceSigner, signerOf } from '../signing/signing.ts';
import { openSearchReader } from '../store/desk/search-reader.ts';
import { snapshotPool } from '../store/snapshots.ts';
import { openStore, type Store } from '../store/store.ts';
import type { Settings } from './env.ts';
import { SearchPool } from './search-pool.ts';

/** What commands and the server share. */
export interface AppContext {
  settings: Settings;
  store: AppStore;
  clock: Clock;
  signer: ServiceSigner;
  /** The archive of observations that left the database; null without ARCHIVE_URL. Opened on first use. */
  readonly archive: ArchivePlace | null;
  /** The place of the public dumps; null without DUMPS_URL. Opened on first use. */
  readonly dumps: DumpPlace | null;
  close(): void;
}

/** The database with its three handles, and the pools that work on it. */
export interface AppStore extends Store {
  /** Consistent snapshots of the ledger, for long reads. */
  snapshots: ReturnType<typeof snapshotPool>;
  /** Searches the papers on other threads. */
  searchPool: SearchPool;
  media: MediaFiles;
  /** The variants of pictures. */
  pictures: Pictures;
}

/**
 * Opens the database under `DATA_DIR`. `now` is the clock, in ms. Without an address in the environment, the app uses
 * the address at which a server last served, so that a command next to a running server presses the same addresses.
 */
export function openAppContext(given: Settings, now: () => number = Date.now): AppContext {
  assertRestored(given.dataDir);
  const file = databaseFile(given);
  const opened = openStore({ file });
  const { assumed, origin, dataOrigin } = given;
  const { served } = opened.database;
  const settings: Settings = {
    ...given,
    origin: (assumed.origin ? served.origin('desk') : null) ?? origin,
    dataOrigin: (assumed.dataOrigin ? served.origin('records') : null) ?? dataOrigin,
  };
  const media = mediaFiles(mediaFolder(settings));
  const store: AppStore = {
    ...opened,
    snapshots: snapshotPool(file),
    searchPool: new SearchPool(() => openSearchReader(file, SEARCH_ROWS)),
    media,
    pictures: openPictures(settings, media),
  };
  const clock = clockOf(now);
  const opening = { settings, store, clock };
  let archive: ArchivePlace | null | undefined;
  let dumps: DumpPlace | null | undefined;
  const app: AppContext = Object.assign(opening, {
    signer: signerOf(opening, signingKeyFile(settings)),
    archive: null,
    dumps: null,
    close() {
      store.searchPool.close();
      store.snapshots.close();
      store.database.close();
    },
  });
  Object.defineProperty(app, 'archive', {
    get() {
      archive ??= openArchivePlace(settings);
      return archive;
    },
  });
  Object.defineProperty(app, 'dumps', {
    get() {
      dumps ??= openDumpPlace(settings);
      return dumps;
    },
  });
  if (settings.leaseUrl !== null) store.database.log.guard(() => app.signer.assertHeld());
  store.database.log.guard(() => clock.assertRight());
  store.desk.guard(() => clock.assertRight());
  return app;
}

/** What `src/desk` needs to file and sign. The key is read on first use, because reading and pressing need none. */
export function deskOf({ store, clock, signer }: Pick<AppContext, 'store' | 'clock' | 'signer'>): Desk {
  return {
    store: store.desk,
    get signingKey() {
      return signer.key('desk');
    },
    now: clock.now,
    newId,
  };
}

/** What is needed to file folders, archives and exports. */
export function intakeOf(app: AppContext) {
  const { settings, store, clock, signer } = app;
  const { log, leases, fault } = store.database;
  return {
    settings,
    store: { ...store.desk, log, leases, fault },
    media: store.media,
    desk: deskOf(app),
    now: clock.now,
    openSigningKey: () => signer.open(),
  };
}

/** Opens the app, runs `work`, and closes the app. Turns errors of the database into faults that name the cure. */
export async function withAppContext<T>(settings: Settings, work: (app: AppContext) => T | Promise<T>): Promise<T> {
  const app = openAppContext(settings);
  app.clock.check = new ClockGuard(app);
  try {
    return await work(app);
  } catch (error) {
    throw app.store.database.fault(error);
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

/** Whether there is no file. Other errors, such as a path below a file, are reported when the database is opened. */
function isMissing(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}
