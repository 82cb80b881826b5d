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

/**
 * The folder of files that engines read as one table, with its keys in Hive's form: of a month (`YYYY-MM`), or of a day
 * (`YYYY-MM-DD`) that is not in a month's file yet. Days have a root of their own, so that no engine reads a row twice.
 */
export function folderOf(kind: 'observations' | 'observations_open', period: string, bucket: string): string {
  return `${kind}/${kind === 'observations' ? 'month' : 'day'}=${period}/bucket=${bucket}`;
}
