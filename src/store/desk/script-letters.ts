import { scriptLetters } from '../../shared/script-letters.ts';
import { type Db, inBatches, integer, sql, text } from '../../shared/sql/sql.ts';

/** How many rows are read at once. */
const BATCH = 500;

/** The letters of papers' texts that no typeface of papers has. */
export function scriptLetterTable(db: Db) {
  const { run, one, number, all } = sql(db);
  const scanned = one('SELECT entry FROM script_scans WHERE paper = ?', integer);
  const setScanned = run(
    'INSERT INTO script_scans (paper, entry) VALUES (?, ?) ON CONFLICT DO UPDATE SET entry = excluded.entry',
  );
  const newest = number('SELECT max(n) FROM entries');
  const row = { n: integer, language: text, words: text };
  const generations = all(
    `SELECT n, language, concat_ws(' ', headline, dek, prose, cited_facts, category, byline_name, byline_title, image,
       credit, authors, written_by, tags, correction) AS words
     FROM generations WHERE paper = ? AND n > ? ORDER BY n LIMIT ${BATCH}`,
    row,
  );
  const records = all(
    `SELECT n, ?3 AS language, body AS words FROM records
     WHERE paper = ?1 AND n > ?2 AND body IS NOT NULL ORDER BY n LIMIT ${BATCH}`,
    row,
  );
  const of = all('SELECT language, letters FROM script_letters WHERE paper = ? ORDER BY language', {
    language: text,
    letters: text,
  });
  const put = run(
    `INSERT INTO script_letters (paper, language, letters) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET letters = excluded.letters`,
  );
  return {
    of,
    isScanned: (paper: string): boolean => newest() === (scanned(paper) ?? 0),
    /**
     * Looks through what the ledger has of a paper since the last time; `language` is that of its records. Returns
     * whether letters were found that no text had before. Call it in a transaction.
     */
    scan(paper: string, language: string): boolean {
      const from = scanned(paper) ?? 0;
      const until = newest();
      if (until === from) return false;
      const known = new Map(of(paper).map((one) => [one.language, new Set(one.letters)]));
      const grown = new Set<string>();
      const texts = [
        inBatches(
          (after) => generations(paper, after),
          [from],
          ({ n }) => [n],
        ),
        inBatches(
          (after) => records(paper, after, language),
          [from],
          ({ n }) => [n],
        ),
      ];
      for (const rows of texts)
        for (const { language: tag, words } of rows) {
          const found = scriptLetters(words);
          if (found.size === 0) continue;
          const [key = ''] = tag.toLowerCase().split('-');
          const letters = known.get(key) ?? new Set();
          known.set(key, letters);
          const before = letters.size;
          for (const letter of found) letters.add(letter);
          if (letters.size > before) grown.add(key);
        }
      for (const key of grown) put(paper, key, [...(known.get(key) ?? [])].sort().join(''));
      setScanned(paper, until);
      return grown.size > 0;
    },
  };
}
