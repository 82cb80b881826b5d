import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';
import { run } from './child.ts';
import type { Bench } from './paper.ts';
import { aSecond, type Figure, median, millis, note } from './table.ts';

/** Hostnames, and how often each of them is looked at. */
const HOSTS = Number(process.env.BENCH_HOSTS ?? 10_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 4);
/** How much the database may grow by an observation, in bytes. */
const GROWTH_MAX = 600;
/** Rounds until everything that is compiled, and kept for reuse, is there. */
const WARM = 2;
/** What may be held in the end, after a collection, of the memory that was held when warm. */
const FLAT = 1.25;

interface Scanned {
  rates: number[];
  /** Processor time of an observation in each round, in ms. */
  cpus: number[];
  memory: number[];
  /** Of the database after each round, in bytes. */
  sizes: number[];
  observed: number;
  changes: number;
  /** How long the process does nothing else, at the 99th percentile, in ms. */
  wait: number;
}

/** Observations signed and stored a second, by what a scanner calls: leased, entered in small transactions, settled. */
export async function scanPart({ folder }: Bench): Promise<Figure[]> {
  const here = join(folder, 'scan');
  mkdirSync(here, { recursive: true });
  const child = join(PROJECT, 'test/bench/scan-child.ts');
  const scan = async (...more: string[]): Promise<Scanned> => {
    const env = { DATA_DIR: join(here, `var${more.join('')}`), LOG_LEVEL: 'silent' };
    const args = ['--expose-gc', child, String(HOSTS), String(ROUNDS), ...more];
    const ran = await run(process.execPath, args, { cwd: here, env });
    return JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '') as Scanned;
  };
  const { rates, cpus, memory, sizes, observed, changes, wait } = await scan();
  const plain = await scan('plain');
  note(`scan: ${observed} observations, ${changes} changes; ${rates.map(aSecond).join(', ')}`);
  const [first = 0, last = 0] = [memory[WARM - 1], memory.at(-1)];
  const grown = ((sizes.at(-1) ?? 0) - (sizes.at(-2) ?? 0)) / HOSTS;
  return [
    {
      what: `growth of the database by an observation with another serial and other round trips, the last ${HOSTS} of ${observed}`,
      ours: `${Math.round(grown)} bytes`,
      other: '',
      ratio: null,
      budget: `≤ ${GROWTH_MAX} bytes`,
      holds: grown <= GROWTH_MAX,
    },
    {
      what: `observations signed and stored a second, ${HOSTS} hostnames : the first look at each`,
      ours: aSecond(median(rates)),
      other: aSecond(rates[0] ?? Number.NaN),
      ratio: median(rates) / (rates[0] ?? Number.NaN),
      budget: '',
      holds: null,
    },
    {
      what: 'processor time of an observation: `secure_delete = FAST` : without it',
      ours: millis(median(cpus)),
      other: millis(median(plain.cpus)),
      ratio: median(cpus) / median(plain.cpus),
      budget: '',
      holds: null,
    },
    {
      what: 'how long readers of the process wait for looks that are entered, p99',
      ours: millis(wait),
      other: '',
      ratio: null,
      budget: '',
      holds: null,
    },
    {
      what: `memory after ${observed} observations : after ${HOSTS * WARM}`,
      ours: `${Math.round(last / 1e6)} MB`,
      other: `${Math.round(first / 1e6)} MB`,
      ratio: last / first,
      budget: `≤ ${FLAT}`,
      holds: last / first <= FLAT,
    },
  ];
}
