import type { Db } from './open.ts';

/** What the press noted of what it read, for the auditor alone. */
export function pressRecords(db: Db) {
  const tags = db.prepare('SELECT tags FROM sheets WHERE paper = ? AND sheet = ?');
  // `reads` is `sheets.tags` turned round: a change finds what it touches by the one, the press keeps it by the other.
  const LISTED = `SELECT sheet, value AS tag FROM sheets,
    json_each('[' || replace(json_quote(tags), '\\n', '","') || ']') WHERE paper = ?1 AND tags <> ''`;
  const unread = db.prepare(
    `SELECT sheet, tag FROM (${LISTED}) l
     WHERE NOT EXISTS (SELECT 1 FROM reads r WHERE r.paper = ?1 AND r.tag = l.tag AND r.sheet = l.sheet) LIMIT 100`,
  );
  const counts = db.prepare(
    `SELECT (SELECT count(*) FROM reads WHERE paper = ?1) AS kept, (SELECT count(*) FROM (${LISTED})) AS listed`,
  );
  return {
    /** The tags that a sheet read when it was printed, one a line; null when none is noted. */
    tagsRead: (paper: string, sheet: string): string | null =>
      (tags.get(paper, sheet) as { tags: string } | undefined)?.tags ?? null,
    /** What the two tables of what was read say otherwise of each other. */
    readsFaults(paper: string): string[] {
      const cure = 'run `npm run -s broadsheet -- press --full`';
      const missing = unread.all(paper) as { sheet: string; tag: string }[];
      const faults = missing.map(
        ({ sheet, tag }) =>
          `${paper}: the manifest forgot that ${sheet} reads ${tag}, so a change of it would pass it by; ${cure}`,
      );
      const { kept, listed } = counts.get(paper) as { kept: number; listed: number };
      if (kept > listed)
        faults.push(`${paper}: the manifest has ${kept - listed} more reads than its sheets made; ${cure}`);
      return faults;
    },
  };
}
