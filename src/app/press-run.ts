import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { airDue } from '../desk/append.ts';
import { paperRoot } from '../desk/paper.ts';
import { Fault } from '../fault.ts';
import { mayHaveLostWrites, syncTree, unsyncedNote } from '../files/disk-sync.ts';
import { isTree, Tree } from '../files/tree.ts';
import { siteOf } from '../press/edition.ts';
import type { PressReport } from '../press/press.ts';
import { type NEEDS_POOL, NEEDS_LARGE_HEAP, press } from '../press/press.ts';
import type { Build } from './build.ts';
import { loadBuild } from './build.ts';
import type { AppContext } from './context.ts';
import { requirePaper } from './context.ts';
import { PressClaim } from './press-claim.ts';
import { WorkerPool } from './press-pool.ts';

export interface PressOptions {
  /** Only this paper. */
  paper?: string | undefined;
  full?: boolean;
  cards?: boolean;
  /** How far a paper's press has come. */
  progress?: (paper: string, done: number, total: number, what: string) => void;
  /** Ends a press that is under way; what it has not finished stays due. */
  signal?: AbortSignal;
  /** Runs the press of a paper when it is its turn; at once where it is left out. */
  turn?: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes the work of bringing a large press to the disk itself, for who does not want to wait for it. */
  later?: (work: Promise<void>) => void;
}

/** Presses what is due of every paper, or of one, or everything. One press a paper runs at a time. */
export async function pressPapers(app: AppContext, options: PressOptions = {}): Promise<Map<string, PressReport>> {
  const { store } = app;
  const { paper } = options;
  store.transact(() => airDue(store, app.now()));
  if (paper !== undefined) requirePaper(app, paper);
  const reports = new Map<string, PressReport>();
  const failures: unknown[] = [];
  for (const slug of paper === undefined ? store.paperSlugs() : [paper]) {
    try {
      const report = await pressPaper(app, slug, options);
      if (report !== null) reports.set(slug, report);
    } catch (error) {
      failures.push(error);
    }
  }
  // One paper that cannot be pressed keeps no other one from it.
  if (failures.length === 0) return reports;
  if (failures.length === 1 || !failures.every((error) => error instanceof Fault)) throw failures[0];
  throw new Fault('unavailable', failures.map(({ message }) => message).join('; '));
}

async function pressPaper(app: AppContext, slug: string, options: PressOptions): Promise<PressReport | null> {
  const { manifest } = app.store;
  const build = await loadBuild();
  const isDue = () => options.full === true || !isTreeComplete(app, slug, build) || manifest.staleTags(slug).length > 0;
  if (!isDue()) return null;
  build.needCurrent();
  const claim = await PressClaim.acquire(manifest, slug, options.signal);
  try {
    // The press that this one waited for may have done its work.
    if (!isDue()) return null;
    // Who waits for another process's press takes nobody's turn.
    const work = () => pressClaimed(app, slug, { options, build, claim });
    const report = await (options.turn === undefined ? work() : options.turn(work));
    const written = manifest.unsynced(slug);
    if (written !== null) {
      const synced = syncTree(join(app.settings.distDir, slug), () => manifest.setSynced(slug, written));
      if (options.later === undefined) await synced;
      else options.later(synced);
    }
    return report;
  } finally {
    claim.release();
  }
}

/** Where a paper is published and pressed to, and what its tree depends on beside the ledger. */
export function pressPlan({ store, settings }: AppContext, slug: string, build: Pick<Build, 'stamp'>) {
  const root = paperRoot(store.archive(slug).paper(), settings.origin);
  const folder = join(settings.distDir, slug);
  // A tree elsewhere is another tree: everything is due there.
  return { root, folder, stamp: `${build.stamp} ${root} ${folder}` };
}

/**
 * Whether the tree was pressed in full under the present settings, the machine
 * has not lost power before the disk had all of it, and nobody removed it.
 */
function isTreeComplete(app: AppContext, slug: string, build: Build): boolean {
  const { manifest, archive } = app.store;
  const { stamp, folder } = pressPlan(app, slug, build);
  if (manifest.stamp(slug) !== stamp || mayHaveLostWrites(manifest.unsynced(slug))) return false;
  return !archive(slug).paper().paper_public || isTree(folder);
}

interface ClaimedPress {
  options: PressOptions;
  build: Build;
  claim: PressClaim;
}

