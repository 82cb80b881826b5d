import { type Db, integer, sql, text } from './sql.ts';

/** What the press recorded about the tags that its outputs read, for the audit. */
export interface PressRecords {
  /** The tags that an output read when it was printed, one per line; null when none are recorded. */
  tagsRead(paper: string, sheet: string): string | null;
  /** Contradictions between the two tables of these tags. */
  readsFaults(paper: string): string[];
}

export function pressRecords(db: Db): PressRecords {
  const { one, all } = sql(db);
  // `reads` is the inverse of `sheets.tags`: a change finds the affected outputs in `reads`, and the press updates
  // `reads` from `sheets.tags`.
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
          `${paper}: the manifest does not record that ${sheet} reads ${tag}, so a change to it would not press the file again; ${cure}`,
      );
      const { kept, listed } = counts(paper) ?? { kept: 0, listed: 0 };
      if (kept > listed)
        faults.push(`${paper}: the manifest has ${kept - listed} more reads than its sheets made; ${cure}`);
      return faults;
    },
  };
}
