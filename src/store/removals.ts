import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** What a removed paper leaves outside of the ledger. */
export interface RemovalTable {
  /** Deletes every address of a reader, every mail and every webhook of a paper. Returns how many readers it had. */
  eraseReaders(paper: string): number;
  /** Revokes every key of a paper. Returns how many were in force. */
  revokeKeys(paper: string, at: number, by: string): number;
}

export function removalTable(db: Db): RemovalTable {
  const { run } = sql(db);
  const readers = run('DELETE FROM subscribers WHERE paper = ?');
  // Mails, deliveries and their attempts go with their subscriber and webhook.
  const rest = ['webhooks', 'mails', 'reader_tokens', 'notices', 'digests'].map((table) =>
    run(`DELETE FROM ${table} WHERE paper = ?`),
  );
  // The hash stays: readers who want no mail get none if the paper comes back.
  const suppressed = run('UPDATE suppressions SET email = NULL WHERE paper = ?');
  const revoke = run('UPDATE keys SET revoked_at = ?, revoked_by = ? WHERE paper = ? AND revoked_at IS NULL');
  return {
    eraseReaders(paper) {
      const count = readers(paper);
      for (const rows of rest) rows(paper);
      suppressed(paper);
      return count;
    },
    revokeKeys: (paper, at, by) => revoke(at, by, paper),
  };
}
