import type { AppContext } from '../../server/context.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import { keysNamedIn, MANIFEST, MANIFEST_MAX, readManifest } from '../archive/manifest.ts';

/**
 * Removes what this service uploaded to a place that another service began at the same moment: engines would read its
 * rows as the other's. Each service knows its keys, since they are noted before an upload, and no object of two services
 * has the same key, since it is made of the rows, which have signatures. A database that ever had a manifest, or that
 * has a key in common with the one there, is a copy that may lack what that manifest lists, and removes nothing.
 */
export async function removeLost(
  { store }: Pick<AppContext, 'store'>,
  place: ArchivePlace,
  assertHeld: () => void,
): Promise<void> {
  const { archive } = store.records;
  const keys = archive.left(Number.MAX_SAFE_INTEGER);
  if (archive.newest() !== null || keys.length === 0) return;
  const found = await place.get(MANIFEST, MANIFEST_MAX);
  if (found === null) return;
  const text = Buffer.from(found.bytes).toString('utf8');
  const theirs = keysNamedIn(text);
  // Throws for one that is damaged: it does not say what counts.
  const { objects } = readManifest(text, theirs, MANIFEST);
  const own = new Set(store.desk.verifyingKeys('records').map(({ kid }) => kid));
  if (theirs.some(({ kid }) => own.has(kid))) return;
  const named = new Set(objects.flatMap(({ key, seeds, publish }) => [key, seeds?.key, publish]));
  const lost = keys.filter((key) => !named.has(key));
  assertHeld();
  await place.remove(lost);
  await place.flush();
  store.database.transact(() => lost.forEach(archive.forgetLeft));
}
