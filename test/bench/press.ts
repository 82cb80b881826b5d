import { existsSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { found, run } from './child.ts';
import { findHugo, type Hugo } from './hugo.ts';
import { hugoBuild, hugoRebuild, makeHugoSite, renameHugoSite } from './hugo-site.ts';
import { type Bench, filedPaper, fullPress, NAMEPLATE, PAPER, renamePaper } from './paper.ts';
import { type Disk, pressFigures, type Turn, writtenFigures } from './press-figures.ts';
import { type Figure, note, seconds } from './table.ts';
import { requireSameKinds, type Written, writtenIn } from './written.ts';

const SIZE = Number(process.env.BENCH_PRESS ?? 10_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const DISKS = (process.env.BENCH_DISKS ?? 'memory,disk').split(',');
/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';
/** What both trees, the database and the Markdown files of a piece take at most, in bytes. */
const A_PIECE = 250_000;
/** What the settings name the paper before the warm press; each page prints it. */
const RENAMED = `${NAMEPLATE}, Evening Edition`;

/**
 * A full press beside Hugo of the same pieces, in turn, on a memory disk and on the disk. Cold: into an empty folder,
 * from a paper that was only filed. Warm: again over what is there, after the paper was renamed, with everything that
 * filing and the press before keep.
 */
export async function pressPart(bench: Bench): Promise<Figure[]> {
  const hugo = await findHugo();
  const figures: Figure[] = [];
  let written: { ours: Written; hugo: Written | null } | null = null;
  for (const { disk, folder } of disksOf(bench)) {
    const ours: Turn[] = [];
    const others: Turn[] = [];
    const site = hugo === null ? null : makeHugoSite(bench, SIZE, folder);
    for (let round = 1; round <= ROUNDS; round++) {
      const paper = filedPaper(bench, SIZE, join(folder, `press-${round}`));
      const press = async () => ours.push(await pressTwice(paper, disk, round));
      const build = async () => {
        if (hugo !== null && site !== null) others.push(await buildTwice(hugo, site, disk, round));
      };
      // Each goes first in every other round.
      for (const side of round % 2 === 1 ? [press, build] : [build, press]) await side();
      written ??= {
        ours: writtenIn(join(paper, 'papers', PAPER)),
        hugo: site === null ? null : writtenIn(join(site, 'public')),
      };
      if (written.hugo !== null) requireSameKinds(written.ours, written.hugo);
      // On the disk the trees stay until the bench ends: ext4 looks long for room where many files were just deleted.
      if (disk === 'memory') rmSync(paper, { recursive: true });
    }
    figures.push(...pressFigures({ size: SIZE, disk, ours, others, hugo: hugo?.version ?? null }));
    if (disk === 'memory') rmSync(folder, { recursive: true });
  }
  if (written !== null) figures.push(...writtenFigures(SIZE, written.ours, written.hugo));
  return figures;
}

function* disksOf(bench: Bench): Iterable<{ disk: Disk; folder: string }> {
  if (DISKS.includes('memory')) {
    const lack = memoryLack();
    if (lack === null) yield { disk: 'memory', folder: bench.makeFolder(MEMORY) };
    else note(`the memory disk is left out: ${lack}`);
  }
  if (DISKS.includes('disk')) yield { disk: 'disk', folder: bench.folder };
}

function memoryLack(): string | null {
  if (!existsSync(MEMORY)) return `there is no ${MEMORY}`;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < SIZE * A_PIECE ? `${SIZE} pieces do not fit into ${MEMORY}` : null;
}

/** Presses a paper cold, then warm. */
async function pressTwice(paper: string, disk: Disk, round: number): Promise<Turn> {
  await settle();
  const cold = await fullPress(paper);
  renamePaper(paper, RENAMED);
  await settle();
  const warm = await fullPress(paper);
  return told('press', disk, round, { cold, warm });
}

/** Hugo's whole site into an empty folder, then over itself after a change of its title. */
async function buildTwice(hugo: Hugo, site: string, disk: Disk, round: number): Promise<Turn> {
  renameHugoSite(site, NAMEPLATE);
  await settle();
  const cold = await hugoBuild(hugo, site);
  const synced = disk === 'disk' ? cold.wall + (await settle()) : null;
  renameHugoSite(site, RENAMED);
  await settle();
  const warm = await hugoRebuild(hugo, site);
  return told('hugo', disk, round, { cold, warm, synced });
}

/** Puts on the disk what was written before, so that nobody pays for another's files. Returns what that took, in ms. */
async function settle(): Promise<number> {
  return found('sync') === null ? 0 : (await run('sync', [], { cwd: '/' })).wall;
}

function told(who: string, disk: Disk, round: number, turn: Turn): Turn {
  const said = ({ wall, cpu }: Turn['cold']) =>
    `${seconds(wall)}${cpu === null ? '' : ` (${seconds(cpu)} of processor time)`}`;
  note(`${who}, ${disk}, round ${round}: cold ${said(turn.cold)}, warm ${said(turn.warm)}`);
  return turn;
}
