import { Fault } from '../fault.ts';

/** An object as a listing shows it. `etag` is the MD5 of its bytes in hex, except where a store encrypts by key. */
export interface BucketObject {
  key: string;
  size: number;
  etag: string;
}

export interface StoredObject {
  bytes: Uint8Array;
  etag: string;
  /** Its minimum age, in ms, measured by the store's own clock; 0 when unknown. */
  age: number;
}

/** An object's headers, by their names in lower case. */
export interface ObjectHead {
  size: number;
  etag: string;
  headers: Record<string, string>;
}

export interface PutOptions {
  headers?: Record<string, string>;
  /** Writes only where the key has no object, or has the one of this ETag. */
  onlyIf?: 'absent' | { etag: string };
  signal?: AbortSignal;
}

/** A place for objects: object storage, or a folder. Every method throws a Fault that names the cure. */
export interface Bucket {
  /** Its name in messages. */
  readonly name: string;
  /** Whether the objects keep the headers that they were written with. */
  readonly keepsHeaders: boolean;
  /** The object. `max` is its largest permitted size in bytes; by default, that of a response to a listing. */
  get(key: string, max?: number, signal?: AbortSignal): Promise<StoredObject | null>;
  head(key: string): Promise<ObjectHead | null>;
  /** Whether a key has no object. Rejects where the store itself is missing, such as an unmounted disk. */
  isFree(key: string): Promise<boolean>;
  /** The bytes from `start` to before `end` of the object with this ETag; null when it is gone or was replaced. */
  range(key: string, etag: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array | null>;
  /**
   * Writes an object whole or not at all. A Blob of a file is read while it is sent. Returns the ETag; null when
   * `onlyIf` does not hold.
   */
  put(key: string, bytes: Uint8Array | Blob, options?: PutOptions): Promise<string | null>;
  list(prefix: string): AsyncIterable<BucketObject>;
  remove(keys: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Resolves when everything that was written survives a power failure. */
  flush(): Promise<void>;
}

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
