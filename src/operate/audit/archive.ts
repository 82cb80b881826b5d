import { rmSync } from 'node:fs';
import { leafHash } from '../../proof/merkle.ts';
import type { Observation } from '../../proof/records/observation.ts';
import type { Place, Row } from '../../records/archive/local-files.ts';
import { MANIFEST, MANIFEST_MAX, type Manifest, readManifest } from '../../records/archive/manifest.ts';
import { observationOf } from '../../records/archive/observation-row.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { AUDIT_FOLDER, newWorkFolder } from '../../shared/files/work-folder.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import { type ArchiveVisitor, walkArchive } from './archive-walk.ts';
import { auditStoredHost } from './records.ts';

export interface ArchiveAudit {
  observations: number;
  /** By the index of a leaf: 1 if the archive has its observation or its tombstone. */
  logged: Uint8Array;
}

/**
 * Reads every object that the manifest names, and rebuilds every record, receipt and chain from their bytes. Every
 * observation number must occur once, with its leaf in the log, and must give the rows that the database derived.
 * Appends to `faults`, which name the object and the row. Throws `invalid_request` without ARCHIVE_URL.
 */
export async function auditArchive(
  app: AppContext,
  faults: string[],
  progress: Progress['step'],
): Promise<ArchiveAudit> {
  const { store, archive: place, settings } = app;
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to where the archive is');
  const work = newWorkFolder(settings.dataDir, AUDIT_FOLDER);
  try {
    const manifest = await readNewest(app, place);
    const own = store.records.archive.newest();
    if (own?.generation !== manifest.said.generation) {
      faults.push(
        `archive: its manifest is number ${manifest.said.generation}, and the database knows number ${own?.generation ?? 0}; start the server, which follows`,
      );
    }
    const audit = new StoredArchiveAudit(app, faults);
    const observations = await walkArchive({ place, manifest, work, faults, progress }, audit);
    return { observations, logged: audit.logged };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function readNewest({ store }: AppContext, place: ArchivePlace): Promise<Manifest> {
  const found = await place.get(MANIFEST, MANIFEST_MAX);
  if (found === null) throw new Fault('not_found', `${place.name} has no ${MANIFEST}; correct ARCHIVE_URL`);
  const text = Buffer.from(found.bytes).toString('utf8');
  return readManifest(text, store.desk.verifyingKeys('records'), `${MANIFEST} in ${place.name}`);
}

/** Compares the archive with the rows that the database derived from it, and with the log. */
class StoredArchiveAudit implements ArchiveVisitor {
  readonly #app: AppContext;
  readonly #faults: string[];
  readonly #damaged: Set<number>;
  readonly logged: Uint8Array;
  /** The observations of the present host, oldest first, and where in the archive each one is. */
  #observations: Observation[] = [];
  #places = new Map<number, Place>();

  constructor(app: AppContext, faults: string[]) {
    this.#app = app;
    this.#faults = faults;
    this.logged = new Uint8Array(app.store.database.log.size('records'));
    this.#damaged = new Set(app.store.records.damagedObservations().map(({ seq }) => seq));
  }

  observation(row: Row, place: Place): void {
    this.#places.set(row.seq, place);
    try {
      this.#observations.push(observationOf(row));
    } catch (error) {
      this.#faults.push(`${place.key}, row ${place.row}: ${messageOf(error)}`);
    }
  }

  /** Audits a host by its observations in the archive and the later ones in the database. */
  endHost(hostname: string): void {
    const { store } = this.#app;
    const [observations, places] = [this.#observations, this.#places];
    this.#observations = [];
    this.#places = new Map();
    const known = store.records.find(hostname);
    if (known === null) {
      this.#faults.push(`${hostname}: the archive has observations of it, and the database does not know the name`);
      return;
    }
    const audit = auditStoredHost(store, known, this.#damaged, observations);
    for (const text of audit.faults) {
      const place = places.get(Number(/: seq (\d+):/.exec(text)?.[1]));
      this.#faults.push(place === undefined ? text : `${place.key}, row ${place.row}: ${text}`);
    }
  }

  leaf(where: string, seq: number, entry: string): void {
    const index = this.#app.store.database.log.indexOf('records', leafHash(entry));
    if (index === null) this.#faults.push(`${where}: seq ${seq}: the log has no leaf of its receipt`);
    else this.logged[index] = 1;
  }
}
