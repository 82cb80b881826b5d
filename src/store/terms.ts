import type { Signature, TermsTable } from '../desk/terms.ts';
import type { Db } from './open.ts';

/** Signatures under the agreement for agents: the first of each paper, version and text, for good. */
export function termsTable(db: Db): TermsTable {
  const insert = db.prepare(
    `INSERT INTO terms (paper, version, digest, signed_by, signed_at, key) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const current = db.prepare(
    'SELECT paper, version, digest, signed_by, signed_at, key FROM terms WHERE paper = ? AND version = ? AND digest = ?',
  );
  return {
    insert({ paper, version, digest, signed_by, signed_at, key }) {
      insert.run(paper, version, digest, signed_by, signed_at, key);
    },
    current: (paper, version, digest) => (current.get(paper, version, digest) as Signature | undefined) ?? null,
  };
}
