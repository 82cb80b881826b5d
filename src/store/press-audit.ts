import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** What the press recorded of its reading, for the auditor. */
export interface PressRecords {
  /** The tags that a sheet read when it was printed, one a line; null when none are recorded. */
  tagsRead(paper: string, sheet: string): string | null;
  /** Where the two tables of what was read contradict each other. */
  readsFaults(paper: string): string[];
}

export function pressRecords(db: Db): PressRecords {
  const { one, all } = sql(db);
  // `reads` is `sheets.tags` turned round: a change finds what it touches by the one, the press keeps it by the other.
  const LISTED = `SELECT sheet, value AS tag FROM sheets,
    json_each('[' || replace(json_quote(tags), '\\n', '","') || ']') WHERE paper = ?1 AND tags <> ''`;
  const unread = all(
    `SELECT sheet, tag FROM (${LISTED}) l
     WHERE NOT EXISTS (SELECT 1 FROM reads r WHERE r.paper = ?1 AND r.tag = l.tag AND r.sheet = l.sheet) LIMIT 100`,
    { sheet: text, tag: text },
  );
  const counts = one(
    `SELECT (SELECT count(*) FROM reads WHERE paper = ?1) AS kept, (SELECT count(*) FROM (${LISTED})) AS listed`,
    { kept: integer, listed: integer },
  );
  return {
    tagsRead: one('SELECT tags FROM sheets WHERE paper = ? AND sheet = ?', text),
    readsFaults(paper) {
      const cure = 'run `npm run -s broadsheet -- press --full`';
      const faults = unread(paper).map(
        ({ sheet, tag }) =>
          `${paper}: the manifest forgot that ${sheet} reads ${tag}, so a change of it would pass it by; ${cure}`,
      );
      const { kept, listed } = counts(paper) ?? { kept: 0, listed: 0 };
      if (kept > listed)
        faults.push(`${paper}: the manifest has ${kept - listed} more reads than its sheets made; ${cure}`);
      return faults;
    },
  };
}
