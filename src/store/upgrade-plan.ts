import { existsSync, statSync } from 'node:fs';
import Database from 'libsql';
import { NORMALIZER_VERSION } from '../desk/search.ts';
import { messageOf } from '../shared/fault.ts';
import { IN_MEMORY, migrationFiles, readMigration, requireOurs } from '../shared/sql/open.ts';
import { openReadOnly } from '../shared/sql/read-only.ts';
import { type Db, integer, json, sql, text } from '../shared/sql/sql.ts';

/** A migration that was not applied to a database yet. */
export interface PendingMigration {
  name: string;
  /** The first sentence of the migration's comment. */
  what: string;
  /**
   * The number of rows that it reads in order to copy, change or index them. Its other statements take the same time in
   * any database.
   */
  rows: { table: string; rows: number }[];
  /** The size of those tables and their indexes, in bytes. */
  bytes: number;
}

/** Data that a start computes from the rows of an older database. */
export interface Fill {
  name:
    | 'search index'
    | 'word counts'
    | 'log of the desk'
    | 'log of the records'
    | 'mailboxes of accounts'
    | 'index of values';
  rows: number;
  /** By how much it enlarges the database, in bytes. */
  bytes: number;
}

/** A public paper, and the version of its last press. */
export interface PressedPaper {
  slug: string;
  /** Its own address, if it has one. */
  url: string | undefined;
  pieces: number;
  files: number;
  /** See `pressPlan`; empty if no press of the paper was completed. */
  stamp: string;
  /** How many changes wait for the next press. */
  stale: number;
}

/** What this program will change in a database when it opens it, and the current contents. */
export interface UpgradePlan {
  /** The size of the database and its log of writes, in bytes. */
  bytes: number;
  applied: number;
  pending: PendingMigration[];
  fills: Fill[];
  papers: PressedPaper[];
  /** Where the desk was last served; null if no server recorded it. */
  origin: string | null;
}

/** The bytes needed per leaf and per value besides the texts, measured on this program's own papers. */
const LEAF_BYTES = 200;
const VALUE_BYTES = 150;
/** The size of the search index as a multiple of the indexed text. */
const INDEX_SHARE = 2;

/**
 * Determines what this program will change in a database, without changing anything. Null when there is no database
 * yet. Throws `unavailable` when a newer program made it.
 */
export function readUpgradePlan(file: string): UpgradePlan | null {
  const applied = requireOurs(file);
  if (applied.length === 0) return null;
  const done = new Set(applied);
  const pending = migrationFiles().filter((name) => !done.has(name));
  const db = openReadOnly(file);
  const old = tolerantReader(db);
  const after = stateAfter(old, migrationFiles(), done);
  const wal = `${file}-wal`;
  return {
    bytes: statSync(file).size + (existsSync(wal) ? statSync(wal).size : 0),
    applied: done.size,
    pending: pending.map((name) => describe(old, name)),
    fills: fillsOf(old, after).filter(({ rows }) => rows > 0),
    papers: papersOf(old),
    origin: old.texts("SELECT origin FROM served WHERE service = 'desk'")[0] ?? null,
  };
}

/** How many migrations a database lacks; 0 when there is no database. Throws like `readUpgradePlan`. */
export function countPending(file: string): number {
  const applied = requireOurs(file);
  return applied.length === 0 ? 0 : migrationFiles().length - applied.length;
}

const quoted = (value: string): string => value.replaceAll("'", "''");

type TolerantReader = ReturnType<typeof tolerantReader>;

/** Reads a database that may lack tables or columns: missing ones count as no rows, 0 or no texts. */
function tolerantReader(db: Db) {
  const { number, all } = sql(db);
  const orNothing = <T>(read: () => T, nothing: T): T => {
    try {
      return read();
    } catch (error) {
      if (/no such (?:table|column)/.test(messageOf(error))) return nothing;
      throw error;
    }
  };
  const columns = all('SELECT name FROM pragma_table_info(?)', text);
  return {
    db,
    has: (table: string, column?: string) => columns(table).some((name) => column === undefined || name === column),
    number: (query: string): number => orNothing(() => number(query)(), 0),
    texts: (query: string): string[] => orNothing(() => all(query, text)(), []),
  };
}

