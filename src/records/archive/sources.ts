import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { SECOND } from '../../proof/time.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { ArchiveObject } from './manifest.ts';
import { ObjectChanged, type RangeSource } from './reader.ts';

/** The timeout for reading a part of an object, in ms. */
const READ_WAIT = 10 * SECOND;
export const SEED_LENGTH = 32;

/** An object of the archive, read by range. */
export function sourceOf(place: ArchivePlace, { key, etag, bytes }: ArchiveObject): RangeSource {
  return { id: `${key} ${etag}`, size: bytes, read: (start, end) => readPart(place, { key, etag }, start, end) };
}

/** The concatenated seeds of `count` rows, starting at `row`. */
export function seedsOf(
  place: ArchivePlace,
  { seeds }: ArchiveObject,
  row: number,
  count: number,
): Promise<Uint8Array> {
  if (seeds === null || count === 0) return Promise.resolve(new Uint8Array(count * SEED_LENGTH));
  return readPart(place, seeds, row * SEED_LENGTH, (row + count) * SEED_LENGTH);
}

/** The chunk size when a whole object is read, in bytes. */
const PART = 4_000_000;

/** Reads an object in chunks. Returns its SHA-256 in hex; null when it is gone or was replaced. */
export async function readThrough(
  place: ArchivePlace,
  { key, etag }: { key: string; etag: string },
  size: number,
  each: (part: Uint8Array) => Promise<void> = async () => {},
): Promise<string | null> {
  const hash = createHash('sha256');
  for (let at = 0; at < size; at += PART) {
    const part = await place.range(key, etag, at, Math.min(size, at + PART));
    if (part === null) return null;
    hash.update(part);
    await each(part);
  }
  return hash.digest('hex');
}

/** Copies an object to a new file of this disk. Returns as `readThrough`. */
export async function copyThrough(
  place: ArchivePlace,
  object: { key: string; etag: string },
  size: number,
  path: string,
): Promise<string | null> {
  const file = await open(path, 'wx', 0o600);
  try {
    return await readThrough(place, object, size, (part) => file.writeFile(part));
  } finally {
    await file.close();
  }
}

/**
 * Throws `ObjectChanged` when the object was replaced or removed, and `unavailable` when the storage does not answer.
 */
async function readPart(
  place: ArchivePlace,
  { key, etag }: { key: string; etag: string },
  start: number,
  end: number,
): Promise<Uint8Array> {
  const found = await place.range(key, etag, start, end, AbortSignal.timeout(READ_WAIT)).catch((error: unknown) => {
    throw error instanceof Fault
      ? error
      : new Fault('unavailable', `${place.name} does not answer (${messageOf(error)}); try again`);
  });
  if (found === null) throw new ObjectChanged(`${key} was replaced or removed`);
  return found;
}
