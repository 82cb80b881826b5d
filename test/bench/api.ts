import { randomBytes } from 'node:crypto';
import { newId } from '../../src/app/context.ts';
import { makeKey } from '../../src/desk/keys.ts';
import { searchText } from '../../src/desk/search.ts';
import type { Text } from './invented.ts';
import { randomFrom } from './invented.ts';
import type { Loaded } from './load.ts';
import { CALLERS, load, start } from './load.ts';
import type { Bench } from './paper.ts';
import { environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import type { Figure } from './table.ts';
import { aSecond, median, millis } from './table.ts';

/** A door and its bare route are asked in turn so many times; what else the machine does then meets both. */
const ROUNDS = 5;
const BARE_SHARE = 0.6;
const PROOF_SHARE = 0.8;
const SEARCH_P99 = 15;

/** The doors of the API against a bare route, and search on archives of two sizes, with 32 callers. */
export async function apiPart(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  const sizes = bench.sizes.filter((size) => size >= 10_000);
  for (const size of sizes.length > 0 ? sizes : bench.sizes) {
    const folder = filedPaper(bench, size, `api-${size}`);
    const key = keyIn(folder);
    const desk = await start(['desk'], environmentOf(folder));
    try {
      if (figures.length === 0) figures.push(...(await doors(desk.url, key, size)));
      figures.push(await search(desk.url, size, bench.texts.texts));
    } finally {
      await desk.stop();
    }
  }
  return figures;
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

/** Questions none of which is asked twice by any caller: what is kept of answers helps with none of them. */
async function search(url: string, size: number, texts: Text[]): Promise<Figure> {
  const next = questionsFrom(texts);
  const paths = [next()];
  await load({ url, paths, next });
  const loads: Loaded[] = [];
  for (let round = 0; round < ROUNDS; round++) loads.push(await load({ url, paths, next }));
  const rate = median(loads.map((loaded) => loaded.rate));
  const p50 = median(loads.map((loaded) => loaded.p50));
  const p99 = median(loads.map((loaded) => loaded.p99));
  const isBudget = size === 10_000;
  return {
    what: `GET search, ${size} pieces, ${CALLERS} callers: p50, p99`,
    ours: `${aSecond(rate)}, ${millis(p50)}, ${millis(p99)}`,
    other: '',
    ratio: null,
    budget: isBudget ? `p99 < ${SEARCH_P99} ms` : '',
    holds: isBudget ? p99 < SEARCH_P99 : null,
  };
}

/** Gives another question each time: two to four words of one piece, whole or their beginnings. */
function questionsFrom(texts: Text[]): () => string {
  const random = randomFrom(11);
  const below = (end: number): number => Math.floor(random() * end);
  const words = texts.map(({ headline, prose }) => searchText(`${headline} ${prose}`).split(' '));
  const asked = new Set<string>();
  return () => {
    for (;;) {
      const own = words[below(words.length)] ?? [];
      const terms = Array.from({ length: 2 + below(3) }, () => own[below(own.length)]?.slice(0, 2 + below(10)) ?? 'a');
      const question = terms.join(' ');
      if (asked.has(question)) continue;
      asked.add(question);
      return `/${PAPER}/api/v1/search?q=${encodeURIComponent(question)}`;
    }
  };
}

function keyIn(folder: string): string {
  const app = openPaper(folder);
  const maker = {
    keys: app.store.keys,
    archive: app.store.archive(PAPER),
    now: app.now,
    newId,
    random: randomBytes,
    by: 'cli',
  };
  const { key } = makeKey(maker, PAPER, { level: 'read', name: 'The benchmark' });
  app.close();
  return key;
}
