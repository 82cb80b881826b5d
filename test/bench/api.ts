import { randomBytes } from 'node:crypto';
import { makeKey } from '../../src/desk/papers/keys.ts';
import { newId } from '../../src/shared/new-id.ts';
import { CALLERS, type Loaded, load, start } from './load.ts';
import { type Bench, environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import { aSecond, type Figure, median } from './table.ts';

/** A door and its bare route are asked in turn so many times; what else the machine does then meets both. */
const ROUNDS = 5;
const BARE_SHARE = 0.6;
const PROOF_SHARE = 0.8;

/** The doors of the API against a bare route, with 32 callers. */
export async function apiPart(bench: Bench): Promise<Figure[]> {
  const size = bench.sizes.find((size) => size >= 10_000) ?? bench.sizes[0] ?? 0;
  const folder = filedPaper(bench, size, `api-${size}`);
  const key = keyIn(folder);
  const desk = await start(['desk'], environmentOf(folder));
  try {
    return await doors(desk.url, key, size);
  } finally {
    await desk.stop();
  }
}

async function doors(url: string, key: string, size: number): Promise<Figure[]> {
  const api = `/${PAPER}/api/v1`;
  const { stories } = (await (await fetch(`${url}${api}/stories?limit=1`)).json()) as { stories: { id: string }[] };
  const id = stories[0]?.id ?? '';
  const keyed = { authorization: `Bearer ${key}` };
  const asked: [what: string, path: string, budget: number | null, headers?: Record<string, string>][] = [
    ['stories', `${api}/stories`, BARE_SHARE],
    ['one story', `${api}/stories/${id}`, null],
    ['front', `${api}/front`, null],
    ['search, one question', `${api}/search?q=the+year`, null],
    ['days', `${api}/days`, null],
    ['stories with a key', `${api}/stories`, null, keyed],
    ['proof', `${api}/stories/${id}/proof`, PROOF_SHARE, keyed],
  ];
  const figures: Figure[] = [];
  for (const [what, path, budget, headers] of asked) {
    const bare = await start(['bare', `${url}${path}`], { BENCH_HEADERS: JSON.stringify(headers ?? {}) });
    const ours: Loaded[] = [];
    const other: Loaded[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      ours.push(await load({ url, paths: [path], ...(headers ? { headers } : {}) }));
      other.push(await load({ url: bare.url, paths: [new URL(path, url).pathname] }));
    }
    await bare.stop();
    // The first round warmed both.
    const rate = (loads: Loaded[]) => median(loads.slice(1).map((loaded) => loaded.rate));
    const ratio = median(ours.slice(1).map((loaded, round) => loaded.rate / (other[round + 1]?.rate ?? Number.NaN)));
    figures.push({
      what: `GET ${what}, ${size} pieces, ${CALLERS} callers : a bare route answering the same`,
      ours: aSecond(rate(ours)),
      other: aSecond(rate(other)),
      ratio,
      budget: budget === null ? '' : `≥ ${budget}`,
      holds: budget === null ? null : ratio >= budget,
    });
  }
  return figures;
}

function keyIn(folder: string): string {
  const app = openPaper(folder);
  const maker = {
    keys: app.store.desk.keys,
    archive: app.store.desk.archive(PAPER),
    now: app.clock.now,
    newId,
    random: randomBytes,
    by: 'cli',
  };
  const { key } = makeKey(maker, PAPER, { level: 'read', name: 'The benchmark' });
  app.close();
  return key;
}
