import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';
import { busyNames } from './busy-host.ts';
import { run } from './child.ts';
import { type Loaded, load, start } from './load.ts';
import { type Bench, environmentOf } from './paper.ts';
import { type Figure, median, millis, note } from './table.ts';

/** Hostnames that are observed once a day, and for how many days. */
const HOSTS = Number(process.env.BENCH_HOSTS ?? 2_000);
const DAYS = Number(process.env.BENCH_DAYS ?? 34);
/** What an observation may leave in the database, and what it may take in the archive, in bytes. */
const LEFT_MAX = 300;
const ROW_MAX = 220;

/** What an observation costs in the archive, and what it leaves in the database. */
export async function archivePart({ folder }: Bench): Promise<Figure[]> {
  const here = join(folder, 'archive');
  mkdirSync(here, { recursive: true });
  const child = join(PROJECT, 'test/bench/archive-child.ts');
  const env = {
    ...environmentOf(here),
    DATA_ORIGIN: 'https://records.example',
    ARCHIVE_URL: join(here, 'objects'),
    LOG_LEVEL: 'silent',
    SCAN_EVERY: '12h',
  };
  const ran = await run(process.execPath, [child, String(HOSTS), String(DAYS)], { cwd: here, env });
  const said = JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '') as {
    observed: number;
    /** Of a month’s rows, in bytes. */
    row: number;
    /** All objects and seeds that the newest manifest names, by an observation, in bytes. */
    stays: number;
    objects: number;
    /** Growth of the used pages of the database over the later half of the days, by an observation, in bytes. */
    left: number;
    /** Processor time of an observation, in ms: signed and stored; archived, read back and deleted. */
    signed: number;
    archived: number;
    /** How long one record is read for, at the median, in ms: in the database, in the archive. */
    hot: number;
    cold: number;
    puts: number;
    gets: number;
    megabytes: number;
  };
  const { observed, row, stays, objects, left, signed, archived, hot, cold, puts, gets, megabytes } = said;
  note(
    `archive: ${observed} observations of ${HOSTS} hostnames in ${DAYS} days; ${megabytes.toFixed(1)} MB uploaded, ${objects} objects`,
  );
  const figure = (what: string, ours: string, more: Partial<Figure> = {}): Figure => ({
    ...{ what, ours, other: '', ratio: null, budget: '', holds: null },
    ...more,
  });
  const bytes = (what: string, ours: number, most: number) =>
    figure(what, `${Math.round(ours)} bytes`, { budget: `≤ ${most} bytes`, holds: ours <= most });
  return [
    bytes('a row of a month in the archive, without its seed', row, ROW_MAX),
    figure(
      'all that the archive has, with seeds, changes and values : a row and its seed',
      `${Math.round(stays)} bytes`,
      {
        other: `${Math.round(row + 32)} bytes`,
        ratio: stays / (row + 32),
      },
    ),
    bytes('what an observation leaves in the database that the archive has', left, LEFT_MAX),
    figure('processor time of an observation: signed and stored : archived, read back and deleted', millis(signed), {
      other: millis(archived),
      ratio: signed / archived,
    }),
    figure('a record of a name at a time, p50: in the database : in the archive', millis(hot), {
      other: millis(cold),
      ratio: cold / hot,
    }),
    ...(await besideArchiver(env, () =>
      run(process.execPath, [child, String(HOSTS), String(DAYS), 'rest'], { cwd: here, env }),
    )),
    figure(`requests of the archiver a day: PUT : GET and HEAD`, (puts / DAYS).toFixed(0), {
      other: (gets / DAYS).toFixed(0),
    }),
    figure('bytes uploaded : bytes that stay', `${Math.round((megabytes * 1e6) / observed)} an observation`, {
      other: `${Math.round(stays)}`,
      ratio: (megabytes * 1e6) / observed / stays,
    }),
  ];
}

/** How long readers wait beside a running archiver, and without it. */
async function besideArchiver(env: NodeJS.ProcessEnv, archive: () => Promise<unknown>): Promise<Figure[]> {
  const server = await start(['records'], env);
  const read = () => load({ url: server.url, paths: busyNames(0, Math.min(HOSTS, 500)).map((name) => `/t/${name}`) });
  try {
    await read();
    const alone: Loaded[] = [await read(), await read()];
    const beside: Loaded[] = [];
    let isDone = false;
    const done = archive().finally(() => {
      isDone = true;
    });
    while (!isDone) beside.push(await read());
    await done;
    // Before and after, because what else the machine does changes meanwhile.
    alone.push(await read(), await read());
    return (['p50', 'p99'] as const).map((which) => {
      const [ours, other] = [beside, alone].map((loads) => median(loads.map((one) => one[which])));
      const [busy = Number.NaN, idle = Number.NaN] = [ours, other];
      return {
        what: `${which} of readers of /t/{domain}, 32 callers: beside a running archiver : without it`,
        ...{ ours: millis(busy), other: millis(idle), ratio: busy / idle, budget: '', holds: null },
      };
    });
  } finally {
    await server.stop();
  }
}
