import type { HostTable, PaperHost } from '../desk/host.ts';
import { hostKey } from '../desk/host.ts';
import { integer, oneOf, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** The hosts at which papers are served. */
export function hostTable(db: Db): HostTable {
  const { run, all } = sql(db);
  const insert = run('INSERT INTO paper_hosts (paper, host, how, at) VALUES (?, ?, ?, ?)');
  const remove = run('DELETE FROM paper_hosts WHERE n = ?');
  const HOST = { n: integer, paper: text, how: oneOf('given', 'file', 'txt'), at: integer, host: text };
  // Migration 060 stored hosts as entered.
  const hostOf = (row: PaperHost & { n: number }) => ({ ...row, host: normal(row.host) });
  const rows = all('SELECT n, paper, how, at, host FROM paper_hosts ORDER BY n', HOST, hostOf);
  const of = all('SELECT n, paper, how, at, host FROM paper_hosts WHERE paper = ? ORDER BY n', HOST, hostOf);

  return {
    all: rows,
    of,
    holds: (paper, host) => of(paper).some((row) => row.host === host),
    add(paper, host, how, at) {
      if (of(paper).some((row) => row.host === host)) return false;
      insert(paper, host, how, at);
      return true;
    },
    remove(paper, host) {
      const found = of(paper).filter((row) => row.host === host);
      for (const { n } of found) remove(n);
      return found.length > 0;
    },
  };
}

function normal(host: string): string {
  const url = URL.parse(`http://${host}`);
  return url === null ? host : hostKey(url);
}
