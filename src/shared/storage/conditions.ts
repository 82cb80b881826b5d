import { Fault } from '../fault.ts';
import type { Bucket, PutOptions } from './bucket.ts';

interface Written extends Pick<PutOptions, 'headers' | 'signal'> {
  key: string;
  bytes: Uint8Array;
}

/** Throws `conflict` for a store that ignores conditions, after deleting `written`: two publishers could be at work. */
export async function requireConditions(bucket: Bucket, { key, bytes, ...options }: Written): Promise<void> {
  for (const [header, onlyIf] of [
    ['If-None-Match', 'absent'],
    ['If-Match', { etag: '0'.repeat(32) }],
  ] as const) {
    const again = await bucket.put(key, bytes, { ...options, onlyIf });
    if (again === null) continue;
    await bucket.remove([key], options.signal);
    const message = `${bucket.name} overwrites an object in spite of ${header}; a store must support conditional PUT (If-Match, If-None-Match)`;
    throw new Fault('conflict', message);
  }
}
