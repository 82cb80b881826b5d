import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuOf, peakOf } from './child.ts';
import { CALLERS, type Loaded, load, type Served, start } from './load.ts';
import { keyOf } from './meter.ts';
import { type Bench, environmentOf } from './paper.ts';
import { openRecords, seedRecords } from './records-seed.ts';
import { streamFigures } from './stream.ts';
import { aSecond, type Figure, median, millis, note, seconds } from './table.ts';

const [HOSTS = 0, DELTAS = 0] = (process.env.BENCH_RECORDS ?? '100000,1000000').split(',').map(Number);
/** A page and its bare route are asked in turn so many times, after a round that warms both. */
const ROUNDS = 3;
const PAGES = '/t/{domain}, each another one';
const PREVIEWS = '/t/{domain} as JSON, each another one';
const PAGE_SHARE = 0.25;
/** What an answer may cost that speaks of all names, in ms of processor time. */
const LIST_MAX = 300;

/** Reading pages and feeds of the records over a large set of them, and the stream to many listeners. */
export async function recordsPart(bench: Bench): Promise<Figure[]> {
  const folder = join(bench.folder, 'records');
  mkdirSync(folder);
  const began = performance.now();
  const { looked } = seedRecords(folder, { hosts: HOSTS, deltas: DELTAS });
  note(`${HOSTS} hostnames and ${DELTAS} changes in ${seconds(performance.now() - began)}`);
  const server = await start(['records'], environmentOf(folder));
  try {
    const lists = await listFigures(server, folder, looked[0] ?? '');
    // Parts of a part, for a machine with little time.
    if (process.env.BENCH_ROUNDS === '0') return lists;
    return [...lists, ...(await pages(server, looked)), ...(await streamFigures(server, folder))];
  } finally {
    await server.stop();
  }
}

/** What speaks of all names: the processor time of the first answer, which no cache has. */
async function listFigures(server: Served, folder: string, name: string): Promise<Figure[]> {
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  const lists = ['domains', 'services', 'issuers', 'mail-hosts', 'dns-hosts'];
  const paths = [
    ...['/', '/types', '/analytics', '/search', '/search?q=mail', '/search?q=192.0.2.7', '/types/A', '/sitemap.xml'],
    ...lists.flatMap((list) => [`/${list}`, `/v1/${list}`, `/v1/exports/${list}.csv`]),
    ...['/services/mail/Google%20Workspace', '/dns-hosts/filler-7.example', '/mail-hosts/mail7.example'],
    ...['/changes', '/changes/today', `/changes/${day}`, '/changes?signal=NS', '/changes?q=filler', '/changes.rss'],
    ...['/v1/tape', '/v1/changes', '/v1/changes?signal=NS&kind=added', '/v1/analytics', '/v1/search?q=filler'],
    ...['/v1/search?q=192.0.2.7', `/v1/domains/${name}/history`, `/v1/domains/${name}/series`, `/t/${name}`, '/health'],
  ];
  const app = openRecords(folder);
  const key = keyOf(app, 'service');
  app.close();
  const rows = `${HOSTS} hostnames, ${DELTAS} changes`;
  const figure = (what: string, ours: string, budget = '', holds: boolean | null = null): Figure => {
    return { what, ours, other: '', ratio: null, budget, holds };
  };
  const figures: Figure[] = [];
  for (const path of paths) {
    const before = cpuOf(server.pid);
    const headers = path.startsWith('/v1') && path !== '/v1/tape' ? { 'x-service-key': key } : undefined;
    const answer = await fetch(server.url + path, { headers: { accept: 'text/html', ...headers } });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    const took = cpuOf(server.pid) - before;
    // An export is streamed, and has all rows.
    const isBounded = !path.includes('exports');
    const bound: [string?, boolean?] = isBounded ? [`≤ ${LIST_MAX} ms`, took <= LIST_MAX] : [];
    figures.push(figure(`the first GET ${path}, ${rows}: processor time`, millis(took), ...bound));
  }
  const peak = (peakOf(server.pid) ?? Number.NaN) / 1e6;
  return [...figures, figure(`memory of the server at most, after each of them, ${rows}`, `${Math.round(peak)} MB`)];
}

async function pages(server: Served, looked: string[]): Promise<Figure[]> {
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  const asked: [what: string, paths: string[]][] = [
    [PAGES, looked.map((name) => `/t/${name}`)],
    [PREVIEWS, looked.map((name) => `/t/${name}`)],
    ['/changes.json', ['/changes.json']],
    [
      '/changes.json, of 900 lengths',
      Array.from({ length: 2_000 }, (_, n) => `/changes.json?limit=${100 + (n % 900)}`),
    ],
    [`/changes/{date}`, [`/changes/${day}`]],
    ['/v1/tape', ['/v1/tape']],
  ];
  const figures: Figure[] = [];
  for (const [what, paths] of asked) {
    const headers = { accept: what.includes('JSON') ? 'application/json' : 'text/html' };
    const bare = await start(['bare', `${server.url}${paths[0]}`], { BENCH_HEADERS: JSON.stringify(headers) });
    const [ours, other]: [Loaded[], Loaded[]] = [[], []];
    try {
      for (let round = 0; round <= ROUNDS; round++) {
        ours.push(await load({ url: server.url, paths, headers }));
        other.push(await load({ url: bare.url, paths: [new URL(paths[0] ?? '', server.url).pathname] }));
      }
    } finally {
      await bare.stop();
    }
    const of = (loads: Loaded[], member: keyof Loaded) => median(loads.slice(1).map((loaded) => loaded[member]));
    const ratio = median(ours.slice(1).map(({ rate }, round) => rate / (other[round + 1]?.rate ?? Number.NaN)));
    const isBounded = what === PAGES || what === PREVIEWS;
    note(`${what}: ${aSecond(of(ours, 'rate'))} : ${aSecond(of(other, 'rate'))}`);
    figures.push({
      what: `GET ${what}, ${HOSTS} hostnames, ${DELTAS} changes, ${CALLERS} callers: p50, p99 : a bare route answering the same`,
      ours: `${aSecond(of(ours, 'rate'))}, ${millis(of(ours, 'p50'))}, ${millis(of(ours, 'p99'))}`,
      other: aSecond(of(other, 'rate')),
      ratio,
      budget: isBounded ? `≥ ${PAGE_SHARE}` : '',
      holds: isBounded ? ratio >= PAGE_SHARE : null,
    });
  }
  return figures;
}
