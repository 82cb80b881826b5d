import type { HostProof, HostTable, PaperHost } from '../desk/host.ts';
import { hostKey } from '../desk/host.ts';
import type { Db } from './open.ts';

/** The hosts at which papers are served. */
export function hostTable(db: Db): HostTable & {
  /** Differs after every change: one cheap look tells that nothing changed. */
  mark(): string;
} {
  const all = db.prepare('SELECT n, paper, host, how, at FROM paper_hosts ORDER BY n');
  const mark = db.prepare('SELECT count(*) AS n, coalesce(max(n), 0) AS last FROM paper_hosts');
  const insert = db.prepare('INSERT INTO paper_hosts (paper, host, how, at) VALUES (?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM paper_hosts WHERE n = ?');

  const rows = (): (PaperHost & { n: number })[] =>
    (all.all() as (PaperHost & { n: number })[]).map(({ n, paper, host, how, at }) => ({
      ...{ n, paper, how, at },
      // Those that migration 060 wrote are as somebody typed them.
      host: normal(host),
    }));
  const of = (paper: string) => rows().filter((row) => row.paper === paper);

  return {
    all: rows,
    of,
    holds: (paper, host) => of(paper).some((row) => row.host === host),
    mark() {
      const { n, last } = mark.get() as { n: number; last: number };
      return `${n} ${last}`;
    },
    add(paper: string, host: string, how: HostProof, at: number) {
      if (of(paper).some((row) => row.host === host)) return false;
      insert.run(paper, host, how, at);
      return true;
    },
    remove(paper: string, host: string) {
      const found = of(paper).filter((row) => row.host === host);
      for (const { n } of found) remove.run(n);
      return found.length > 0;
    },
  };
}

function normal(host: string): string {
  const url = URL.parse(`http://${host}`);
  return url === null ? host : hostKey(url);
}
