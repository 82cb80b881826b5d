import { sha256 } from '../../proof/basis.ts';
import { jwks } from '../../proof/keyring.ts';
import { isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { StoredManifest } from '../../store/records/archive.ts';
import { merged } from '../archive/local-files.ts';
import {
  type ArchiveObject,
  MANIFEST,
  MANIFEST_MAX,
  type Manifest,
  type ManifestBody,
  manifestText,
  readManifest,
  type Tombstone,
  tombstonesIn,
} from '../archive/manifest.ts';
import { ObjectChanged } from '../archive/reader.ts';
import { withoutManifest } from './archive-look.ts';
import { type ArchiveObjects, hex } from './archive-objects.ts';

/** The manifest that a step starts from; number 0 without a manifest. */
export interface Base {
  generation: number;
  through: number;
  objects: ArchiveObject[];
  newest: StoredManifest | null;
  /** The numbers of erased observations whose tombstones are in no object yet. */
  waiting: ReadonlySet<number>;
}
/** What a commit changes in the manifest. */
interface Change {
  through?: number;
  added?: ArchiveObject[];
  removed?: readonly ArchiveObject[];
  /** The tombstones of erased observations that these objects no longer contain. */
  erased?: Tombstone[];
}

/** The manifest of the archive: adopts the newest one, and replaces it. The database is updated after the archive. */
export class ArchiveManifest {
  readonly #app: AppContext;
  readonly #place: ArchivePlace;
  readonly #objects: ArchiveObjects;
  readonly #assertHeld: () => void;
  /** The ETag of the newest manifest in the storage. */
  #etag: string | null = null;
  /** Whether a manifest listed erased observations that the database may still have. */
  isErasureDue = true;

  /** `assertHeld` throws when this process has lost the lease. */
  constructor(app: AppContext, place: ArchivePlace, objects: ArchiveObjects, assertHeld: () => void) {
    this.#app = app;
    this.#place = place;
    this.#objects = objects;
    this.#assertHeld = assertHeld;
  }

  get #tables() {
    return this.#app.store.records.archive;
  }

  /** The manifest that a step starts from. */
  base(): Base {
    const newest = this.#tables.newest();
    const { generation = 0, through = 0 } = newest ?? {};
    const waiting = new Set(this.#tables.tombstones(Number.MAX_SAFE_INTEGER).map(({ seq }) => seq));
    return { generation, through, objects: this.#tables.objects(), newest, waiting };
  }

  /**
   * Adopts the archive's manifest if the database has an older one: after a restore, or after a kill between writing
   * the manifest and updating the database. Throws `conflict` for an archive that does not belong to this database.
   */
  async adopt(): Promise<void> {
    const own = this.#tables.newest();
    const etag = await this.#place.etag(MANIFEST);
    if (etag === null) {
      this.#etag = null;
      if (own === null) return;
      throw withoutManifest(this.#place, own.through);
    }
    if (etag === this.#etag && own !== null) return;
    const found = await this.#place.get(MANIFEST, MANIFEST_MAX);
    if (found === null) throw new ObjectChanged(MANIFEST);
    const digest = hex(found.bytes);
    if (own?.sha256 !== digest) await this.#follow(found.bytes, found.etag);
    this.#etag = found.etag;
  }

  /** Makes a manifest of the archive the newest one of the database too. */
  async #follow(bytes: Uint8Array, etag: string, isOwn = false): Promise<void> {
    const { store, clock, signer } = this.#app;
    const where = `${MANIFEST} in ${this.#place.name}`;
    const manifest = readManifest(Buffer.from(bytes).toString('utf8'), store.desk.verifyingKeys('records'), where);
    const { generation, through } = manifest.said;
    const own = this.#tables.newest();
    if (own !== null && own.generation >= generation) {
      const what = own.generation === generation ? 'is another one than' : 'is older than';
      throw new Fault(
        'conflict',
        `${where}, number ${generation}, ${what} the one of this database, number ${own.generation}; restore the newest version of that object, or correct ARCHIVE_URL`,
      );
    }
    if (own !== null && generation === own.generation + 1 && manifest.said.prev !== hashOf(own.note)) {
      throw new Fault(
        'conflict',
        `${where} does not follow the one before; another copy of this database archives too`,
      );
    }
    const here = store.records.nextSeq() - 1;
    if (through > here) {
      store.database.transact(() => this.#tables.noteSeen(through));
      // Raises the fence: from now on nothing is signed.
      signer.open();
      throw new Fault('conflict', olderThanArchive(through, here));
    }
    const buried = await this.#tombstonesOf(manifest);
    if (!isOwn) await this.#requireSame(manifest, own?.through ?? 0, buried);
    store.database.transact(() => {
      if ((this.#tables.newest()?.generation ?? 0) >= generation) return;
      const at = Math.max(clock.now(), Date.parse(manifest.said.signed_at));
      const isErasure = buried.length > 0 || this.#tables.erasures().length > 0;
      const row = { generation, through, etag, sha256: hex(bytes), note: manifest.note, at };
      this.#tables.adopt(row, manifest.objects, isErasure);
      for (const { seq, hash, object } of buried) this.#tables.bury(seq, hash, object);
      store.records.logLeaf(manifest.note);
    });
    if (buried.length > 0) this.isErasureDue = true;
  }

  /**
   * Throws `conflict` if the last archived number belongs to another observation in this database. That happens when an
   * older copy signs before it has read the archive: it then reuses numbers, at least this one.
   */
  async #requireSame({ objects, said: { through } }: Manifest, before: number, buried: Tombstone[]): Promise<void> {
    const [here] = this.#tables.receiptsAfter(through - 1, 1);
    if (through <= before || here?.seq !== through) return;
    const refuse = () =>
      new Fault(
        'conflict',
        `observation ${through} in the archive is not the one of this database: this is an older copy, which assigned its number again; restore the newest copy of the database`,
      );
    const stone = buried.find(({ seq }) => seq === through);
    if (stone !== undefined && hex(Buffer.from(here.receipt)) !== Buffer.from(stone.hash).toString('hex'))
      throw refuse();
    for (const object of objects) {
      if (object.last_seq !== through || object.kind === 'tombstones') continue;
      const files = await this.#objects.local([{ ...object, seeds: null }]);
      for await (const { seq, receipt } of merged(files)) {
        if (seq === through && receipt !== here.receipt) throw refuse();
      }
      this.#objects.clear();
    }
  }

  async #tombstonesOf(manifest: Manifest): Promise<(Tombstone & { object: string })[]> {
    const found: (Tombstone & { object: string })[] = [];
    for (const object of manifest.objects) {
      if (object.kind !== 'tombstones' || this.#tables.buriedIn(object.key)) continue;
      for (const stone of tombstonesIn(await this.#objects.read(object))) found.push({ ...stone, object: object.key });
    }
    return found;
  }

  /** Replaces the manifest in the storage, and then updates the database. */
  async commit(base: Base, change: Change): Promise<void> {
    const { store, signer, clock } = this.#app;
    const { through = base.through, added = [], removed = [], erased = [] } = change;
    const waiting = new Map([...this.#tables.tombstones(through), ...erased].map((stone) => [stone.seq, stone]));
    const stones = [...waiting.values()].sort((a, b) => a.seq - b.seq);
    if (stones.length > 0) added.push(await this.#objects.putTombstones(stones, base.generation + 1));
    await this.#place.flush();
    this.#assertHeld();
    const gone = new Set(removed.map(({ key }) => key));
    const body: ManifestBody = {
      v: 1,
      objects: [...base.objects.filter(({ key }) => !gone.has(key)), ...added],
      keys: jwks(store.desk.verifyingKeys('records')),
      clock: store.desk.clockNotes('records', ''),
    };
    // A hostname that was erased in the meantime must not come back.
    if (this.#tables.tombstones(through).some(({ seq }) => !base.waiting.has(seq))) throw new ObjectChanged('erased');
    const bytes = Buffer.from(
      store.database.transact(() => {
        const key = signer.key('records');
        const signed_at = isoTime(Math.max(clock.now(), key.nbf, base.newest?.at ?? 0));
        const prev = base.newest === null ? null : hashOf(base.newest.note);
        return manifestText(body, { generation: base.generation + 1, through, prev, signed_at }, key);
      }),
    );
    const onlyIf = base.newest === null ? 'absent' : { etag: this.#etag ?? '' };
    const etag = await this.#place.put(MANIFEST, bytes, onlyIf);
    if (etag === null) {
      this.#etag = null;
      throw new ObjectChanged(MANIFEST);
    }
    await this.#place.flush();
    await this.#follow(bytes, etag, true);
    this.#etag = etag;
  }
}

/** The message for a database with fewer observations than the archive: it would assign their numbers again. */
function olderThanArchive(through: number, here: number): string {
  return `the archive has observations up to ${through}, and this database up to ${here}: it is an older copy, and would assign their numbers again; restore the newest copy of the database`;
}

/** The hash by which the next manifest refers to the previous one. */
function hashOf(note: string): string {
  return sha256(note.slice(0, note.lastIndexOf('\n\n') + 1));
}
