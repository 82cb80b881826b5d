import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';
import { run } from './child.ts';
import type { Bench } from './paper.ts';
import { type Figure, millis, note } from './table.ts';

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
    DATA_DIR: join(here, 'var'),
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
    puts: number;
    gets: number;
    megabytes: number;
  };
  const { observed, row, stays, objects, left, signed, archived, puts, gets, megabytes } = said;
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
    figure(`requests of the archiver a day: PUT : GET and HEAD`, (puts / DAYS).toFixed(0), {
      other: (gets / DAYS).toFixed(0),
    }),
    figure('bytes uploaded : bytes that stay', `${Math.round((megabytes * 1e6) / observed)} an observation`, {
      other: `${Math.round(stays)}`,
      ratio: (megabytes * 1e6) / observed / stays,
    }),
  ];
}
