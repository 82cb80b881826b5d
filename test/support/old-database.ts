import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import Database from 'libsql';

// Databases that older versions left. Their folders say how they were made, or test/fixtures/make-epoch.mjs does.

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** The folders of databases, oldest first. */
export const OLD_VERSIONS: readonly string[] = readdirSync(FIXTURES)
  .filter((name) => existsSync(join(FIXTURES, name, 'broadsheet.db.gz')))
  .sort();

/** The folder of a version's fixture. */
export function fixtureFolder(version: string): string {
  return join(FIXTURES, version);
}

/** Puts the database and the keys of a version under `folder/var`. Returns the database's file. */
export function unpackDatabase(version: string, folder: string): string {
  const from = fixtureFolder(version);
  const data = join(folder, 'var');
  mkdirSync(data, { recursive: true });
  const file = join(data, 'broadsheet.db');
  writeFileSync(file, gunzipSync(readFileSync(join(from, 'broadsheet.db.gz'))));
  for (const name of readdirSync(from).filter((one) => one.endsWith('.key')))
    cpSync(join(from, name), join(data, name));
  return file;
}

/** Adds a migration that no program has yet, and leaves no file open. */
export function makeNewer(file: string): void {
  const db = new Database(file);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec("INSERT INTO migrations VALUES ('999-of-tomorrow.sql')");
  db.exec('CREATE TABLE of_tomorrow (a TEXT) STRICT');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

export type Row = Record<string, unknown>;

/** Every row of the tables whose names `isKept`, by table; blobs as base64. */
export function rowsOf(file: string, isKept: (table: string) => boolean): Map<string, Row[]> {
  const db = new Database(file);
  try {
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all() as {
      name: string;
    }[];
    const kept = names.map(({ name }) => name).filter(isKept);
    return new Map(kept.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all() as Row[]]));
  } finally {
    db.close();
  }
}
