import { STATES } from '../../desk/archive.ts';
import { PAGE_KINDS, PAGES_MAX, type PageCountTable } from '../../desk/page-counts.ts';
import { type Db, integer, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

const kind = oneOf(...PAGE_KINDS);

/** Counts of page views. The table contains nothing about readers. */
export function pageCountTable(db: Db, transact: Transact): PageCountTable {
  const { run, changed, all, number } = sql(db);
  const more = changed(
    'UPDATE page_counts SET reads = reads + ?5 WHERE paper = ?1 AND day = ?2 AND kind = ?3 AND page = ?4',
  );
  const insert = run('INSERT INTO page_counts (paper, day, kind, page, reads) VALUES (?, ?, ?, ?, ?)');
  const pagesOf = number('SELECT count(*) FROM page_counts WHERE paper = ? AND day = ?');
  const add = (paper: string, day: string, of: string, page: string, reads: number): void => {
    if (more(paper, day, of, page, reads)) return;
    if (page !== '' && pagesOf(paper, day) >= PAGES_MAX) add(paper, day, of, '', reads);
    else insert(paper, day, of, page, reads);
  };
  const WHERE = 'FROM page_counts WHERE paper = ? AND day >= ?';
  return {
    add: (rows) =>
      transact(() => {
        for (const { paper, day, kind: of, page, reads } of rows) add(paper, day, of, page, reads);
      }),
    days: all(`SELECT day, sum(reads) AS reads ${WHERE} GROUP BY day ORDER BY day`, { day: text, reads: integer }),
    kinds: all(`SELECT kind, sum(reads) AS reads ${WHERE} GROUP BY kind ORDER BY reads DESC, kind`, {
      kind,
      reads: integer,
    }),
    pages: all(
      `SELECT c.kind, c.page, c.reads, p.state, iif(p.headline_withheld, NULL, p.slug) AS slug,
         iif(p.headline_withheld, NULL, g.headline) AS title
       FROM (SELECT kind, page, sum(reads) AS reads ${WHERE} GROUP BY kind, page ORDER BY reads DESC, kind, page LIMIT ?) c
         LEFT JOIN pieces p ON c.kind = 'piece' AND p.id = c.page LEFT JOIN generations g ON g.n = p.generation
       ORDER BY c.reads DESC, c.kind, c.page`,
      {
        kind,
        page: text,
        reads: integer,
        slug: orNull(text),
        title: orNull(text),
        state: orNull(oneOf(...STATES)),
      },
    ),
    forget: run('DELETE FROM page_counts WHERE paper IN (SELECT slug FROM papers) AND day < ?'),
  };
}
