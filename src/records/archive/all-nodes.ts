import type { VerifyingKey } from '../../proof/keyring.ts';
import type { Observation } from '../../proof/records/observation.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import { bucketHash, type Hostname, pathOf } from '../hostname.ts';
import { type ArchiveObject, keysNamedIn, MANIFEST, type Manifest, readManifest } from './manifest.ts';
import { type Archived, readObservations } from './observation-file.ts';
import { observationOf } from './observation-row.ts';
import { ObjectChanged } from './reader.ts';
import { SEED_LENGTH, seedsOf, sourceOf } from './sources.ts';

/** The largest manifest, in bytes. */
const MANIFEST_MAX = 200_000_000;
const BELOW = /^nodes\/([a-z0-9-]+)\/manifest\.json$/;

/** The archive of one node, or of a service that is not divided into nodes. */
export interface NodeArchive {
  /** Null for an undivided service. */
  node: string | null;
  place: ArchivePlace;
  manifest: Manifest;
  keys: VerifyingKey[];
}

/** One node's observations of a name, oldest first. */
export interface NodeHistory {
  archive: NodeArchive;
  observations: Observation[];
}

/**
 * The archives in a storage location. Each manifest is verified with the keys that it contains itself, so the caller
 * must compare those keys with keys it trusts. Throws `conflict` for a manifest that those keys did not sign, and
 * `not_found` without any manifest.
 */
export async function archivesIn(place: ArchivePlace): Promise<NodeArchive[]> {
  const nodes: (string | null)[] = [null];
  for await (const { key } of place.list('nodes/')) {
    const [, node] = BELOW.exec(key) ?? [];
    if (node !== undefined) nodes.push(node);
  }
  const archives: NodeArchive[] = [];
  for (const node of nodes) {
    const own = node === null ? place : place.below(`nodes/${node}/`);
    const found = await own.get(MANIFEST, MANIFEST_MAX);
    if (found === null) continue;
    const text = Buffer.from(found.bytes).toString('utf8');
    const keys = keysNamedIn(text);
    const where = `${node === null ? '' : `nodes/${node}/`}${MANIFEST} in ${place.name}`;
    archives.push({ node, place: own, manifest: readManifest(text, keys, where), keys });
  }
  if (archives.length > 0) return archives;
  throw new Fault('not_found', `${place.name} has no ${MANIFEST}, nor one of a node; correct ARCHIVE_URL`);
}

/**
 * The observations of a name in these archives: one history per archive, ordered by its first observation. Throws
 * `unavailable` for an object that is damaged, or not there.
 */
export async function historyIn(archives: readonly NodeArchive[], name: Hostname): Promise<NodeHistory[]> {
  const [hash, path] = [bucketHash(name.hostname, name.registrable_domain), pathOf(name.hostname)];
  const found: NodeHistory[] = [];
  for (const archive of archives) {
    const observations: Observation[] = [];
    for (const object of archive.manifest.objects) {
      if (!mayHave(object, hash, path)) continue;
      const rows = await observationsIn(archive.place, object, path).catch((error: unknown) => {
        throw error instanceof Fault ? error : unreadable(archive.node, object, error);
      });
      observations.push(...rows);
    }
    observations.sort((a, b) => a.seq - b.seq);
    if (observations.length > 0) found.push({ archive, observations });
  }
  const begin = ({ observations }: NodeHistory) => observations[0]?.record.observed_at ?? '';
  return found.sort((a, b) => (begin(a) < begin(b) ? -1 : 1));
}

function unreadable(node: string | null, { key }: ArchiveObject, error: unknown): Fault {
  const why = error instanceof ObjectChanged ? error.message : `${key} cannot be read (${messageOf(error)})`;
  return new Fault('unavailable', `${node === null ? '' : `node ${node}: `}${why}; try again, or restore it`);
}

function mayHave({ kind, rows, bucket, first_path, last_path }: ArchiveObject, hash: string, path: string): boolean {
  const isRows = kind === 'observations' || kind === 'observations_open';
  return isRows && rows > 0 && hash.startsWith(bucket) && first_path <= path && path <= last_path;
}

async function observationsIn(place: ArchivePlace, object: ArchiveObject, path: string): Promise<Observation[]> {
  const rows: Archived[] = [];
  for await (const row of readObservations(sourceOf(place, object), { path })) rows.push(row);
  const first = rows[0]?.row ?? 0;
  const seeds = await seedsOf(place, object, first, rows.length);
  return rows.map(({ row, ...stored }) => {
    const at = (row - first) * SEED_LENGTH;
    return observationOf({ ...stored, seed: seeds.subarray(at, at + SEED_LENGTH) });
  });
}
