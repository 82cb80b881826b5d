import type { TermsTable } from '../desk/terms.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const SIGNATURE = {
  paper: text,
  version: text,
  digest: text,
  signed_by: text,
  signed_at: integer,
  key: text,
};
const COLUMNS = Object.keys(SIGNATURE).join(', ');

/** Signatures under the agreement for agents: the first one for each paper, version and text is kept permanently. */
export function termsTable(db: Db): TermsTable {
  const { run, one } = sql(db);
  const insert = run(`INSERT INTO terms (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  return {
    insert({ paper, version, digest, signed_by, signed_at, key }) {
      insert(paper, version, digest, signed_by, signed_at, key);
    },
    current: one(`SELECT ${COLUMNS} FROM terms WHERE paper = ? AND version = ? AND digest = ?`, SIGNATURE),
  };
}
