import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaKey } from '../../media/media.ts';
import { VIDEO_BYTES_MAX } from '../../media/media-formats.ts';
import { sha256 } from '../../proof/basis.ts';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { Fault } from '../../shared/fault.ts';
import { digestOf, digestOfFile } from '../../shared/files/file-digest.ts';
import { realPath } from '../../shared/files/real-path.ts';
import { parseAddress, shownAddress, treePrefix } from '../../shared/storage/address.ts';
import { requireApart, requireUnpublished } from '../../shared/storage/backup-location.ts';
import type { Bucket } from '../../shared/storage/bucket.ts';
import { openBucket } from '../../shared/storage/publish-target.ts';
import { dependencies } from '../dependencies.ts';
import { castFile } from '../papers/cast.ts';

/**
 * Media whose files are missing from DATA_DIR or damaged. The press shows stand-ins for the files listed in the table;
 * every change of the table marks the outputs that show the file as stale.
 */

type MediaContext = Pick<AppContext, 'store' | 'settings' | 'clock'>;

/** The location of a media file: the paper and the path under its root. */
export interface MediaLocation {
  paper: string;
  path: string;
}

/**
 * Checks before a press which missing media are back. With `fetches`, also restores them from pressed trees or
 * MEDIA_URL; throws the fault of a source that could not be asked.
 */
export async function lookForMissing(app: MediaContext, { fetches = false } = {}): Promise<void> {
  const { store } = app;
  const { media } = store;
  const known = store.desk.missingMedia.all();
  if (known.length === 0) return;
  const locations = locationsOf(app);
  const back: string[] = [];
  const sources = fetches ? sourcesOf(app) : null;
  for (const { digest, damaged } of known) {
    const state = await stateOf(media.pathOf(digest), digest, damaged);
    if (state === 'whole' || !locations.has(digest) || (await sources?.restores(digest))) back.push(digest);
  }
  if (back.length > 0) {
    store.database.transact(() => {
      for (const digest of back) store.desk.missingMedia.clear(digest);
      markShown(app, back);
    });
  }
  sources?.assertAsked();
}

/**
 * Adds to the table the media that a paper lacks and that no tree or MEDIA_URL has. With `deep`, also checks the
 * content of existing files. Returns whether anything was added or restored.
 */
export async function noteMissing(app: MediaContext, paper: string, { deep = false } = {}): Promise<boolean> {
  const { store } = app;
  const { media } = store;
  const lost = new Map<string, string | null>();
  const sources = sourcesOf(app);
  let isBack = false;
  for (const { digest } of store.desk.allMedia(paper)) {
    if (store.desk.missingMedia.has(digest) || lost.has(digest)) continue;
    const file = media.pathOf(digest);
    if (!deep && media.has(digest)) continue;
    const state = await stateOf(file, digest, null);
    if (state === 'whole') continue;
    if (await sources.restores(digest)) isBack = true;
    else lost.set(digest, state);
  }
  if (lost.size > 0) {
    store.database.transact(() => {
      for (const [digest, damaged] of lost) store.desk.missingMedia.note({ digest, damaged, at: app.clock.now() });
      markShown(app, [...lost.keys()]);
    });
  }
  return isBack || lost.size > 0;
}

/** The locations of all missing media, ordered by paper and path. */
export function missingMedia(app: Pick<AppContext, 'store'>): MediaLocation[] {
  const { store } = app;
  if (store.desk.missingMedia.all().length === 0) return [];
  return mediaOf(app)
    .filter(({ digest }) => store.desk.missingMedia.has(digest))
    .map(({ paper, path }) => ({ paper, path }))
    .sort((a, b) => (a.paper + a.path < b.paper + b.path ? -1 : 1));
}

/** Media without a file in DATA_DIR that no press has noticed yet. Does not read the files. */
export function unnoticedMedia(app: Pick<AppContext, 'store'>): MediaLocation[] {
  return mediaOf(app)
    .filter(({ digest }) => !app.store.media.has(digest) && !app.store.desk.missingMedia.has(digest))
    .map(({ paper, path }) => ({ paper, path }));
}

/** The state of a file: `whole`; null without a file; else a version that tells the damage from a replacement. */
async function stateOf(file: string, digest: string, damaged: string | null): Promise<'whole' | (string & {}) | null> {
  const found = await stat(file).catch(() => null);
  if (found === null) return null;
  const version = `${found.size} ${found.mtimeMs}`;
  if (version === damaged) return version;
  return (await digestOfFile(file).catch(() => null)) === digest ? 'whole' : version;
}