/** What a press says that wants other threads. */
type WorkerRequest = typeof NEEDS_POOL | typeof NEEDS_LARGE_HEAP;

function needsWorkers(report: PressReport | WorkerRequest): report is WorkerRequest {
  return typeof report === 'symbol';
}

/** Presses what is due, with a crew once it turns out that there is much. */
async function pressClaimed(app: AppContext, slug: string, claimed: ClaimedPress): Promise<PressReport> {
  // No other press has this folder while the claim holds; what is in it was left by one that was broken off.
  const working = join(app.settings.distDir, '.press', slug);
  removeFolder(working);
  const aside = join(working, claimed.claim.token.replaceAll(/[^\w.-]/g, '-'));
  let crew: WorkerPool | null = null;
  try {
    const report = await pressSnapshot(app, slug, { ...claimed, aside }, null);
    if (!needsWorkers(report)) return report;
    crew = new WorkerPool(app.settings, { roomy: report === NEEDS_LARGE_HEAP });
    const whole = await pressSnapshot(app, slug, { ...claimed, aside }, crew);
    if (needsWorkers(whole)) throw new Error('a press with a crew asked for one');
    return whole;
  } finally {
    await crew?.stop();
    // Its own alone: a press that lost its claim leaves the folder to another one.
    for (const folder of [aside, ...(crew?.scratchFolders(aside) ?? [])]) removeFolder(folder);
  }
}

/** Clears a folder as far as it goes: where the disk does not let it, the press says so with its first file. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A read-only disk, or too many open files.
  }
}

/** Presses what is due as the ledger is when this press begins, whatever is written meanwhile. */
async function pressSnapshot(
  app: AppContext,
  slug: string,
  { options, build, claim, aside }: ClaimedPress & { aside: string },
  crew: WorkerPool | null,
): Promise<PressReport | WorkerRequest> {
  const { store, media } = app;
  const { manifest } = store;
  const now = app.now();
  const begin = () => {
    claim.assertHeld();
    claim.assertOwner();
    const plan = pressPlan(app, slug, build);
    const full = options.full === true || !isTreeComplete(app, slug, build);
    // Until it has ended, a full press leaves a tree that is of no stamp.
    if (full) manifest.setStamp(slug, '');
    snapshot.hold();
    return { ...plan, full, start: manifest.begin(slug) };
  };
  const snapshot = app.snapshots.take();
  try {
    const { start, full, root, folder, stamp } = await beginPress(crew, app, claim, begin);
    const tree = new Tree(folder, { aside, sync: !full, assertClaim: claim.assertHeld });
    const place = siteOf(root);
    const order = { paper: slug, place, folder, aside, isNew: tree.isNew, now, deadline: claim.shared };
    const report = await press({
      paper: slug,
      archive: snapshot.store.archive(slug),
      manifest,
      place,
      tree,
      tools: { render: build.render, assets: build.assets, now },
      stamp,
      start,
      full,
      cards: options.cards ?? true,
      unsynced: unsyncedNote(start.until),
      transact: store.transact,
      assertOwner: claim.assertOwner,
      mediaFile: media.pathOf,
      printInPool: crew === null ? null : (looks, names, done) => crew.print({ ...order, checksDisk: looks }, names, done),
      progress: (...at) => options.progress?.(slug, ...at),
    });
    // Nothing was written: the tree is as clean as it was.
    if (needsWorkers(report) && !start.dirty) {
      store.transact(() => {
        claim.assertOwner();
        manifest.clearStale(slug, 0);
      });
    }
    return report;
  } finally {
    snapshot.end();
  }
}

/**
 * Begins a press in one transaction: a change that comes later is marked with a
 * later number, whatever it changes. A crew holds the ledger first, and must hold
 * it at the same number: where something was written in between, all hold it anew.
 */
async function beginPress<T>(
  crew: WorkerPool | null,
  { store }: AppContext,
  claim: PressClaim,
  begin: () => T,
): Promise<T> {
  for (;;) {
    const held = (await crew?.takeSnapshots()) ?? [];
    const begun = store.transact(() => {
      const number = store.manifest.highestMarkOfAll();
      return held.every((seen) => seen === number) ? { begun: begin() } : null;
    });
    if (begun !== null) return begun.begun;
    claim.assertHeld();
  }
}
