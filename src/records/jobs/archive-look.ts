import type { AppContext } from '../../server/context.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import { MANIFEST, MANIFEST_MAX, readManifest } from '../archive/manifest.ts';

/**
 * Reads the archive's manifest once in each process that signs observations, before it signs the first. A database with
 * fewer observations than the archive is an older copy, and is fenced. Throws `unavailable` while the storage does not
 * answer, and `conflict` for a manifest that does not belong to this database; nothing may be signed then.
 */
export async function lookAtArchive(
  { archive: own, store, signer }: AppContext,
  place: ArchivePlace | null = own,
): Promise<void> {
  if (place === null || signer.knowsArchive) return;
  const { archive } = store.records;
  const found = await place.get(MANIFEST, MANIFEST_MAX).catch((error: unknown) => {
    if (error instanceof Fault) throw error;
    throw new Fault('unavailable', `${place.name} does not answer (${messageOf(error)}); try again`);
  });
  if (found === null && archive.newest() !== null) throw withoutManifest(place, archive.through());
  // The archive may be elsewhere or not be mounted, and an older copy of the database does not know that a manifest
  // exists. So make sure that there is none.
  if (found === null && !(await place.isFree(MANIFEST)))
    throw new Fault('unavailable', `${place.name} lists ${MANIFEST}, and does not give it; try again`);
  if (found !== null) {
    const text = Buffer.from(found.bytes).toString('utf8');
    const where = `${MANIFEST} in ${place.name}`;
    const { through } = readManifest(text, store.desk.verifyingKeys('records'), where).said;
    if (through >= store.records.nextSeq()) {
      store.database.transact(() => archive.noteSeen(through));
      // This raises the fence.
      signer.open();
    }
  }
  signer.knowsArchive = true;
}

/** The fault for storage that is not where this database has archived. */
export function withoutManifest({ name }: { name: string }, through: number): Fault {
  return new Fault(
    'conflict',
    `${name} has no ${MANIFEST}, and this database has archived observations up to ${through} there; correct ARCHIVE_URL, or restore the bucket`,
  );
}