/** The places where lost media may still exist: pressed trees and MEDIA_URL. */
function sourcesOf(app: MediaContext) {
  const { settings, store } = app;
  const locations = locationsOf(app);
  let mediaStore: MediaStore | null | undefined;
  /** Why MEDIA_URL could not be asked. After a failure, it is not asked again. */
  let failure: { error: unknown } | null = null;

  const fetched = async (digest: string): Promise<Uint8Array | null> => {
    if (failure !== null) return null;
    try {
      mediaStore ??= openMediaStore(settings);
      return (await mediaStore?.get(digest)) ?? null;
    } catch (error) {
      failure = { error };
      return null;
    }
  };

  return {
    /** Restores a file to DATA_DIR. Returns whether any source had it. */
    async restores(digest: string): Promise<boolean> {
      for (const { paper, path } of locations.get(digest) ?? []) {
        const file = join(settings.distDir, paper, path);
        if (digestOf(file) !== digest) continue;
        store.media.keepFile(digest, file);
        return true;
      }
      const bytes = await fetched(digest);
      if (bytes !== null) store.media.keepBytes(digest, bytes);
      return bytes !== null;
    },
    assertAsked(): void {
      if (failure !== null) throw failure.error;
    },
  };
}

/** The newest media of all papers. */
function mediaOf({ store }: Pick<AppContext, 'store'>): (MediaLocation & { digest: string })[] {
  return store.desk
    .paperSlugs()
    .flatMap((paper) => store.desk.allMedia(paper).map(({ path, digest }) => ({ paper, path, digest })));
}

/** The locations of media by digest. */
function locationsOf(app: Pick<AppContext, 'store'>): Map<string, MediaLocation[]> {
  return Map.groupBy(mediaOf(app), ({ digest }) => digest);
}

/**
 * Marks the outputs that show these files as stale. Lists omit an edition whose file is missing; they depend on `cast`,
 * not on the file.
 */
function markShown({ store }: Pick<AppContext, 'store'>, digests: readonly string[]): void {
  const locations = locationsOf({ store });
  for (const { paper, path } of digests.flatMap((digest) => locations.get(digest) ?? [])) {
    const isOfCast = store.desk
      .archive(paper)
      .casts()
      .some((cast) => castFile(cast) === path);
    store.desk.markStale(paper, [dependencies.media(path), ...(isOfCast ? [dependencies.cast] : [])]);
  }
}

/** The store at MEDIA_URL: objects named by content, with the same names as in the media folder of DATA_DIR. */
export interface MediaStore {
  name: string;
  /** The digests of all objects. */
  digests(): Promise<Set<string>>;
  put(digest: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** The bytes of a file; null when it is missing or damaged. */
  get(digest: string): Promise<Uint8Array | null>;
}

const KEY = /[0-9a-f]{2}\/([0-9a-f]{64})$/;

/**
 * Opens the store at MEDIA_URL; null if unset. Throws `invalid_request` for an address that is public or in DATA_DIR.
 */
export function openMediaStore(settings: Settings, ending?: AbortSignal): MediaStore | null {
  const { mediaUrl } = settings;
  if (mediaUrl === null) return null;
  const address = parseAddress(mediaUrl, settings.objectStorage);
  const text = `MEDIA_URL=${shownAddress(mediaUrl)}`;
  if (typeof address === 'string') throw new Fault('invalid_request', `${text}: ${address}; correct it`);
  // The store also has media of private papers and of drafts.
  if (address.kind === 's3') requireUnpublished(settings, address, text);
  else requireApart(settings, join(realPath(address.folder), 'media'), text);
  const bucket: Bucket = openBucket(settings, address, ending);
  const prefix = treePrefix({ ...address, paper: '' }, '');
  return {
    name: bucket.name,
    async digests() {
      const found = new Set<string>();
      for await (const { key } of bucket.list(prefix)) {
        const hex = KEY.exec(key)?.[1];
        if (hex !== undefined) found.add(`sha256:${hex}`);
      }
      return found;
    },
    async put(digest, bytes, signal) {
      await bucket.put(prefix + mediaKey(digest), bytes, {
        headers: { 'content-type': 'application/octet-stream' },
        ...(signal === undefined ? {} : { signal }),
      });
      await bucket.flush();
    },
    async get(digest) {
      const found = await bucket.get(prefix + mediaKey(digest), VIDEO_BYTES_MAX);
      return found !== null && sha256(found.bytes) === digest ? found.bytes : null;
    },
  };
}