/** The statements of a migration, without comments and triggers, which run later or never. */
function statementsOf(source: string): string[] {
  const statements: string[] = [];
  let isInTrigger = false;
  for (const part of source.replace(/--[^\n]*/g, '').split(';')) {
    const statement = part.replace(/\s+/g, ' ').trim();
    if (statement.startsWith('CREATE TRIGGER ')) isInTrigger = true;
    if (!isInTrigger) statements.push(statement);
    if (statement === 'END') isInTrigger = false;
  }
  return statements;
}

/**
 * The table whose rows a statement reads; null if it only changes the schema, which takes the same time for any table.
 */
function tableRead(statement: string): string | null {
  const found = statement.startsWith('INSERT INTO ')
    ? /\bFROM (\w+)/.exec(statement)
    : /^(?:CREATE (?:UNIQUE )?INDEX \w+ ON|UPDATE|DELETE FROM) (\w+)/.exec(statement);
  return found?.[1] ?? null;
}

function describe(old: TolerantReader, name: string): PendingMigration {
  const source = readMigration(name);
  const statements = statementsOf(source);
  const renames = statements.map((statement) => /^ALTER TABLE (\w+) RENAME TO (\w+)$/.exec(statement));
  const former = new Map(renames.map((rename) => [rename?.[2], rename?.[1]]));
  const read = statements.map(tableRead).filter((table) => table !== null);
  const tables = [...new Set(read.map((table) => former.get(table) ?? table))].filter((table) => old.has(table));
  const rows = tables.map((table) => ({ table, rows: old.number(`SELECT count(*) FROM "${table}"`) }));
  return {
    name: name.replace(/\.sql$/, ''),
    what: firstSentence(source),
    rows: rows.filter((one) => one.rows > 0),
    bytes: tables.reduce((sum, table) => sum + bytesOf(old, table), 0),
  };
}

