import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../support/send.ts';
import { run } from './child.ts';
import { load, type Served, start } from './load.ts';
import type { Bench } from './paper.ts';
import { environmentOf, PAPER, pressedPaper } from './paper.ts';
import { PERSONAS, SECTIONS } from './pieces.ts';
import type { Figure } from './table.ts';
import { note } from './table.ts';
import { adminKey, pressed } from './waits.ts';

/** With fewer, caches still fill up to their bounds after the first part: the budget is for as many. */
const WHOLE = { publishes: 1_000, reads: 1_000_000 };
const PUBLISHES = Number(process.env.BENCH_PUBLISHES ?? WHOLE.publishes);
const READS = Number(process.env.BENCH_READS ?? WHOLE.reads);
/** The work is done in so many parts; the memory after the first is the one that may not grow. */
const PARTS = 10;
/** How much more memory a server may hold at the end: what garbage collection leaves at one moment or another. */
const GROWTH_MAX = 1.15;
/** Pieces that the paper has before. */
const SIZE = 100;
/** What a server that nobody asks is given to let go of memory, in ms. */
const REST = 3_000;

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
      while (published.length < (PUBLISHES * part) / PARTS)
        published.push(await publish(desk, bench, published, headers));
      await load({ url: desk.url, paths: [next()], headers, next, amount: Math.ceil(READS / PARTS), mayRefuse: true });
      await sleep(REST);
      sizes.push(await residentBytes(desk.pid));
      note(`growth, part ${part} of ${PARTS}: ${mega(sizes.at(-1) ?? 0)}`);
    }
  } finally {
    await desk.stop();
  }
  const [first = Number.NaN, last = Number.NaN] = [sizes[0], sizes.at(-1)];
  const ratio = last / first;
  return [
    {
      what: `memory of a server after ${number(PUBLISHES)} publishes and ${number(READS)} reads : after a tenth of them`,
      ours: mega(last),
      other: mega(first),
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
  { length }: Published[],
  headers: Record<string, string>,
): Promise<Published> {
  const text = texts[(length * 31) % texts.length];
  const slug = `new-${length}`;
  const body = { ...text, slug, category: SECTIONS[length % SECTIONS.length], byline: PERSONAS[0], air: true };
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

function number(value: number): string {
  return value.toLocaleString('en');
}
