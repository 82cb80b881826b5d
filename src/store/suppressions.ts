import type { SuppressionTable } from '../readers/suppression.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** Addresses that must not receive mail. */
export function suppressionTable(db: Db): SuppressionTable {
  const { run, one } = sql(db);
  const put = run(
    `INSERT INTO suppressions (paper, reader, email, reason, at, mailed_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET email = excluded.email, reason = excluded.reason, at = excluded.at,
       mailed_at = excluded.mailed_at`,
  );
  return {
    of: one('SELECT paper, reader, email, reason, at, mailed_at FROM suppressions WHERE paper = ? AND reader = ?', {
      paper: text,
      reader: text,
      email: orNull(text),
      reason: oneOf('unsubscribed', 'complained', 'bounced', 'by_hand'),
      at: integer,
      mailed_at: orNull(integer),
    }),
    put({ paper, reader, email, reason, at, mailed_at }) {
      put(paper, reader, email, reason, at, mailed_at);
    },
    lift: run('DELETE FROM suppressions WHERE paper = ? AND reader = ?'),
  };
}
