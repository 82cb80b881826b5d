import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { airDue } from '../desk/enter.ts';
import { paperRoot } from '../desk/paper.ts';
import { placeOf } from '../press/edition.ts';
import type { PressReport } from '../press/press.ts';
import { press } from '../press/press.ts';
import { Tree } from '../press/tree.ts';
import { loadBuild } from './build.ts';
import { printWithCrew } from './press-crew.ts';
import type { Workshop } from './workshop.ts';
import { needPaper } from './workshop.ts';

/** For how long a claim on a paper's press holds without being renewed, in ms. */
const CLAIM = 30_000;
/** How often a press that waits for another looks again, in ms. */
const POLL = 50;
/** Who claims: this process on this machine. */
const OWNER = `${hostname()}:${process.pid}`;

export interface PressOptions {
  /** Only this paper. */
  paper?: string | undefined;
  full?: boolean;
  cards?: boolean;
  /** How far a paper's press has come. */
  progress?: (paper: string, done: number, total: number, what: string) => void;
}

/** Presses what is due of every paper, or of one, or everything. One press a paper runs at a time. */
export async function pressPapers(
  shop: Workshop,
  { paper, full = false, cards = true, progress }: PressOptions = {},
): Promise<Map<string, PressReport>> {
  const { store } = shop;
  store.transact(() => airDue(store, shop.now()));
  if (paper !== undefined) needPaper(shop, paper);
  const reports = new Map<string, PressReport>();
  for (const slug of paper === undefined ? store.paperSlugs() : [paper]) {
    const report = await pressPaper(shop, slug, full, cards, (...at) => progress?.(slug, ...at));
    if (report !== null) reports.set(slug, report);
  }
  return reports;
}

async function pressPaper(
  shop: Workshop,
  slug: string,
  full: boolean,
  cards: boolean,
  progress: (done: number, total: number, what: string) => void,
): Promise<PressReport | null> {
  const { store, settings, media } = shop;
  const { manifest } = store;
  const build = await loadBuild();
  const archive = store.archive(slug);
  const root = paperRoot(archive.paper(), settings.origin);
  const folder = join(settings.distDir, slug);
  // A tree elsewhere is another tree: everything is due there.
  const stamp = `${build.stamp} ${root} ${folder}`;
  const isDue = () => full || manifest.stamp(slug) !== stamp || manifest.due(slug).length > 0;
  if (!isDue()) return null;
  build.needCurrent();
  await claim(shop, slug);
  let renewed = shop.now();
  try {
    // The press that this one waited for may have done its work.
    if (!isDue()) return null;
    const aside = join(settings.distDir, '.press', slug);
    const tree = new Tree(folder, aside, !full && manifest.stamp(slug) === stamp);
    const place = placeOf(root);
    const tools = { render: build.render, assets: build.assets, now: shop.now() };
    return await press({
      paper: slug,
      archive,
      manifest,
      place,
      tree,
      tools,
      stamp,
      full,
      cards,
      transact: store.transact,
      mediaFile: media.pathOf,
      crew: (looks, names, done) =>
        printWithCrew(
          { settings, paper: slug, place, folder, aside, isNew: tree.isNew, looks, now: tools.now },
          names,
          done,
        ),
      progress(...at) {
        progress(...at);
        const now = shop.now();
        if (now - renewed > CLAIM / 6) {
          manifest.claim(slug, OWNER, now + CLAIM, now);
          renewed = now;
        }
      },
    });
  } finally {
    manifest.release(slug, OWNER);
  }
}

/** Takes a paper's press, waiting for whoever has it; a holder that is dead on this machine does not count. */
async function claim({ store: { manifest }, now }: Workshop, slug: string): Promise<void> {
  while (!manifest.claim(slug, OWNER, now() + CLAIM, now())) {
    const owner = manifest.owner(slug);
    if (owner !== null && isDead(owner)) manifest.release(slug, owner);
    else await sleep(POLL);
  }
}

function isDead(owner: string): boolean {
  const at = owner.lastIndexOf(':');
  if (owner.slice(0, at) !== hostname()) return false;
  try {
    process.kill(Number(owner.slice(at + 1)), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