/** The first sentence of the comment at the top of a migration. */
function firstSentence(source: string): string {
  const comment = /^(?:--[^\n]*\n)+/.exec(source)?.[0] ?? '';
  const whole = comment
    .replace(/^--\s?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /^.*?[.:;](?=\s|$)/.exec(whole)?.[0].replace(/[.:;]$/, '') ?? whole;
}

/** The size of a table with its indexes, in bytes. */
function bytesOf(old: TolerantReader, table: string): number {
  return old.number(
    `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1
       AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = '${quoted(table)}')`,
  );
}

/** Tables that migrations only check for any row. */
const READ_BY_MIGRATIONS = ['entries', 'sightings'];

/**
 * The contents of the state tables after all migrations. Runs the pending ones in memory, on the database's schema and
 * its state rows.
 */
function stateAfter(old: TolerantReader, names: readonly string[], done: ReadonlySet<string>) {
  const db = new Database(IN_MEMORY);
  try {
    // Only some tables get rows.
    db.exec('PRAGMA foreign_keys = OFF');
    for (const name of names.filter((one) => done.has(one))) db.exec(readMigration(name));
    for (const table of ['search_state', 'log_state', 'values_before', ...READ_BY_MIGRATIONS]) {
      if (!old.has(table)) continue;
      db.exec(`DELETE FROM "${table}"`);
      copyRows(old.db, db, table);
    }
    for (const name of names.filter((one) => !done.has(one))) db.exec(readMigration(name));
    const { one, number } = sql(db);
    const log = one('SELECT filled FROM log_state WHERE log = ?', integer);
    return {
      folding: number('SELECT folding FROM search_state')(),
      filled: number('SELECT filled FROM search_state')(),
      logs: { desk: log('desk') ?? 1, records: log('records') ?? 1 },
      valuesBefore: number('SELECT count(*) FROM values_before')(),
    };
  } finally {
    db.close();
  }
}

/** Copies the first rows of a table. State tables have no more. */
function copyRows(from: Db, to: Db, table: string): void {
  const rows = from.prepare(`SELECT * FROM "${table}" LIMIT 4`).raw().all() as unknown[][];
  for (const row of rows) to.prepare(`INSERT INTO "${table}" VALUES (${row.map(() => '?').join(', ')})`).run(row);
}

function fillsOf(old: TolerantReader, after: ReturnType<typeof stateAfter>): Fill[] {
  const onAir = old.number("SELECT count(*) FROM pieces WHERE state = 'on_air'");
  const isRebuilt = after.folding !== NORMALIZER_VERSION;
  const toIndex = isRebuilt ? onAir : after.filled === 1 ? 0 : onAir - old.number('SELECT count(*) FROM searched');
  const words = old.number(
    "SELECT coalesce(sum(length(g.prose)), 0) FROM pieces p JOIN generations g ON g.n = p.generation WHERE p.state = 'on_air'",
  );
  const uncounted = old.number(
    `SELECT count(*) FROM pieces${old.has('pieces', 'counted') ? ' WHERE counted IS NOT generation' : ''}`,
  );
  const keys = old.number('SELECT (SELECT count(*) FROM door_keys) + (SELECT count(*) FROM retirements)');
  const logged = (log: string) => old.number(`SELECT count(*) FROM log_leaves WHERE log = '${log}'`);
  const generations = old.number('SELECT count(*) FROM generations');
  const receipts = old.number('SELECT coalesce(sum(length(receipt)), 0) FROM generations');
  const observations = old.number('SELECT count(*) FROM observations');
  const deskLeaves = after.logs.desk === 1 ? 0 : keys + generations - logged('desk');
  const recordsLeaves = after.logs.records === 1 ? 0 : keys + observations - logged('records');
  const mailboxes = old.has('accounts', 'mailbox')
    ? old.number('SELECT count(*) FROM accounts WHERE mailbox IS NULL')
    : old.number('SELECT count(*) FROM accounts');
  const values = after.valuesBefore === 0 ? 0 : old.number('SELECT count(*) FROM sightings');
  return [
    { name: 'search index', rows: toIndex, bytes: onAir === 0 ? 0 : (INDEX_SHARE * words * toIndex) / onAir },
    { name: 'word counts', rows: uncounted, bytes: 0 },
    { name: 'log of the desk', rows: deskLeaves, bytes: deskLeaves * LEAF_BYTES + (deskLeaves > 0 ? receipts : 0) },
    { name: 'log of the records', rows: recordsLeaves, bytes: recordsLeaves * LEAF_BYTES },
    { name: 'mailboxes of accounts', rows: mailboxes, bytes: 0 },
    { name: 'index of values', rows: values, bytes: values * VALUE_BYTES },
  ];
}

const PAPER = json<{ url?: string; paper_public?: boolean }>();

function papersOf(old: TolerantReader): PressedPaper[] {
  const { one, number, all } = sql(old.db);
  const removed = old.has('papers', 'removed_at') ? 'WHERE removed_at IS NULL' : '';
  const papers = all(`SELECT slug, body FROM papers ${removed} ORDER BY slug`, { slug: text, body: PAPER })();
  const press = one('SELECT stamp FROM presses WHERE paper = ?', text);
  const pieces = number("SELECT count(*) FROM pieces WHERE paper = ? AND state IN ('on_air', 'withdrawn')");
  const files = number('SELECT count(*) FROM files WHERE paper = ?');
  const stale = number('SELECT count(*) FROM press_due WHERE paper = ?');
  return papers
    .filter(({ body }) => body.paper_public !== false)
    .map(({ slug, body }) => ({
      slug,
      url: body.url,
      pieces: pieces(slug),
      files: files(slug),
      stamp: press(slug) ?? '',
      stale: stale(slug),
    }));
}
