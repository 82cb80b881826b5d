import { existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { missingMediaIn } from '../../media/media.ts';
import type { AppContext } from '../../server/context.ts';
import { codeOf, Fault, only } from '../../shared/fault.ts';
import { mayHaveLostWrites, syncTree, unsyncedNote } from '../../shared/files/disk-sync.ts';
import { airDue } from '../append.ts';
import { dependencies } from '../dependencies.ts';
import { lookForMissing, missingMedia, noteMissing } from '../media/missing-media.ts';
import { paperRoot } from '../papers/paper.ts';
import { requirePaper } from '../papers/require-paper.ts';
import { expirePlaces } from '../placing.ts';
import { type Build, loadBuild } from '../press/build.ts';
import { siteOf } from '../press/edition.ts';
import { type PressReport, type PrintPool, press, type Workers } from '../press/press.ts';
import { isTree, openTree } from '../press/tree.ts';
import { acquirePressLease, type PressLease } from './press-lease.ts';
import { type PressPool, pressPool } from './press-pool.ts';

/** The pause between two presses that draw pictures, in ms: long enough for a waiting process to take the lease. */
const PICTURES_PAUSE = 100;

export interface PressOptions {
  /** Presses only this paper. */
  paper?: string | undefined;
  full?: boolean;
  cards?: boolean;
  /** Draws only a few pictures and leaves the others stale for the next press; by default draws all. */
  fewPictures?: boolean;
  /** Called as the press of a paper makes progress. */
  progress?: (paper: string, done: number, total: number, what: string) => void;
  /** Stops a running press; unfinished outputs stay stale. */
  signal?: AbortSignal;
  /** Whether to ask MEDIA_URL again for missing media; a press of everything always does. */
  fetchesMedia?: boolean;
  /** Runs the press of a paper when its turn comes; by default immediately. */
  turn?: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes over the fsync of a large press, for callers that do not wait for it. */
  later?: (work: Promise<void>) => void;
}

/** How often a press may start over because media are missing. Before each retry, all files are checked by content. */
const MEDIA_RETRIES = 3;

/** What a press did, and the media files for which it shows stand-ins. */
export interface PaperReport extends PressReport {
  missing: string[];
}

/** Presses the stale outputs, or everything, of one paper or of all. Each paper is pressed by one press at a time. */
export async function pressPapers(app: AppContext, options: PressOptions = {}): Promise<Map<string, PaperReport>> {
  const { store } = app;
  const { paper } = options;
  // If another server signs, that server airs what is due.
  if (maySign(app)) airWhatIsDue(app);
  if (paper !== undefined && store.desk.removedPaper(paper) === null) requirePaper(app, paper);
  // Media that cannot be fetched do not stop the press.
  await lookForMissing(app, { fetches: options.fetchesMedia === true || options.full === true }).catch(only(Fault));
  const reports = new Map<string, PaperReport>();
  const failures: unknown[] = [];
  const all = () => [...store.desk.paperSlugs(), ...store.desk.removedPapers().map(({ slug }) => slug)];
  for (const slug of paper === undefined ? all() : [paper]) {
    try {
      const first = await pressPaper(app, slug, options);
      if (first === null) continue;
      const report = options.fewPictures === true ? first : await pressPictures(app, slug, options, first);
      const missing = missingMedia(app).flatMap(({ paper: of, path }) => (of === slug ? [path] : []));
      reports.set(slug, { ...report, missing });
    } catch (error) {
      failures.push(error);
    }
  }
  // A failed press does not stop those of other papers.
  if (failures.length === 0) return reports;
  if (failures.length === 1 || !failures.every((error) => error instanceof Fault)) throw failures[0];
  throw new Fault('unavailable', [...new Set(failures.map(({ message }) => message))].join('; '));
}

/** Whether this process may sign now. */
export function maySign({ signer }: AppContext): boolean {
  try {
    signer.assertHeld();
    return true;
  } catch {
    return false;
  }
}

/** Airs due pieces, and ends expired places on the front. While the clock is faulty, nothing is due. */
export function airWhatIsDue({ store, clock, clock: { now } }: AppContext): void {
  if (clock.fault() !== null) return;
  const at = now();
  const isDue = (time: number | null) => time !== null && time <= at;
  if (isDue(store.desk.nextScheduled())) store.database.transact(() => airDue(store.desk, at));
  if (isDue(store.desk.nextPlaceExpiry())) store.database.transact(() => expirePlaces(store.desk, at));
}

/** Presses until all pictures are drawn. Lets other processes press the paper in between. */
async function pressPictures(
  app: AppContext,
  slug: string,
  { progress, ...options }: PressOptions,
  first: PressReport,
): Promise<PressReport> {
  const whole = { ...first };
  while (whole.pictures_left > 0) {
    await sleep(PICTURES_PAUSE);
    const { outputs } = whole;
    const next = await pressPaper(app, slug, {
      ...options,
      full: false,
      progress: (paper, done, total, what) => progress?.(paper, outputs + done, outputs + total, what),
    });
    for (const count of ['outputs', 'written', 'removed'] as const) whole[count] += next?.[count] ?? 0;
    whole.pictures_left = next?.pictures_left ?? 0;
  }
  return whole;
}

async function pressPaper(app: AppContext, slug: string, options: PressOptions): Promise<PressReport | null> {
  const { manifest } = app.store.desk;
  if (!app.store.desk.hasPaper(slug)) return removeTree(app, slug, options);
  const build = await loadBuild();
  const isFull = () => options.full === true || !isTreeComplete(app, slug, build);
  const isStale = () => isFull() || manifest.newestStale(slug) > 0;
  if (!isStale()) return null;
  build.needCurrent();
  const lease = await acquirePressLease(manifest, slug, options.signal);
  try {
    // The previous holder of the lease may have done the work, and the paper may have been removed or restored since.
    if (!app.store.desk.hasPaper(slug) || !isStale()) return null;
    // Take the turn after the lease: waiting for another process must not block other papers.
    const work = () => pressLeased(app, slug, { options, build, lease, isFull });
    const report = await (options.turn === undefined ? work() : options.turn(work));
    const written = manifest.unsynced(slug);
    if (written !== null) {
      const synced = syncTree(join(app.settings.distDir, slug), () => manifest.setSynced(slug, written));
      if (options.later === undefined) await synced;
      else options.later(synced);
    }
    return report;
  } finally {
    lease.release();
  }
}

/** The address and folder of a paper's tree, and a stamp of everything besides the ledger that it depends on. */
export function pressPlan({ store, settings }: AppContext, slug: string, build: Pick<Build, 'stamp'>) {
  const root = paperRoot(store.desk.archive(slug).paper(), settings.origin);
  const folder = join(settings.distDir, slug);
  const hub = settings.hubUrl;
  // A change of folder, address or hub makes everything stale.
  const stamp = [build.stamp, root, folder, ...(hub === null ? [] : [hub])].join(' ');
  return { site: siteOf(root, hub), folder, stamp };
}

/** Whether the tree exists, was fully pressed under these settings, and survived a power failure. */
function isTreeComplete(app: AppContext, slug: string, build: Build): boolean {
  const { manifest, archive } = app.store.desk;
  const { stamp, folder } = pressPlan(app, slug, build);
  if (manifest.stamp(slug) !== stamp || mayHaveLostWrites(manifest.unsynced(slug))) return false;
  return !archive(slug).paper().paper_public || isTree(folder);
}

/**
 * Presses a removed paper: removes its tree, then its rows in the manifest, so that an interrupted removal is completed
 * later. Returns null when both are gone.
 */
async function removeTree(app: AppContext, slug: string, { signal }: PressOptions): Promise<PressReport | null> {
  const { store, settings } = app;
  const { manifest } = store.desk;
  const folder = join(settings.distDir, slug);
  const isLeft = () => manifest.newestStale(slug) > 0 || existsSync(folder);
  if (!isLeft()) return null;
  const lease = await acquirePressLease(manifest, slug, signal);
  try {
    if (store.desk.hasPaper(slug) || !isLeft()) return null;
    const until = manifest.newestStale(slug);
    const removed = [...manifest.allFiles(slug)].length;
    // Removes `_headers` first: without it, no server shows the tree.
    for (const path of [join(folder, '_headers'), folder, join(settings.distDir, '.press', slug)]) {
      lease.assertHeld();
      await rm(path, { recursive: true, force: true });
    }
    store.database.transact(() => {
      lease.assertOwner();
      manifest.forget(slug, until);
    });
    return { full: true, outputs: 0, written: 0, removed, pictures_left: 0 };
  } finally {
    lease.release();
  }
}

interface LeasedPress {
  options: PressOptions;
  build: Build;
  lease: PressLease;
  /** Whether everything is stale. */
  isFull(): boolean;
}

/** Presses the stale outputs, in worker threads if there are many. */
async function pressLeased(app: AppContext, slug: string, leased: LeasedPress): Promise<PressReport> {
  // This press holds the lease, so what the folder contains was left over from an interrupted press.
  const working = join(app.settings.distDir, '.press', slug);
  removeFolder(working);
  const scratch = join(working, leased.lease.token.replaceAll(/[^\w.-]/g, '-'));
  if (leased.isFull()) {
    // Earlier versions stored the HTML of prose there. The first press after an upgrade is a full one.
    removeFolder(join(app.settings.dataDir, 'press-cache'));
    await noteMissing(app, slug);
  }
  let retries = 0;
  let pool: PressPool | null = null;
  try {
    for (;;) {
      let needed: Workers | null = null;
      try {
        const report = await pressSnapshot(app, slug, { ...leased, scratch }, pool);
        if (typeof report !== 'string') return report;
        needed = report;
      } catch (error) {
        // A feed with many very long pieces needs more than the heap for many short ones.
        if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' && pool?.workers === 'many') needed = 'large';
        else if (missingMediaIn(error) === null || ++retries > MEDIA_RETRIES) throw error;
        else if (!(await noteMissing(app, slug, { deep: true }))) throw error;
      }
      // After a failure, its threads may still be at work; a larger heap needs new threads.
      if (needed === null || (needed === 'large' && pool?.workers === 'many')) {
        await pool?.stop();
        pool = null;
      }
      if (needed !== null) pool ??= pressPool(app.settings, needed);
    }
  } finally {
    await pool?.stop();
    // Remove only this press's folder: if it lost its lease, the rest belongs to the new holder.
    removeFolder(scratch);
  }
}

/** Removes a folder if possible. If the disk refuses, the press fails at its first file. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The disk is read-only, or too many files are open.
  }
}

/** Presses the stale outputs, from a snapshot of the ledger taken when this press begins. */
async function pressSnapshot(
  app: AppContext,
  slug: string,
  { options, build, lease, isFull, scratch }: LeasedPress & { scratch: string },
  pool: PressPool | null,
): Promise<PressReport | Workers> {
  const { store, clock, settings } = app;
  const { manifest, hubPings } = store.desk;
  const now = clock.now();
  const snapshot = store.snapshots.take();
  const letters = store.desk.scripts.scan(slug, () => store.desk.archive(slug).paper().language);
  /** Returns null if new entries or letters must be scanned first, because the snapshot shows only committed data. */
  const begin = () => {
    lease.assertHeld();
    lease.assertOwner();
    if (letters.step()) return null;
    if (letters.save()) {
      manifest.markStale(slug, [dependencies.scripts]);
      return null;
    }
    const plan = pressPlan(app, slug, build);
    const full = isFull() || manifest.isStale(slug, dependencies.config);
    // A full press sets the stamp again when it completes.
    if (full) manifest.setStamp(slug, '');
    snapshot.refresh();
    return { ...plan, full, start: manifest.begin(slug), lastChange: manifest.lastChangeOfAll() };
  };
  try {
    let begun: ReturnType<typeof begin> = null;
    while (begun === null) {
      while (letters.step()) await setImmediate();
      begun = store.database.transact(begin);
    }
    const { start, full, site, folder, stamp, lastChange } = begun;
    const lastChanges = pool?.takeSnapshots();
    // Avoids an unhandled rejection; awaiting them still throws.
    lastChanges?.catch(() => {});
    const tree = openTree(folder, { aside: scratch, sync: !full, assertHeld: lease.assertHeld });
    // A full press checks the disk and rewrites deleted files. So does the press after an interrupted one, because the
    // manifest lacks the last files of that press.
    const common = { paper: slug, site, checksDisk: full || start.dirty };
    const deadline = lease.deadline.shared;
    const printPool: PrintPool | null = pool && {
      // Every change of a paper gets a number. Snapshots with the same highest number show the same state.
      isCurrent: async () => (await lastChanges)?.every((other) => other === lastChange) ?? false,
      print: (names, done) => pool.print({ ...common, folder, scratch, isNew: tree.isNew, now, deadline }, names, done),
    };
    const report = await press({
      ...common,
      archive: snapshot.store.desk.archive(slug),
      manifest,
      stale: snapshot.store.desk.manifest,
      tree,
      tools: { render: build.render, assets: build.assets, pictures: store.pictures, now },
      stamp,
      start,
      full,
      cards: options.cards ?? true,
      unsynced: unsyncedNote(start.until),
      topics: settings.hubUrl === null ? null : hubPings,
      transact: store.database.transact,
      assertOwner: lease.assertOwner,
      mediaFile: store.media.pathOf,
      pool: printPool,
      progress: (...at) => options.progress?.(slug, ...at),
    });
    // This run wrote nothing, so the tree is still clean.
    if (typeof report === 'string' && !start.dirty) {
      store.database.transact(() => {
        lease.assertOwner();
        manifest.clearStale(slug, 0);
      });
    }
    return report;
  } finally {
    snapshot.end();
  }
}
