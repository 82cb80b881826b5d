import Database from 'libsql';

/** The pages of a database, those in its log of writes too, in bytes: files also have room that is not used yet. */
export function databaseSize(file: string): number {
  const db = new Database(file, { readonly: true });
  const number = (name: string): number => Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0] as number;
  const size = number('page_count') * number('page_size');
  db.close();
  return size;
}
