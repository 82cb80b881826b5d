import { createHash } from 'node:crypto';
import { Fault } from '../../shared/fault.ts';
import type { Bucket, BucketObject } from '../../shared/storage/bucket.ts';
import { inParallel } from '../../shared/storage/in-parallel.ts';
import { hasHeaders, objectHeaders } from './object-headers.ts';
import { LEASE_FILE } from './publish-lease.ts';
import type { Difference, Source, SourceFile } from './source.ts';

export interface Comparison {
  differences: Difference[];
  files: number;
}

interface CompareOptions {
  /** Keys under the prefix that belong to another tree. */
  excludes: readonly string[];
  /** Also compares the headers, which costs a request for each object. */
  headers: boolean;
  /** Also reads the bytes of objects whose ETag is not the MD5 of their bytes: encrypted by key, or sent in parts. */
  bytes: boolean;
  progress?: (done: number) => void;
}

/** Compares every object at a target with the tree on disk. */
export async function compare(
  source: Source,
  bucket: Bucket,
  prefix: string,
  { excludes, headers, bytes, progress }: CompareOptions,
): Promise<Comparison> {
  const objects = new Map<string, BucketObject>();
  for await (const object of bucket.list(prefix)) {
    if (object.key === prefix + LEASE_FILE || excludes.some((other) => object.key.startsWith(other))) continue;
    if (object.key.endsWith(`/${LEASE_FILE}`)) {
      const message = `${bucket.name}: ${object.key} says that another tree is published within that of ${source.tree}; publish to another place`;
      throw new Fault('conflict', message);
    }
    objects.set(object.key.slice(prefix.length), object);
  }
  const differences: Difference[] = [];
  let files = 0;
  const differenceOf = async (file: SourceFile, object: BucketObject): Promise<Difference['what'] | null> => {
    const ours = await file.read();
    // The file changed since it was listed, and is queued for that reason anyway.
    if (ours === null || object.size !== ours.length) return 'other bytes';
    const sum = createHash('md5').update(ours).digest('hex');
    const comparesHeaders = headers && bucket.keepsHeaders;
    if (object.etag === sum && !comparesHeaders) return null;
    const head = await bucket.head(object.key);
    if (head === null) return 'missing';
    if (head.etag !== sum) {
      // For objects that are encrypted with the store's keys or were sent in parts, the ETag is not the MD5.
      const isEncrypted = (head.headers['x-amz-server-side-encryption'] ?? '').startsWith('aws:kms');
      if (!isEncrypted && !head.etag.includes('-')) return 'other bytes';
      if (bytes) {
        const there = await bucket.get(object.key, ours.length + 1);
        if (there === null || Buffer.compare(there.bytes, ours) !== 0) return 'other bytes';
      } else {
        // Trust the digest that was stored in a header when the file was sent.
        const digest = createHash('sha256').update(ours).digest('hex');
        if (!isEncrypted || head.headers['x-amz-meta-sha256'] !== digest) return 'other bytes';
      }
    }
    if (!comparesHeaders) return null;
    const wanted = objectHeaders(source.headersOf(file.path), file.path, ours);
    return hasHeaders(head.headers, wanted) ? null : 'other headers';
  };
  await inParallel(source.files(), async (file) => {
    const object = objects.get(file.path);
    objects.delete(file.path);
    if (object === undefined && file.isSuperseded === true) return;
    const what = object === undefined ? 'missing' : await differenceOf(file, object);
    if (what !== null) differences.push({ path: file.path, what });
    progress?.(++files);
  });
  for (const path of objects.keys()) differences.push({ path, what: 'stray' });
  differences.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { differences, files };
}
