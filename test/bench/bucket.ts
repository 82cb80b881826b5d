import { setTimeout as sleep } from 'node:timers/promises';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { publishTrees } from '../../src/operate/publish/publish-run.ts';
import { deskOf } from '../../src/server/context.ts';
import { parseAddress } from '../../src/shared/storage/address.ts';
import type { Bucket } from '../../src/shared/storage/bucket.ts';
import { inParallel } from '../../src/shared/storage/in-parallel.ts';
import { openBucket } from '../../src/shared/storage/publish-target.ts';
import { without } from '../support/log-peers.ts';
import { BUCKET, CREDENTIALS, startVersitygw } from '../support/s3-server.ts';
import { type Bench, openPaper, PAPER, pressedPaper } from './paper.ts';
import { pieceAt } from './pieces.ts';
import { aSecond, type Figure, median, millis, note, seconds } from './table.ts';

/** 20,000 pieces are some 100,000 files. */
const PIECES = Number(process.env.BENCH_BUCKET ?? 20_000);
/** How many files are sent with nothing but a request each, to compare. */
const PLAIN = 5_000;
const ROUNDS = 9;
/** Of the time of plain requests that a first publication may take. */
const FIRST_MAX = 1.5;
const REQUESTS_MAX = 60;
const STORY_MAX = 1_000;
/** Memory may grow so much, in MB, while the last three quarters of the files are sent. */
const GROWTH_MAX = 100;

/** Counts the requests to a bucket. A listing counts as one. */
function counting(bucket: Bucket): { bucket: Bucket; requests(): number } {
  let requests = 0;
  const counted = new Proxy(bucket, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name !== 'flush') requests++;
        return value.apply(target, args);
      };
    },
  });
  return { bucket: counted, requests: () => requests };
}

/** A first publication to versitygw on this machine, and those of single stories after it. */
export async function bucketPart(bench: Bench): Promise<Figure[]> {
  const why = without('versitygw');
  if (why !== false) {
    note(`bucket: left out, it ${why}`);
    return [];
  }
  const endings: (() => unknown)[] = [];
  const { folder } = await pressedPaper(bench, PIECES);
  const endpoint = await startVersitygw({ after: (end: () => unknown) => endings.push(end) } as never, bench.folder);
  const app = openPaper(folder);
  try {
    app.store.desk.manifest.clearStale(PAPER, app.store.desk.manifest.newestStale(PAPER));
    const address = parseAddress(`s3://${BUCKET}/site?endpoint=${endpoint}`);
    if (typeof address === 'string') throw new Error(address);
    const settings = { ...app.settings, objectStorage: { ...app.settings.objectStorage, ...CREDENTIALS } };
    const { bucket, requests } = counting(openBucket(settings, address));

    const memory: number[] = [];
    let quarter = 0;
    const start = performance.now();
    const progress = (_tree: string, done: number, total: number) => {
      if (done % 500 === 0) memory.push(process.memoryUsage.rss() / 2 ** 20);
      if (done * 4 <= total) quarter = memory.length;
    };
    const report = (await publishTrees(app, address, bucket, { paper: PAPER, progress })).get(PAPER);
    const first = performance.now() - start;
    const files = report?.sent ?? 0;
    const growth = Math.max(...memory.slice(quarter)) - Math.max(...memory.slice(0, quarter + 1));
    note(`bucket: ${files} files, ${((report?.bytes ?? 0) / 1e6).toFixed(0)} MB in ${seconds(first)}`);

    // The same requests, with the headers of a page, and nothing around them.
    const { headers: all = {} } = (await bucket.head(`site/${PAPER}/index.html`)) ?? {};
    const headers = Object.fromEntries(
      Object.entries(all).filter(([name]) => /^(?:x-amz-meta-|content-type$|cache-control$)/.test(name)),
    );
    const bytes = Buffer.alloc(Math.round((report?.bytes ?? 0) / Math.max(1, files)), 'a');
    const plainStart = performance.now();
    await inParallel(
      Array.from({ length: PLAIN }, (_, at) => ({ at, size: async () => bytes.length })),
      async ({ at }) => void (await bucket.put(`plain/${at}`, bytes, { headers })),
    );
    const plain = (performance.now() - plainStart) / PLAIN;

    const times: number[] = [];
    let most = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const filing = { ...pieceAt(bench.texts.texts, round), slug: `today-${round}` };
      fileStory(deskOf(app), PAPER, filing, { by: 'cli' });
      airStory(deskOf(app), PAPER, filing.slug, { by: 'cli' });
      await pressPapers(app, { paper: PAPER });
      await sleep(100);
      const before = requests();
      const began = performance.now();
      await publishTrees(app, address, bucket, { paper: PAPER });
      times.push(performance.now() - began);
      most = Math.max(most, requests() - before);
    }
    const ratio = first / files / plain;
    const story = median(times);
    return [
      {
        what: `first publication of ${files.toLocaleString('en')} files to versitygw : as many plain PUTs`,
        ours: aSecond((files / first) * 1_000),
        other: aSecond(1_000 / plain),
        ratio,
        budget: `≤ ${FIRST_MAX}`,
        holds: ratio <= FIRST_MAX,
      },
      {
        what: 'memory: more at its highest than in the first quarter of that publication',
        ours: `${growth.toFixed(0)} MB`,
        other: '',
        ratio: null,
        budget: `≤ ${GROWTH_MAX} MB`,
        holds: growth <= GROWTH_MAX,
      },
      {
        what: 'publication of one story after that',
        ours: `${millis(story)}, ${most} requests`,
        other: '',
        ratio: null,
        budget: `≤ 1 s, ${REQUESTS_MAX} requests`,
        holds: story <= STORY_MAX && most < REQUESTS_MAX,
      },
    ];
  } finally {
    app.close();
    for (const end of endings) await end();
  }
}
