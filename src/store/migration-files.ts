import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('./migrations/', import.meta.url);

let names: string[] | undefined;

/** The names of this program's migrations, in the order in which they are run. */
export function migrationFiles(): readonly string[] {
  names ??= readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names;
}

/** The SQL of a migration. */
export function readMigration(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}
