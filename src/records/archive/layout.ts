import type { ArchiveObject } from './manifest.ts';

/** How each table is partitioned: by month (`YYYY-MM`) or day (`YYYY-MM-DD`), and by hexadecimal prefix. */
const KEYS = {
  observations: ['month', 'bucket'],
  observations_open: ['day', 'bucket'],
  deltas: ['day'],
  sightings: ['month', 'bucket'],
  sightings_by_value: ['month', 'part'],
} as const;
export type TableKind = Exclude<ArchiveObject['kind'], 'tombstones'>;

/**
 * The folder of files that engines read as one table, with the partition keys in Hive's form. Days whose observations
 * are not in a month's file yet are in a folder of their own, so that no engine reads a row twice.
 */
export function folderOf(kind: TableKind, period: string, bucket: string): string {
  const values = [period, bucket];
  return [kind, ...KEYS[kind].map((key, n) => `${key}=${values[n]}`)].join('/');
}
