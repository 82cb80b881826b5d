import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { astroBuild, makeAstroSite } from './astro-site.ts';
import type { Ran } from './child.ts';
import { hasHugo, hugoBuild, makeHugoSite } from './hugo-site.ts';
import type { Bench, Pressed } from './paper.ts';
import { filedPaper, fullPress } from './paper.ts';
import type { Figure } from './table.ts';
import { median, note, seconds } from './table.ts';

const SIZE = Number(process.env.BENCH_PRESS ?? 10_000);
/** How often ours and Hugo's are run, in turn; Astro's, which takes longest, once. */
const ROUNDS = 3;

/** A full press of a paper beside what site generators take for the same pieces. */
export async function pressPart(bench: Bench): Promise<Figure[]> {
  const ours: Pressed[] = [];
  const hugo: Ran[] = [];
  const hugoSite = hasHugo() ? makeHugoSite(bench, SIZE) : null;
  if (hugoSite === null) note('hugo is not on the PATH: left out');
  let files = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const folder = filedPaper(bench, SIZE, `press-${round}`);
    const pressed = await fullPress(folder);
    ours.push(pressed);
    // The tree stays until the bench ends: ext4 looks long for room where many files were deleted a minute ago.
    files = countFiles(folder);
    note(`press, round ${round}: ${seconds(pressed.wall)} (${said(pressed)})`);
    if (hugoSite !== null) {
      const built = await hugoBuild(hugoSite);
      hugo.push(built);
      note(`hugo, round ${round}: ${seconds(built.wall)} (${said(built)})`);
    }
  }
  const site = makeAstroSite(bench, SIZE);
  const astro = await astroBuild(site);
  note(`astro build: ${seconds(astro.wall)} (${said(astro)})`);
  const pages = existsSync(join(site, 'dist/stories')) ? readdirSync(join(site, 'dist/stories')).length : 0;
  if (pages !== SIZE) throw new Error(`astro build made ${pages} stories of ${SIZE}`);
  rmSync(site, { recursive: true });
  const what = `full press of ${SIZE} pieces (${files} files)`;
  return [
    ...figures(`${what} : astro build`, ours, [astro], '', null),
    ...(hugo.length > 0 ? figures(`${what} : hugo`, ours, hugo, '≤ 1, aim 0.7', 1) : []),
  ];
}

function figures(what: string, ours: Ran[], others: Ran[], budget: string, most: number | null): Figure[] {
  const row = (name: string, time: (ran: Ran) => number, binding: boolean): Figure => {
    const [mine, other] = [median(ours.map(time)), median(others.map(time))];
    const ratio = mine / other;
    const holds = !binding || most === null ? null : ratio <= most;
    return { what: name, ours: seconds(mine), other: seconds(other), ratio, budget: binding ? budget : '', holds };
  };
  const rows = [row(what, ({ wall }) => wall, true)];
  if ([...ours, ...others].every(({ cpu }) => cpu !== null))
    rows.push(row('  the same in processor time', ({ cpu }) => cpu ?? 0, false));
  return rows;
}

function said({ cpu }: Ran): string {
  return cpu === null ? 'processor time unknown' : `${seconds(cpu)} of processor time`;
}

function countFiles(folder: string): number {
  return readdirSync(join(folder, 'papers'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}
