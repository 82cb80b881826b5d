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
