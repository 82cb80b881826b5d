import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT } from '../../src/shared/project.ts';
import { cpuOf } from './child.ts';
import { type Bench, environmentOf, openPaper, PAPER, pressedPaper } from './paper.ts';
import { type Figure, median, millis, note, seconds } from './table.ts';

/**
 * A large paper, a small one and the bare server are started in turn so many times; the first round warms all three.
 */
const ROUNDS = 5;
const SIZE = Number(process.env.BENCH_START ?? 100_000);
const SMALL = 1_000;
/** How long a start may take with the large paper, in ms, and how much longer than with the small one. */
const READY_MAX = 1_000;
const GROWTH_MAX = 1.15;
const BARE = fileURLToPath(new URL('start-child.ts', import.meta.url));
const OURS = [join(PROJECT, 'bin/broadsheet.mjs'), 'serve'];

/** From the start of a process until it says that it is ready, in ms of the clock and of the processors. */
interface Ready {
  wall: number;
  cpu: number;
}

/** How long a server takes to be ready when the pages are built and everything is pressed. */
export async function startPart(bench: Bench): Promise<Figure[]> {
  const large = await pressedWhole(bench, SIZE);
  const small = await pressedWhole(bench, SMALL);
  const taken: Record<'large' | 'small' | 'bare', Ready[]> = { large: [], small: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    taken.large.push(await untilReady(OURS, large));
    taken.small.push(await untilReady(OURS, small));
    taken.bare.push(await untilReady([BARE, join(large, 'var/broadsheet.db')], large));
  }
  const of = (name: keyof typeof taken, member: keyof Ready) =>
    median(taken[name].slice(1).map((ready) => ready[member]));
  const told = (name: keyof typeof taken) => `${seconds(of(name, 'wall'))}, ${seconds(of(name, 'cpu'))}`;
  const spans = taken.large.map(({ wall }) => millis(wall)).join(', ');
  note(`ready with ${SIZE} pieces after ${spans}`);
  const isWhole = SIZE >= 100_000;
  const [wall, growth] = [of('large', 'wall'), of('large', 'cpu') / of('small', 'cpu')];
  return [
    {
      what: `ready after start, nothing to build, ${SIZE} pieces: wall, processor : a bare server with Hono and libSQL`,
      ours: told('large'),
      other: told('bare'),
      ratio: of('large', 'cpu') / of('bare', 'cpu'),
      budget: `< ${seconds(READY_MAX)}`,
      holds: isWhole ? wall < READY_MAX : null,
    },
    {
      what: `ready after start, processor: ${SIZE} pieces : ${SMALL} pieces`,
      ours: told('large'),
      other: told('small'),
      ratio: growth,
      budget: `≤ ${GROWTH_MAX}`,
      holds: isWhole ? growth <= GROWTH_MAX : null,
    },
  ];
}

/**
 * The folder of a paper with nothing left to press. Its cards count as drawn: the press leaves them, and a server would
 * draw them.
 */
async function pressedWhole(bench: Bench, size: number): Promise<string> {
  const { folder } = await pressedPaper(bench, size);
  const { store, close } = openPaper(folder);
  store.desk.manifest.clearStale(PAPER, store.desk.manifest.newestStale(PAPER));
  close();
  return folder;
}

/** Starts a server, and ends it as soon as it is ready, as a restart does. The first one keeps what it compiled. */
async function untilReady(args: string[], folder: string): Promise<Ready> {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      ...environmentOf(folder),
      PORT: '0',
      RECORDS_PORT: '0',
      SCANNER: 'off',
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    if (!/^ready /m.test(said)) continue;
    const ready = { wall: performance.now() - began, cpu: cpuOf(child.pid) };
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    return ready;
  }
  throw new Error(`node ${args.join(' ')} ended before it was ready`);
}
