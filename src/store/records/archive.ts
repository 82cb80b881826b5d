import { present } from '../../proof/narrow.ts';
import type { ArchiveObject } from '../../records/archive/manifest.ts';
import {
  bytes,
  type Db,
  integer,
  isInTransaction,
  json,
  oneOf,
  orNull,
  type Read,
  sql,
  type Transact,
  text,
} from '../../shared/sql/sql.ts';
import { RECEIPT, RECEIPT_COLUMNS, RECEIPT_TABLES, receiptOf } from './records-receipts.ts';

const KIND = oneOf('observations', 'observations_open', 'tombstones', 'deltas', 'sightings', 'sightings_by_value');
const OBJECT = {
  ...{ key: text, kind: KIND, period: text, bucket: text, etag: text, sha256: text, bytes: integer, rows: integer },
  ...{ first_seq: integer, last_seq: integer, first_at: integer, last_at: integer },
  ...{ first_path: text, last_path: text, seeds: orNull(json<ArchiveObject['seeds'] & object>()) },
  ...{ publish: orNull(text), generation: integer },
};
const COLUMNS = Object.keys(OBJECT)
  .map((name) => `"${name}"`)
  .join(', ');
const MANIFEST = { generation: integer, through: integer, etag: text, sha256: text, note: text, at: integer };
export type StoredManifest = Read<typeof MANIFEST>;

/** How many rows one transaction deletes. It blocks other writers for some milliseconds. */
const BATCH = 500;
/** How many rows are scanned at a time. */
const SCAN = 5_000;

