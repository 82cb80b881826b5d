import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';
import { startKnot } from '../support/dns-servers.ts';
import { found, run } from './child.ts';
import type { Bench } from './paper.ts';
import { aSecond, type Figure, median, note } from './table.ts';

const NAMES = 5_000;
const TYPES = ['A', 'AAAA', 'MX', 'TXT'];
const ROUNDS = 40;
/** Rounds until everything that is compiled, and kept for reuse, is there. */
const WARM = 10;
const LEAST = 2_000;
/** What may be held in the end, of the memory that was held when warm. */
const FLAT = 1.25;

/** Queries a second of our client, with the checks that it makes of every answer, beside dnsperf at the same server. */
export async function dnsPart({ folder }: Bench): Promise<Figure[]> {
  const here = join(folder, 'dns');
  mkdirSync(here, { recursive: true });
  const names = Array.from({ length: NAMES }, (_, index) => `host-${index}`);
  const lines = names.flatMap((name, index) => [
    `${name} 300 A 192.0.2.${index % 256}`,
    `${name} 300 MX 10 mail-${index % 7}`,
    `${name} 300 TXT "v=spf1 -all"`,
  ]);
  const questions = names.flatMap((name) => TYPES.map((type) => `${name}.bench.example ${type}`));
  const file = join(here, 'questions.txt');
  writeFileSync(file, `${questions.join('\n')}\n`);
  const knot = await startKnot(join(here, 'knot'), [{ name: 'bench.example', lines }]);
  try {
    const child = join(PROJECT, 'test/bench/dns-child.ts');
    const ran = await run(process.execPath, [child, String(knot.port), file, String(ROUNDS)], { cwd: here });
    const { rates, memory, unknown } = JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '') as {
      rates: number[];
      memory: number[];
      unknown: number;
    };
    if (unknown > 0) note(`dns: ${unknown} of ${questions.length * ROUNDS} questions without an answer`);
    const reference = dnsperf(knot.port, file);
    const [first = 0, last = 0] = [memory[WARM - 1], memory.at(-1)];
    return [
      {
        what: 'DNS queries a second, checked and read, one process : dnsperf',
        ours: aSecond(median(rates)),
        other: reference === null ? 'not installed' : aSecond(reference),
        ratio: reference === null ? null : median(rates) / reference,
        budget: `≥ ${aSecond(LEAST)}`,
        holds: median(rates) >= LEAST && unknown === 0,
      },
      {
        what: `memory after ${questions.length * ROUNDS} queries : after ${questions.length * WARM}`,
        ours: mega(last),
        other: mega(first),
        ratio: last / first,
        budget: `≤ ${FLAT}`,
        holds: last / first <= FLAT,
      },
    ];
  } finally {
    await knot.stop();
  }
}

/** Queries a second of dnsperf with as many on the way as ours has; null where it is not installed. */
function dnsperf(port: number, file: string): number | null {
  const program = found('dnsperf');
  if (program === null) return null;
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) {
    const args = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-n', '5', '-q', '200', '-c', '8', '-e', '-D'];
    const said = execFileSync(program, args).toString();
    rates.push(Number(/Queries per second:\s+([\d.]+)/.exec(said)?.[1] ?? Number.NaN));
  }
  return median(rates);
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
