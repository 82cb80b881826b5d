import { createHash } from 'node:crypto';

/**
 * The SHA-256 of the domain by which names are spread over buckets, in hex: of the registrable domain, so that all its
 * names are in one file, or of the name itself, where it has none. A bucket is a prefix of it.
 */
export function bucketHash(hostname: string, registrable_domain: string | null): string {
  return createHash('sha256')
    .update(registrable_domain ?? hostname)
    .digest('hex');
}

/** What files hold: observations of a month or a day, changes of a day, and values seen in a month in two orders. */
export type ArchiveKind = 'observations' | 'observations_open' | 'deltas' | 'sightings' | 'sightings_by_value';

/**
 * The folder of files that engines read as one table, with its keys in Hive's form. `period` is `YYYY-MM` or, for what
 * is kept by day, `YYYY-MM-DD`. Days have a root of their own, so that no engine reads a row twice.
 */
export function folderOf(kind: ArchiveKind, period: string, bucket: string): string {
  switch (kind) {
    case 'deltas':
      return `deltas/day=${period}`;
    case 'observations_open':
      return `observations_open/day=${period}/bucket=${bucket}`;
    case 'sightings_by_value':
      return `sightings_by_value/month=${period}/part=${bucket}`;
    default:
      return `${kind}/month=${period}/bucket=${bucket}`;
  }
}
