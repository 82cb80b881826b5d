import { fromHex, toHex } from '../proof/bytes.ts';
import { type LogService, receiptHashText } from '../proof/log/leaf.ts';
import { TILE_WIDTH } from '../proof/log/tile.ts';
import { leafHash } from '../proof/merkle.ts';
import { bytes, columnsOf, type Db, flag, integer, orNull, sql, text } from '../shared/sql/sql.ts';
import type { LogTables, WitnessState } from '../shared/transparency/log-tables.ts';

const HEAD = {
  number: integer,
  origin: text,
  size: integer,
  signed_at: integer,
  checkpoint: text,
  cosigned: orNull(text),
};
const COSIGNATURE = { origin: text, size: integer, vkey: text, time: integer, line: text };
const WITNESS_STATE = {
  seen_size: integer,
  cosigned_size: orNull(integer),
  cosigned_at: orNull(integer),
  fault: orNull(text),
  fault_at: orNull(integer),
  failures: integer,
  next_at: integer,
};
const WITNESS = { vkey: text, ...WITNESS_STATE };

export function logTables(db: Db): LogTables {
  const { run, changed, insert, upsert, one, number, all, each } = sql(db);
  const add = run(
    `INSERT INTO log_leaves (log, leaf_index, hash, entry, receipt)
     VALUES (?1, coalesce((SELECT max(leaf_index) FROM log_leaves WHERE log = ?1), -1) + 1, ?2, ?3, ?4)
     ON CONFLICT (log, hash) DO NOTHING`,
  );
  const filled = one('SELECT filled FROM log_state WHERE log = ?', flag);
  const setFilled = run('UPDATE log_state SET filled = ?2 WHERE log = ?1');
  const highest = one('SELECT max(leaf_index) FROM log_leaves WHERE log = ?', orNull(integer));
  const hashesOf = all(
    'SELECT hash FROM log_leaves WHERE log = ? AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index',
    bytes,
  );
  const nodesOf = all(
    `SELECT hash FROM log_nodes WHERE log = ? AND level = ? AND node_index >= ? AND node_index < ? ORDER BY node_index`,
    bytes,
  );
  const addNode = run('INSERT INTO log_nodes (log, level, node_index, hash) VALUES (?, ?, ?, ?)');
  const highestNode = one('SELECT max(node_index) FROM log_nodes WHERE log = ? AND level = ?', orNull(integer));
  const addHead = run(
    `INSERT INTO log_heads (log, number, origin, size, signed_at, checkpoint)
     SELECT ?1, coalesce((SELECT max(number) FROM log_heads WHERE log = ?1), 0) + 1, ?2, ?3, ?4, ?5`,
  );
  const heads = `SELECT ${columnsOf(HEAD)} FROM log_heads WHERE log = ?`;
  const newestCosignedAt = one(
    'SELECT signed_at FROM log_heads WHERE log = ? AND cosigned IS NOT NULL ORDER BY size DESC, number DESC LIMIT 1',
    integer,
  );
  const firstHeadAt = one('SELECT signed_at FROM log_heads WHERE log = ? ORDER BY number LIMIT 1', integer);
  const addCosignature = insert('log_cosignatures', { log: text, ...COSIGNATURE }, 'ON CONFLICT DO NOTHING');
  const witness = one(
    `SELECT ${columnsOf(WITNESS)} FROM log_witnesses WHERE log = ? AND origin = ? AND vkey = ?`,
    WITNESS,
  );
  const setWitness = upsert('log_witnesses', ['log', 'origin', 'vkey'], WITNESS_STATE);
  const checks: (() => void)[] = [];
  const fill = (log: LogService, entry: string): void => {
    for (const check of checks) check();
    const receipt = receiptHashIn(entry);
    add(log, leafHash(entry), receipt === null ? entry : '', receipt);
  };
  const isFilled = (log: LogService): boolean => filled(log) ?? false;

  return {
    fill,
    isFilled,
    append(log, entry) {
      if (isFilled(log)) fill(log, entry);
    },
    setFilled: (log, value) => void setFilled(log, value ? 1 : 0),
    size: (log) => (highest(log) ?? -1) + 1,
    indexOf: one('SELECT leaf_index FROM log_leaves WHERE log = ? AND hash = ?', integer),
    entries: all(
      'SELECT entry, receipt FROM log_leaves WHERE log = ? AND leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index',
      { entry: text, receipt: orNull(bytes) },
      ({ entry, receipt }) => (receipt === null ? entry : receiptHashText(`sha256:${toHex(receipt)}`)),
    ),
    leafHashes: hashesOf,
    addNodes(log, level, first, hashes) {
      for (const [at, hash] of hashes.entries()) addNode(log, level, first + at, hash);
    },
    nodeCount: (log, level) => (highestNode(log, level) ?? -1) + 1,
    tiles: (log) => (tile) => {
      const start = tile.index * TILE_WIDTH;
      const end = start + tile.width;
      return Buffer.concat(tile.level === 0 ? hashesOf(log, start, end) : nodesOf(log, tile.level, start, end));
    },
    addHead: (log, { origin, size, signed_at, checkpoint }) => void addHead(log, origin, size, signed_at, checkpoint),
    heads: each(`${heads} ORDER BY number`, HEAD),
    headAt: one(`${heads} AND number = ?`, HEAD),
    lastHead: one(`${heads} ORDER BY number DESC LIMIT 1`, HEAD),
    newestHead: one(`${heads} AND origin = ? ORDER BY size DESC LIMIT 1`, HEAD),
    newestCosigned: one(`${heads} AND origin = ? AND cosigned IS NOT NULL ORDER BY size DESC LIMIT 1`, HEAD),
    firstCosignedOver: one(`${heads} AND cosigned IS NOT NULL AND size > ? ORDER BY size, number LIMIT 1`, HEAD),
    cosignedSize: number('SELECT max(size) FROM log_heads WHERE log = ? AND cosigned IS NOT NULL'),
    cosignedAt: (log) => newestCosignedAt(log) ?? firstHeadAt(log),
    setCosigned: changed(
      `UPDATE log_heads SET cosigned = ?4 WHERE log = ?1 AND origin = ?2 AND size = ?3 AND cosigned IS NULL
         AND NOT EXISTS (SELECT 1 FROM log_heads later WHERE later.log = ?1 AND later.cosigned IS NOT NULL
           AND later.size >= ?3 AND later.number > log_heads.number)`,
    ),
    addCosignature: (log, cosignature) => void addCosignature({ log, ...cosignature }),
    cosignatures: all(
      `SELECT ${columnsOf(COSIGNATURE)} FROM log_cosignatures WHERE log = ? AND origin = ? AND size = ? ORDER BY vkey`,
      COSIGNATURE,
    ),
    witness: (log, origin, vkey) => witness(log, origin, vkey) ?? newWitness(vkey),
    setWitness: (log, origin, state) => void setWitness({ log, origin, ...state }),
    guard(given) {
      checks.push(given);
    },
    fence: one('SELECT fence FROM log_state WHERE log = ?', orNull(text)),
    setFence: run('UPDATE log_state SET fence = ?2 WHERE log = ?1'),
  };
}

/** The hash in a log entry that consists of a receipt hash. Such entries are stored as 32 bytes. */
function receiptHashIn(entry: string): Uint8Array | null {
  const hex = /^[^\n]*\nsha256:([0-9a-f]{64})\n$/.exec(entry)?.[1];
  return hex !== undefined && receiptHashText(`sha256:${hex}`) === entry ? fromHex(hex) : null;
}

function newWitness(vkey: string): WitnessState {
  return {
    vkey,
    seen_size: 0,
    cosigned_size: null,
    cosigned_at: null,
    fault: null,
    fault_at: null,
    failures: 0,
    next_at: 0,
  };
}
