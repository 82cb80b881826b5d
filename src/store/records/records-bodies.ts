import { createHash } from 'node:crypto';
import { type Piece, patched, patchOf } from '../../records/body-patch.ts';
import type { Circumstance } from '../../records/record.ts';
import { caught } from '../../shared/fault.ts';
import { type Db, integer, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';

/** Patches longer than this fraction of the body are not worth storing. */
const MOST = 0.5;

/** The columns of a record, after a join with `RECORD_TABLES`. */
export const RECORD = {
  body: text,
  patch: orNull(text),
  circumstances: text,
  shared: orNull(text),
};
export const RECORD_COLUMNS =
  'record_bodies.body, body_patches.patch, observations.circumstances, shared.circumstances AS shared';
export const RECORD_TABLES = `CROSS JOIN record_bodies ON record_bodies.id = observations.body
  LEFT JOIN body_patches ON body_patches.id = observations.patch
  LEFT JOIN shared_circumstances AS shared ON shared.id = observations.shared`;

/** The two parts of a row's record, as JSON, exactly as they were before storage. Throws when damaged. */
export function recordTexts({ body, patch, circumstances, shared }: Read<typeof RECORD>) {
  return {
    body: bodyOf({ body, patch }),
    circumstances: shared === null ? circumstances : JSON.stringify(merged(circumstances, shared)),
  };
}

/** Whether a row's texts cannot be read. A body equal to `sound` is not parsed again. */
function isDamaged(row: Read<typeof RECORD>, sound: string): boolean {
  const read = () => {
    const { body, circumstances } = recordTexts(row);
    if (body !== sound) JSON.parse(body);
    return JSON.parse(circumstances) as unknown;
  };
  return caught(Error, read) instanceof Error;
}

function bodyOf({ body, patch }: Pick<Read<typeof RECORD>, 'body' | 'patch'>): string {
  return patch === null ? body : patched(body, JSON.parse(patch) as Piece[]);
}

type Ttls = (number | null)[];

function merged(own: string, shared: string): Circumstance[] {
  const [rtts, ttls] = JSON.parse(own) as [rtts: (number | null)[], ttls?: Ttls];
  const [usual, ways] = JSON.parse(shared) as [ttls: Ttls, ways: string[]];
  return ways.map((way, n) => {
    const transport = way.startsWith('u') ? 'udp' : way.startsWith('t') ? 'tcp' : null;
    return [(ttls ?? usual)[n] ?? null, transport, rtts[n] ?? null, way.slice(1)];
  });
}

/**
 * The bodies and circumstances of records. Parts equal to the host's newest observation are not stored again. A body is
 * stored whole, or as a patch of the body on which the host's newest one is based.
 */
export function bodyTables(db: Db) {
  const { run, one, all } = sql(db);
  const NEWEST = {
    base: integer,
    body: text,
    patch_id: orNull(integer),
    patch: orNull(text),
    repeated: orNull(integer),
    circumstances: text,
    shared_id: orNull(integer),
    shared: orNull(text),
  };
  const newest = one(
    `SELECT observations.body AS base, observations.patch AS patch_id, repeated, observations.shared AS shared_id, ${RECORD_COLUMNS}
     FROM hostnames CROSS JOIN observations ON observations.seq = hostnames.seq ${RECORD_TABLES} WHERE hostnames.id = ?`,
    NEWEST,
  );
  type Newest = Read<typeof NEWEST> | null;
  const addBody = run('INSERT INTO record_bodies (digest, body) VALUES (?, ?)');
  const bodyId = one('SELECT id FROM record_bodies WHERE digest = ?', integer);
  const patches = all('SELECT id, patch AS text FROM body_patches WHERE base = ? AND digest = ?', {
    id: integer,
    text,
  });
  const addPatch = one(
    'INSERT INTO body_patches (base, digest, repeated, patch) VALUES (?, ?, ?, ?) RETURNING id',
    integer,
  );
  const shared = all('SELECT id, circumstances AS text FROM shared_circumstances WHERE digest = ?', {
    id: integer,
    text,
  });
  const addShared = one('INSERT INTO shared_circumstances (digest, circumstances) VALUES (?, ?) RETURNING id', integer);
  const sameText = (rows: { id: number; text: string }[], wanted: string): number | null =>
    rows.find(({ text }) => text === wanted)?.id ?? null;

  const keepBody = (body: string, last: Newest): { body: number; patch: number | null } => {
    const lastBody = last === null ? '' : bodyOf(last);
    if (last !== null && lastBody === body) return { body: last.base, patch: last.patch_id };
    if (last?.body === body) return { body: last.base, patch: null };
    const change = last === null ? null : patchOf(last.body, body, lastBody);
    const patch = JSON.stringify(change?.pieces);
    if (last !== null && change !== null) {
      const known = sameText(patches(last.base, digestOf(patch)), patch);
      if (known !== null) return { body: last.base, patch: known };
    }
    const digest = createHash('sha256').update(body).digest();
    const found = bodyId(digest);
    if (found !== null) return { body: found, patch: null };
    if (last !== null && change !== null && patch.length <= body.length * MOST) {
      const repeated = (last.repeated ?? 0) + change.repeated;
      // So an unchanged value is repeated in patches only until they add up to one body; then a new base contains it
      // once.
      if (repeated <= body.length && patched(last.body, change.pieces) === body) {
        return { body: last.base, patch: addPatch(last.base, digestOf(patch), repeated, patch) };
      }
    }
    addBody(digest, body);
    return { body: bodyId(digest) ?? 0, patch: null };
  };

  const keepCircumstances = (circumstances: Circumstance[], last: Newest) => {
    const ttls = circumstances.map(([ttl]) => ttl);
    const ways = circumstances.map(([, transport, , flags]) => `${transport?.[0] ?? '-'}${flags}`);
    const rtts = circumstances.map(([, , rtt]) => rtt);
    const usual = JSON.stringify([ttls, ways]);
    const known = last?.shared === usual ? last.shared_id : sameText(shared(digestOf(usual)), usual);
    if (known !== null) return { shared: known, circumstances: JSON.stringify([rtts]) };
    if (last !== null && last.shared !== null) {
      const [, lastWays] = JSON.parse(last.shared) as [Ttls, string[]];
      const lastTtls = merged(last.circumstances, last.shared).map(([ttl]) => ttl);
      // A resolver's cache returns other TTLs each time. Only TTLs that occur twice in a row are worth sharing.
      if (JSON.stringify(lastWays) === JSON.stringify(ways) && JSON.stringify(lastTtls) !== JSON.stringify(ttls)) {
        return { shared: last.shared_id, circumstances: JSON.stringify([rtts, ttls]) };
      }
    }
    return { shared: addShared(digestOf(usual), usual), circumstances: JSON.stringify([rtts]) };
  };

  return {
    /** Stores the parts of a host's next record; returns the columns of its row. `body` is in canonical form. */
    keepRecord(host: number, body: string, circumstances: Circumstance[]) {
      const found = newest(host);
      // A damaged row cannot be a base; the new observation is then stored whole.
      const last = found === null || isDamaged(found, body) ? null : found;
      return { ...keepBody(body, last), ...keepCircumstances(circumstances, last) };
    },
  };
}

function digestOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
