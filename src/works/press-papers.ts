import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { airDue } from '../desk/enter.ts';
import { paperRoot } from '../desk/paper.ts';
import { placeOf } from '../press/edition.ts';
import type { PressReport } from '../press/press.ts';
import { press } from '../press/press.ts';
import { Tree } from '../press/tree.ts';
import type { Build } from './build.ts';
import { loadBuild } from './build.ts';
import { isCutOff, syncTree, writtenInThisBoot } from './disk-sync.ts';
import { PressClaim } from './press-claim.ts';
import { printWithCrew } from './press-crew.ts';
import type { Workshop } from './workshop.ts';
import { needPaper } from './workshop.ts';

export interface PressOptions {
  /** Only this paper. */
  paper?: string | undefined;
  full?: boolean;
  cards?: boolean;
  /** How far a paper's press has come. */
  progress?: (paper: string, done: number, total: number, what: string) => void;
  /** Ends a press that is under way; what it has not finished stays due. */
  signal?: AbortSignal;
  /** Takes the work of bringing a large press to the disk itself, for who does not want to wait for it. */
  later?: (work: Promise<void>) => void;
}

/** Presses what is due of every paper, or of one, or everything. One press a paper runs at a time. */
export async function pressPapers(shop: Workshop, options: PressOptions = {}): Promise<Map<string, PressReport>> {
  const { store } = shop;
  const { paper } = options;
  store.transact(() => airDue(store, shop.now()));
  if (paper !== undefined) needPaper(shop, paper);
  const reports = new Map<string, PressReport>();
  for (const slug of paper === undefined ? store.paperSlugs() : [paper]) {
    const report = await pressPaper(shop, slug, options);
    if (report !== null) reports.set(slug, report);
  }
  return reports;
}

async function pressPaper(shop: Workshop, slug: string, options: PressOptions): Promise<PressReport | null> {
  const { manifest } = shop.store;
  const build = await loadBuild();
  const isDue = () => options.full === true || !isWhole(shop, slug, build) || manifest.due(slug).length > 0;
  if (!isDue()) return null;
  build.needCurrent();
  const claim = await PressClaim.take(manifest, slug, options.signal);
  try {
    // The press that this one waited for may have done its work.
    if (!isDue()) return null;
    const report = await pressClaimed(shop, slug, { options, build, claim });
    const written = manifest.unsynced(slug);
    if (written !== null) {
      const synced = syncTree(join(shop.settings.distDir, slug), () => manifest.setSynced(slug, written));
      if (options.later === undefined) await synced;
      else options.later(synced);
    }
    return report;
  } finally {
    claim.release();
  }
}

/** Where a paper is published and pressed to, and what its tree depends on beside the ledger. */
export function planOf({ store, settings }: Workshop, slug: string, build: Pick<Build, 'stamp'>) {
  const root = paperRoot(store.archive(slug).paper(), settings.origin);
  const folder = join(settings.distDir, slug);
  // A tree elsewhere is another tree: everything is due there.
  return { root, folder, stamp: `${build.stamp} ${root} ${folder}` };
}

/** Whether the tree was pressed in full under the present settings, and the machine has not lost power before the disk had all of it. */
function isWhole(shop: Workshop, slug: string, build: Build): boolean {
  const { manifest } = shop.store;
  return manifest.stamp(slug) === planOf(shop, slug, build).stamp && !isCutOff(manifest.unsynced(slug));
}

interface Claimed {
  options: PressOptions;
  build: Build;
  claim: PressClaim;
}

async function pressClaimed(shop: Workshop, slug: string, { options, build, claim }: Claimed): Promise<PressReport> {
  const { store, settings, media } = shop;
  const { manifest } = store;
  const now = shop.now();
  // No other press has this folder while the claim holds; what is in it was left by one that was broken off.
  const working = join(settings.distDir, '.press', slug);
  rmSync(working, { recursive: true, force: true });
  const aside = join(working, claim.token.replaceAll(/[^\w.-]/g, '-'));
  // In one transaction: a change that comes later is marked with a later number, whatever it changes.
  const { start, full, root, folder, stamp } = store.transact(() => {
    claim.confirm();
    const plan = planOf(shop, slug, build);
    const full = options.full === true || !isWhole(shop, slug, build);
    // Until it has ended, a full press leaves a tree that is of no stamp.
    if (full) manifest.setStamp(slug, '');
    return { ...plan, full, start: manifest.begin(slug) };
  });
  const tree = new Tree(folder, { aside, sync: !full, needClaim: claim.need });
  const place = placeOf(root);
  try {
    return await press({
      paper: slug,
      archive: store.archive(slug),
      manifest,
      place,
      tree,
      tools: { render: build.render, assets: build.assets, now },
      stamp,
      start,
      full,
      cards: options.cards ?? true,
      unsynced: writtenInThisBoot(start.until),
      transact: store.transact,
      confirmClaim: claim.confirm,
      mediaFile: media.pathOf,
      crew: (looks, names, done) =>
        printWithCrew(
          { settings, paper: slug, place, folder, aside, isNew: tree.isNew, looks, now, deadline: claim.shared },
          names,
          done,
        ),
      progress: (...at) => options.progress?.(slug, ...at),
    });
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