/** The contents of the archive, and the only code that deletes observations from the database. */
export function archiveTables(db: Db, transact: Transact) {
  const { run, insert, one, has, number, all } = sql(db);
  const newest = one(
    'SELECT generation, through, etag, sha256, note, at FROM archive_manifests ORDER BY generation DESC LIMIT 1',
    MANIFEST,
  );
  const through = number('SELECT through FROM archive_manifests ORDER BY generation DESC LIMIT 1');
  const addManifest = insert('archive_manifests', MANIFEST);
  const addObject = insert('archive_objects', OBJECT);
  const clear = run('DELETE FROM archive_objects');
  const leave = run('INSERT INTO archive_left VALUES (?, ?) ON CONFLICT DO NOTHING');
  const leaveNow = run('UPDATE archive_left SET since = 0');
  const forgetLeft = run('DELETE FROM archive_left WHERE key = ?');
  const objects = all(`SELECT ${COLUMNS} FROM archive_objects ORDER BY last_at DESC, key`, OBJECT);
  const seen = number('SELECT through FROM archive_seen');
  const setSeen = run(
    'INSERT INTO archive_seen VALUES (1, ?1) ON CONFLICT DO UPDATE SET through = max(through, excluded.through)',
  );
  const openGate = run('INSERT INTO archive_gate VALUES (1, ?, ?)');
  const closeGate = run('DELETE FROM archive_gate');
  const scan = all(
    `SELECT o.seq, o.seq = h.seq AS newest FROM observations o CROSS JOIN hostnames h ON h.id = o.host
     WHERE o.seq > ? AND o.seq <= ? ORDER BY o.seq LIMIT ?`,
    { seq: integer, newest: integer },
  );
  const remove = run('DELETE FROM observations WHERE seq IN (SELECT value FROM json_each(?))');
  const parts = all('SELECT seq, body, patch, shared FROM observations WHERE seq > ? ORDER BY seq LIMIT ?', {
    seq: integer,
    body: integer,
    patch: orNull(integer),
    shared: orNull(integer),
  });
  const PARTS = [
    { table: 'body_patches', of: 'patch' },
    { table: 'shared_circumstances', of: 'shared' },
    { table: 'record_bodies', of: 'body' },
  ] as const;
  const ids = PARTS.map(({ table }) =>
    all(`SELECT id FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`, integer),
  );
  const lastIds = PARTS.map(({ table }) => number(`SELECT max(id) FROM ${table}`));
  const removeParts = PARTS.map(({ table }) =>
    run(`DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`),
  );
  const tombstones = all('SELECT seq, hash FROM erased_observations WHERE object IS NULL AND seq <= ? ORDER BY seq', {
    seq: integer,
    hash: bytes,
  });
  const bury = run(
    'INSERT INTO erased_observations VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET object = coalesce(excluded.object, object)',
  );
  const addErasure = run(
    'INSERT INTO archive_erasures VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET generation = excluded.generation',
  );
  const erasures = all('SELECT path, bucket, generation FROM archive_erasures ORDER BY path', {
    path: text,
    bucket: text,
    generation: integer,
  });
  const endErasure = run('DELETE FROM archive_erasures WHERE path = ?');

  /**
   * Deletes rows while the triggers that protect observations are open. Rows of other tables that refer to an
   * observation stay, so foreign keys are off meanwhile; nothing else runs on this connection until they are on again.
   */
  const throughGate = <T>(last: number, host: number | null, work: () => T): T => {
    if (isInTransaction(db)) throw new TypeError('pruning and erasing need a transaction of their own');
    db.exec('PRAGMA foreign_keys = OFF');
    // Overwrites deleted rows in the file: their hostname may be erased later, and this data must then not be left
    // behind.
    db.exec('PRAGMA secure_delete = ON');
    try {
      return transact(() => {
        openGate(last, host);
        const result = work();
        closeGate();
        return result;
      });
    } finally {
      db.exec('PRAGMA secure_delete = FAST');
      db.exec('PRAGMA foreign_keys = ON');
    }
  };

  /**
   * The hosts whose rows belong in each object, by day and bucket. A temporary table of this connection, because a day
   * may have more hosts than fit into memory.
   */
  const newDayPlan = () => {
    db.exec(`DROP TABLE IF EXISTS temp.archive_plan;
      CREATE TEMP TABLE archive_plan (day TEXT, bucket TEXT, path TEXT, host INTEGER, PRIMARY KEY (day, bucket, path)) WITHOUT ROWID`);
    const temporary = sql(db);
    const add = temporary.run(
      `INSERT INTO temp.archive_plan
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    );
    return {
      add: (rows: readonly [day: string, bucket: string, path: string, host: number][]): void =>
        void add(JSON.stringify(rows)),
      groups: temporary.all('SELECT DISTINCT day, bucket FROM temp.archive_plan ORDER BY day, bucket', {
        day: text,
        bucket: text,
      }),
      /** Hosts of a day and bucket, by path, after the given path. */
      hosts: temporary.all(
        'SELECT path, host FROM temp.archive_plan WHERE day = ? AND bucket = ? AND path > ? ORDER BY path LIMIT ?',
        { path: text, host: integer },
      ),
      end: (): void => void db.exec('DROP TABLE temp.archive_plan'),
    };
  };

  return {
    newDayPlan,
    /** The newest manifest known to this database; null before the first. */
    newest,
    /** Every observation up to this number is in the archive, or was erased; 0 without an archive. */
    through,
    /** The highest observation number ever seen in the archive. */
    seen,
    /** All objects of the newest manifest, the latest first. */
    objects,
    /**
     * The objects that may contain observations of a name, by its bucket hash and path, the latest rows first. Rows
     * archived late for a period have higher numbers, but may have earlier times than other rows of the object.
     */
    objectsFor: all(
      `SELECT ${COLUMNS} FROM archive_objects
       WHERE substr(?1, 1, length(bucket)) = bucket AND first_path <= ?2 AND last_path >= ?2
         AND kind IN ('observations', 'observations_open')
       ORDER BY period DESC, last_seq DESC`,
      OBJECT,
    ),
    noteSeen: (last: number): void => void setSeen(last),
    /**
     * Makes a manifest the newest one. Objects that it does not list become orphans, to be deleted later. With
     * `isErasure`, all orphans are deleted at once, because they may contain erased data. Call it in a transaction.
     */
    adopt(manifest: StoredManifest, named: readonly ArchiveObject[], isErasure: boolean): void {
      const keys = new Set(named.flatMap(keysOf));
      for (const object of objects()) for (const key of keysOf(object)) if (!keys.has(key)) leave(key, manifest.at);
      if (isErasure) leaveNow();
      clear();
      for (const object of named) addObject({ ...object, seeds: object.seeds ?? null });
      for (const key of keys) forgetLeft(key);
      addManifest(manifest);
      setSeen(manifest.through);
    },
    /** The keys of objects that became orphans before a time (ms). */
    left: all('SELECT key FROM archive_left WHERE since < ? ORDER BY key', text),
    leave: (key: string, since: number): void => void leave(key, since),
    forgetLeft: (key: string): void => void forgetLeft(key),
    /** The number, host and time (ms) of observations in a range of numbers, in order. */
    between: all('SELECT seq, host, observed_at FROM observations WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?', {
      seq: integer,
      host: integer,
      observed_at: integer,
    }),
    /** The time of the first observation that is not archived yet, in ms; null when all are. */
    waitingSince: one(
      `SELECT observed_at FROM observations
       WHERE seq > coalesce((SELECT through FROM archive_manifests ORDER BY generation DESC LIMIT 1), 0) ORDER BY seq LIMIT 1`,
      integer,
    ),
    /** The first observation after a number that was made at or after a time (ms). */
    firstSince: one('SELECT seq FROM observations WHERE seq > ? AND observed_at >= ? ORDER BY seq LIMIT 1', integer),
    /** Whether observations of a host have left the database. */
    isArchived: has('SELECT 1 FROM archived_hosts WHERE host = ?'),
    /** Receipts in the database by number, after a number. */
    receiptsAfter: all(
      `SELECT ${RECEIPT_COLUMNS} FROM observations ${RECEIPT_TABLES} WHERE observations.seq > ? ORDER BY observations.seq LIMIT ?`,
      RECEIPT,
      (row) => ({ seq: row.seq, receipt: receiptOf(row) }),
    ),
    /** The number of archived observations that are no longer in this database. */
    awayCount: number(
      `SELECT max(0, through - (SELECT count(*) FROM observations WHERE seq <= through)
         - (SELECT count(*) FROM erased_observations WHERE seq <= through))
       FROM archive_manifests ORDER BY generation DESC LIMIT 1`,
    ),
    /** The notes of all manifests, oldest first. */
    notes: all('SELECT generation, note FROM archive_manifests ORDER BY generation', {
      generation: integer,
      note: text,
    }),
    host: one('SELECT hostname, path, registrable_domain FROM hostnames WHERE id = ?', {
      hostname: text,
      path: text,
      registrable_domain: orNull(text),
    }),
    /**
     * Deletes some of the archived observations after a number, except the newest of each host. Returns the number at
     * which to continue; null when none is left.
     */
    prune(after: number): { last: number; deleted: number } | null {
      const most = through();
      const rows = scan(after, most, BATCH);
      const last = rows.at(-1)?.seq;
      if (last === undefined) return null;
      if (rows.every(({ newest }) => newest === 1)) return { last, deleted: 0 };
      return throughGate(most, null, () => {
        // Read again in the transaction. One that was newest before may now be deletable, but that is left to the next
        // pass.
        const seqs = scan(after, last, BATCH).flatMap(({ seq, newest }) => (newest === 1 ? [] : [seq]));
        return { last, deleted: remove(JSON.stringify(seqs)) };
      });
    },
    /**
     * Deletes the stored parts of records that no observation uses any more. `pause` is awaited between two batches.
     */
    async sweepParts(pause: () => Promise<unknown>): Promise<number> {
      const lasts = lastIds.map((last) => last());
      // A bit array, because there may be more ids than a Set can hold.
      const used = lasts.map((last) => new Uint8Array(((last ?? 0) >> 3) + 1));
      const isUsed = (n: number, id: number) => ((used[n]?.[id >> 3] ?? 0) & (1 << (id & 7))) !== 0;
      const use = (bits: Uint8Array, id: number) => {
        bits[id >> 3] = (bits[id >> 3] ?? 0) | (1 << (id & 7));
      };
      const note = (rows: ReturnType<typeof parts>) => {
        for (const row of rows) for (const [n, { of }] of PARTS.entries()) use(present(used[n]), row[of] ?? 0);
        return rows.at(-1)?.seq ?? null;
      };
      let seq = 0;
      for (let last = note(parts(0, SCAN)); last !== null; last = note(parts(seq, SCAN))) {
        seq = last;
        await pause();
      }
      let deleted = 0;
      for (const [n, select] of ids.entries()) {
        let after = 0;
        for (;;) {
          const found = select(after, lasts[n] ?? 0, BATCH);
          const end = found.at(-1);
          if (end === undefined) break;
          if (found.some((id) => !isUsed(n, id))) {
            deleted += throughGate(0, null, () => {
              // Observations made meanwhile may use parts that no earlier one does.
              for (let last = note(parts(seq, SCAN)); last !== null; last = note(parts(seq, SCAN))) seq = last;
              return removeParts[n]?.(JSON.stringify(found.filter((id) => !isUsed(n, id)))) ?? 0;
            });
          }
          after = end;
          await pause();
        }
      }
      return deleted;
    },
    throughGate,
    /** Tombstones of erased observations up to a number that are in no object of the archive yet. */
    tombstones,
    /** Records a tombstone, or the object of the archive that contains it. */
    bury: (seq: number, hash: Uint8Array, object: string | null): void => void bury(seq, hash, object),
    isErased: has('SELECT 1 FROM erased_observations WHERE seq = ?'),
    erasedCount: number('SELECT count(*) FROM erased_observations'),
    /** The hashes of erased observations' notes, in hex, by number, after a number. */
    erased: all('SELECT seq, hash FROM erased_observations WHERE seq > ? ORDER BY seq LIMIT ?', {
      seq: integer,
      hash: bytes,
    }),
    newestErased: number('SELECT max(seq) FROM erased_observations'),
    /** Whether the tombstones in an object of the archive are already in this database. */
    buriedIn: has('SELECT 1 FROM erased_observations WHERE object = ? LIMIT 1'),
    /**
     * Hostnames whose rows must still leave the archive, and the number of the newest manifest when they were erased.
     */
    erasures,
    addErasure: (path: string, bucket: string): void => void addErasure(path, bucket, newest()?.generation ?? 0),
    endErasure: (path: string): void => void endErasure(path),
  };
}

function keysOf({ key, seeds }: Pick<ArchiveObject, 'key' | 'seeds'>): string[] {
  return seeds === null ? [key] : [key, seeds.key];
}
