import type { Suppression, SuppressionTable } from '../readers/suppression.ts';
import type { Db } from './open.ts';

/** Who is not to be written to. */
export function suppressionTable(db: Db): SuppressionTable {
  const of = db.prepare(
    'SELECT paper, reader, email, reason, at, mailed_at FROM suppressions WHERE paper = ? AND reader = ?',
  );
  const put = db.prepare(
    `INSERT INTO suppressions (paper, reader, email, reason, at, mailed_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET email = excluded.email, reason = excluded.reason, at = excluded.at,
       mailed_at = excluded.mailed_at`,
  );
  const lift = db.prepare('DELETE FROM suppressions WHERE paper = ? AND reader = ?');
  return {
    of(paper, reader) {
      const [row] = of.all(paper, reader) as Suppression[];
      return row ?? null;
    },
    put({ paper, reader, email, reason, at, mailed_at }) {
      put.run(paper, reader, email, reason, at, mailed_at);
    },
    lift(paper, reader) {
      lift.run(paper, reader);
    },
  };
}
