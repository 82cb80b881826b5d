import { rmSync } from 'node:fs';
import { leafHash } from '../../proof/merkle.ts';
import type { Place, Row } from '../../records/archive/local-files.ts';
import { MANIFEST, MANIFEST_MAX, type Manifest, readManifest } from '../../records/archive/manifest.ts';
import { observationOf } from '../../records/archive/observation-row.ts';
import type { AppContext } from '../../server/context.ts';
import { caught, Fault, messageOf } from '../../shared/fault.ts';
import { AUDIT_FOLDER, newWorkFolder } from '../../shared/files/work-folder.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import { type ArchiveVisitor, walkArchive } from './archive-walk.ts';
import { StoredHostAudit } from './records.ts';

/** How often to audit an archive whose manifest is replaced meanwhile. */
const TRIES = 3;

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
  const { archive: place } = app;
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to where the archive is');
  for (let tried = 1; ; tried++) {
    const found: string[] = [];
    const audit = await auditManifest(app, place, found, progress);
    // An archiver replaces objects, and the manifest that named them.
    const isSame = (await readNewest(app, place)).hash === audit.hash && ownGeneration(app) === audit.own;
    if (found.length > 0 && !isSame && tried < TRIES) continue;
    pushAll(faults, found);
    return audit;
  }
}

async function auditManifest(app: AppContext, place: ArchivePlace, faults: string[], progress: Progress['step']) {
  const work = newWorkFolder(app.settings.dataDir, AUDIT_FOLDER);
  try {
    const manifest = await readNewest(app, place);
    const own = ownGeneration(app);
    if (own !== manifest.said.generation) {
      faults.push(
        `archive: its manifest is number ${manifest.said.generation}, and the database knows number ${own}; start the server, which follows`,
      );
    }
    const audit = new StoredArchiveAudit(app, faults);
    const observations = await walkArchive({ place, manifest, work, faults, progress }, audit);
    return { observations, logged: audit.logged, hash: manifest.hash, own };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function ownGeneration({ store }: AppContext): number {
  return store.records.archive.newest()?.generation ?? 0;
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
  /** Of the present host; null for one that the database does not know. */
  #audit: StoredHostAudit | null = null;
  #hostname: string | null = null;

  constructor(app: AppContext, faults: string[]) {
    this.#app = app;
    this.#faults = faults;
    this.logged = new Uint8Array(app.store.database.log.size('records'));
    this.#damaged = new Set(app.store.records.damagedObservations().map(({ seq }) => seq));
  }

  observation(row: Row, place: Place): void {
    const where = `${place.key}, row ${place.row}`;
    if (this.#hostname === null) this.#beginHost(row.hostname);
    try {
      for (const fault of this.#audit?.add(observationOf(row)) ?? []) this.#faults.push(`${where}: ${fault}`);
    } catch (error) {
      this.#faults.push(`${where}: ${messageOf(error)}`);
    }
  }

  #beginHost(hostname: string): void {
    const { store } = this.#app;
    this.#hostname = hostname;
    const known = store.records.find(hostname);
    this.#audit = known === null ? null : new StoredHostAudit(store, known, this.#damaged);
    if (known === null)
      this.#faults.push(`${hostname}: the archive has observations of it, and the database does not know the name`);
  }

  endHost(): void {
    const ended = caught(Fault, () => this.#audit?.end());
    // A record of the database that cannot be read stops the audit of its host alone.
    pushAll(this.#faults, ended instanceof Fault ? [`${this.#hostname}: ${ended.message}`] : (ended?.faults ?? []));
    [this.#audit, this.#hostname] = [null, null];
  }

  leaf(where: string, seq: number, entry: string): void {
    const index = this.#app.store.database.log.indexOf('records', leafHash(entry));
    if (index === null) this.#faults.push(`${where}: seq ${seq}: the log has no leaf of its receipt`);
    else this.logged[index] = 1;
  }
}
