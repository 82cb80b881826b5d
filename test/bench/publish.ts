import { airStory } from '../../src/desk/airing.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { findHugo } from './hugo.ts';
import { hugoBuild, hugoRebuild, makeHugoSite } from './hugo-site.ts';
import { type Bench, openPaper, PAPER, pressedPaper } from './paper.ts';
import { pieceAt } from './pieces.ts';
import { type Figure, median, millis, note, seconds } from './table.ts';

const WARM = 3;
const ROUNDS = 15;
const GROWTH_MAX = 1.3;
/** The size that Hugo rebuilds. */
const HUGO_SIZE = 10_000;
const HUGO_SHARE = 1 / 20;

interface Times {
  filed: number;
  aired: number;
  pressed: number;
  total: number;
}

/** Publishing one piece, from filing to the last file on disk, into papers of several sizes. */
export async function publishPart(bench: Bench): Promise<Figure[]> {
  const papers = new Map<number, { app: AppContext; times: Times[] }>();
  for (const size of bench.sizes) {
    const { folder } = await pressedPaper(bench, size);
    const app = openPaper(folder);
    // The press left the cards for later; the archive's are not what is measured.
    app.store.desk.manifest.clearStale(PAPER, app.store.desk.manifest.newestStale(PAPER));
    papers.set(size, { app, times: [] });
  }
  // In turn, so that whatever else the machine does meets every size alike.
  for (let round = 0; round < WARM + ROUNDS; round++) {
    for (const { app, times } of papers.values()) {
      const slug = `today-${round}`;
      const took = await publish(app, { ...pieceAt(bench.texts.texts, round), slug });
      if (round >= WARM) times.push(took);
    }
  }
  const medians = new Map<number, number>();
  for (const [size, { app, times }] of papers) {
    app.close();
    const of = (name: keyof Times) => median(times.map((time) => time[name]));
    medians.set(size, of('total'));
    note(
      `publish into ${size}: ${millis(of('total'))} (file ${millis(of('filed'))}, air ${millis(of('aired'))}, press ${millis(of('pressed'))})`,
    );
  }
  return [...growth(medians), ...(await besideHugo(bench, medians.get(HUGO_SIZE)))];
}

async function publish(app: AppContext, filing: Filing): Promise<Times> {
  const start = performance.now();
  fileStory(deskOf(app), PAPER, filing, { by: 'cli' });
  const filed = performance.now();
  airStory(deskOf(app), PAPER, filing.slug, { by: 'cli' });
  const aired = performance.now();
  const report = (await pressPapers(app, { paper: PAPER })).get(PAPER);
  const end = performance.now();
  if (report === undefined || report.full || report.written < 5) {
    throw new Error(`a publish pressed ${JSON.stringify(report)}; was the code changed while the benchmark ran?`);
  }
  return { filed: filed - start, aired: aired - filed, pressed: end - aired, total: end - start };
}

function growth(medians: Map<number, number>): Figure[] {
  const [least = 0] = medians.keys();
  const base = medians.get(least) ?? Number.NaN;
  return [...medians].map(([size, time]) => {
    const ratio = size === least ? null : time / base;
    const isBound = size === 100_000 && least === 1_000;
    return {
      what: `publish one piece into a paper of ${size}, card included${ratio === null ? '' : ` : of ${least}`}`,
      ours: millis(time),
      other: ratio === null ? '' : millis(base),
      ratio,
      budget: isBound ? `≤ ${GROWTH_MAX}` : '',
      holds: isBound && ratio !== null ? ratio <= GROWTH_MAX : null,
    };
  });
}

async function besideHugo(bench: Bench, ours: number | undefined): Promise<Figure[]> {
  const hugo = ours === undefined ? null : await findHugo();
  if (ours === undefined || hugo === null) return [];
  const site = makeHugoSite(bench, HUGO_SIZE);
  await hugoBuild(hugo, site);
  const walls = [];
  for (let round = 0; round < 3; round++) walls.push((await hugoRebuild(hugo, site)).wall);
  const rebuild = median(walls);
  const ratio = ours / rebuild;
  return [
    {
      what: `publish one piece into a paper of ${HUGO_SIZE} : hugo’s rebuild`,
      ours: millis(ours),
      other: seconds(rebuild),
      ratio,
      budget: '≤ 0.05',
      holds: ratio <= HUGO_SHARE,
    },
  ];
}
