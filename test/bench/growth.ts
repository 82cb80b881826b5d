import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../support/send.ts';
import { run } from './child.ts';
import { load, type Served, start } from './load.ts';
import { type Bench, environmentOf, PAPER, pressedPaper } from './paper.ts';
import { PERSONAS, SECTIONS } from './pieces.ts';
import { type Figure, median, note } from './table.ts';
import { adminKey, pressed } from './waits.ts';

/** With fewer, caches still fill up to their bounds after the first part: the budget is for as many. */
const WHOLE = { publishes: 1_000, reads: 1_000_000 };
const PUBLISHES = Number(process.env.BENCH_PUBLISHES ?? WHOLE.publishes);
const READS = Number(process.env.BENCH_READS ?? WHOLE.reads);
/**
 * The work is done in so many parts. In the first ones the caches fill up to their bounds, and V8's heap grows to the
 * size at which it collects: old garbage stays until it has filled some 200 MB.
 */
const PARTS = 10;
const WARM = 2;
/** Garbage collection leaves more at one moment than at another: medians of so many parts are compared. */
const COMPARED = 3;
/** How much more memory a server may hold at the end than when it was warm. */
const GROWTH_MAX = 1.1;
/** Pieces that are published at a time. */
const AT_ONCE = 10;
/** Pieces that the paper has before. */
const SIZE = 100;
/** What a server that nobody asks is given to let go of memory, in ms: V8 waits for 8 s of silence. */
const REST = 12_000;

interface Published {
  id: string;
  slug: string;
}

/** The memory of a running server after many publishes, and many reads of everything that it answers. */
export async function growthPart(bench: Bench): Promise<Figure[]> {
  const { folder } = await pressedPaper(bench, SIZE);
  const headers = { 'x-nrf-key': adminKey(folder) };
  const desk = await start(['desk'], environmentOf(folder));
  const sizes: number[] = [];
  try {
    const published: Published[] = [];
    const next = addressesOf(published);
    for (let part = 1; part <= PARTS; part++) {
      while (published.length < (PUBLISHES * part) / PARTS) {
        const numbers = Array.from({ length: AT_ONCE }, (_, at) => published.length + at);
        published.push(...(await Promise.all(numbers.map((number) => publish(desk, bench, number, headers)))));
      }
      await load({ url: desk.url, paths: [next()], headers, next, amount: Math.ceil(READS / PARTS), mayRefuse: true });
      await sleep(REST);
      sizes.push(await residentBytes(desk.pid));
      note(`growth, part ${part} of ${PARTS}: ${mega(sizes.at(-1) ?? 0)}`);
    }
  } finally {
    await desk.stop();
  }
  const warm = median(sizes.slice(WARM, WARM + COMPARED));
  const last = median(sizes.slice(-COMPARED));
  const ratio = last / warm;
  return [
    {
      what: `memory of a server after ${amount(PUBLISHES)} publishes and ${amount(READS)} reads : when its caches are full`,
      ours: mega(last),
      other: mega(warm),
      ratio,
      budget: `≤ ${GROWTH_MAX}`,
      holds: PUBLISHES >= WHOLE.publishes && READS >= WHOLE.reads ? ratio <= GROWTH_MAX : null,
    },
  ];
}

/** Files a piece, puts it on air, and waits until its page is on the disk. */
async function publish(
  desk: Served,
  { texts: { texts } }: Bench,
  number: number,
  headers: Record<string, string>,
): Promise<Published> {
  const text = texts[(number * 31) % texts.length];
  const slug = `new-${number}`;
  const body = { ...text, slug, category: SECTIONS[number % SECTIONS.length], byline: PERSONAS[0], air: true };
  const answer = await send(desk.url, { method: 'POST', path: `/${PAPER}/api/v1/stories`, headers, body });
  if (answer.status !== 201) throw new Error(`a publish was answered ${answer.status}: ${answer.text}`);
  await pressed(desk.url, headers, answer);
  return (JSON.parse(answer.text) as { story: Published }).story;
}

/** Each address of each piece in turn, lists, and questions that nobody asked before. */
function addressesOf(published: Published[]): () => string {
  let count = 0;
  const kinds: ((piece: Published, turn: number) => string)[] = [
    ({ slug }) => `/stories/${slug}/`,
    ({ slug }) => `/stories/${slug}.md`,
    ({ slug }) => `/stories/${slug}/proof.json`,
    ({ id }) => `/embed/${id}/`,
    ({ id }) => `/api/v1/stories/${id}`,
    ({ id }) => `/api/v1/stories/${id}/proof`,
    (_, turn) => `/api/v1/stories?limit=${1 + (turn % 50)}`,
    (_, turn) => `/api/v1/search?q=the+year+${turn}`,
    () => '/',
    () => '/rss.xml',
  ];
  return () => {
    const turn = Math.floor(count / kinds.length);
    const kind = kinds[count++ % kinds.length];
    const piece = published[turn % published.length];
    if (kind === undefined || piece === undefined) throw new Error('nothing is published');
    return `/${PAPER}${kind(piece, turn)}`;
  };
}

async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)], { cwd: '/' });
  return Number(stdout) * 1_024;
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

function amount(value: number): string {
  return value.toLocaleString('en');
}
