import type { TermsTable } from '../desk/terms.ts';
import type { Db } from './open.ts';

/** Signatures under the agreement for agents: the first of each paper, version and text, for good. */
export function termsTable(db: Db): TermsTable {
  const insert = db.prepare(
    `INSERT INTO terms (paper, version, digest, signed_by, signed_at, key) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const current = db.prepare(
    'SELECT signed_by, signed_at, key FROM terms WHERE paper = ? AND version = ? AND digest = ?',
  );
  return {
    insert({ paper, version, digest, signed_by, signed_at, key }) {
      insert.run(paper, version, digest, signed_by, signed_at, key);
    },
    current(paper, version, digest) {
      const row = current.get(paper, version, digest) as
        | { signed_by: string; signed_at: number; key: string }
        | undefined;
      // Named one by one: libsql puts a member of its own into what `get` returns.
      return row === undefined
        ? null
        : { paper, version, digest, signed_by: row.signed_by, signed_at: row.signed_at, key: row.key };
    },
  };
}
