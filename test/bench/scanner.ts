import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUESTIONS } from '../../src/records/probe/prober.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { startKnot } from '../support/dns-servers.ts';
import { found, run } from './child.ts';
import type { Bench } from './paper.ts';
import { aSecond, type Figure, median, millis } from './table.ts';

/** Hostnames, and how often all of them are scanned. */
const HOSTS = Number(process.env.BENCH_HOSTS ?? 2_000);
const ROUNDS = 4;
/** The rate at which an observation and its sync were stored one by one, and how many times that is asked for. */
const BEFORE = 28;
const TIMES = 20;

/** Hostnames a second that are asked, signed and stored, beside programs that only ask, at one server on this machine. */
export async function scannerPart({ folder }: Bench): Promise<Figure[]> {
  const here = join(folder, 'scanner');
  mkdirSync(here, { recursive: true });
  const hosts = Array.from({ length: HOSTS }, (_, n) => `host-${n}`);
  const lines = hosts.flatMap((host, n) => [
    `${host} 300 A 192.0.2.${n % 250}`,
    `${host} 300 MX 10 mail-${n % 7}`,
    `${host} 300 TXT "v=spf1 -all"`,
    `_dmarc.${host} 300 TXT "v=DMARC1; p=reject"`,
    `www.${host} 300 CNAME ${host}`,
  ]);
  const names = hosts.map((host) => `${host}.bench.example`);
  const file = join(here, 'names.txt');
  writeFileSync(file, `${names.join('\n')}\n`);
  const knot = await startKnot(join(here, 'knot'), [{ name: 'bench.example', lines }]);
  const server = `127.0.0.1:${knot.port}`;
  try {
    const env = { DATA_DIR: join(here, 'var'), LOG_LEVEL: 'silent', RESOLVERS: server };
    const child = join(PROJECT, 'test/bench/scanner-child.ts');
    const ran = await run(process.execPath, [child, file, String(ROUNDS)], { cwd: here, env });
    const { walls, cpus, shares } = JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '') as {
      walls: number[];
      cpus: number[];
      shares: Record<string, number>;
    };
    const rate = HOSTS / (median(walls.slice(1)) / 1_000);
    const each = median(cpus.slice(1)) / HOSTS;
    const beside = (program: string, time: number | null): Figure => ({
      what: `hostnames a second asked, signed and stored, one process : ${program}, which only asks`,
      ours: aSecond(rate),
      other: time === null ? 'not on the PATH' : aSecond(HOSTS / (time / 1_000)),
      ratio: time === null ? null : rate / (HOSTS / (time / 1_000)),
      budget: `≥ ${aSecond(BEFORE * TIMES)}`,
      holds: rate >= BEFORE * TIMES,
    });
    return [
      beside('zdns', asked('zdns', here, names, server)),
      beside('massdns', asked('massdns', here, names, server)),
      {
        what: `processor time of a hostname: ${Object.keys(QUESTIONS).length + 1} questions and more, signature and row`,
        ours: millis(each),
        other: '',
        ratio: null,
        budget: '',
        holds: null,
      },
      ...Object.entries(shares).map(([part, share]) => ({
        what: `the scanner’s time, by its profile: ${part}`,
        ours: `${Math.round(share * 100)} %`,
        ...{ other: '', ratio: null, budget: '', holds: null },
      })),
    ];
  } finally {
    await knot.stop();
  }
}

/** How long a program takes to ask what the scanner asks, type by type, in ms; null where it is not on the PATH. */
function asked(program: 'zdns' | 'massdns', here: string, names: string[], server: string): number | null {
  const path = found(program);
  if (path === null) return null;
  const resolvers = join(here, 'resolvers.txt');
  writeFileSync(resolvers, `${server}\n`);
  const byType = Map.groupBy(Object.values(QUESTIONS), ([, type]) => type);
  let time = 0;
  for (const [type, questions] of byType) {
    const list = join(here, `${type}.txt`);
    writeFileSync(list, `${questions.flatMap(([before]) => names.map((name) => before + name)).join('\n')}\n`);
    const args = {
      zdns: [type, '--threads=200', '--verbosity=1', '--name-servers', server, '-f', list, '-o', '/dev/null'],
      massdns: ['-q', '-s', '200', '-r', resolvers, '-t', type, '-o', 'J', '-w', '/dev/null', list],
    }[program];
    const began = performance.now();
    execFileSync(path, args, { stdio: 'ignore' });
    time += performance.now() - began;
  }
  return time;
}
