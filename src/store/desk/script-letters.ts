import { scriptLetters } from '../../shared/script-letters.ts';
import { type Db, integer, sql, text } from '../../shared/sql/sql.ts';

/** How many rows of a table are read at once, to keep the transaction short. */
const BATCH = 25;

/** The letters found since a scan began, by language. */
type Letters = Map<string, Set<string>>;

/** The letters in a paper's texts that no typeface of papers contains. */
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
  /** Stores letters; returns whether any of them is new. */
  const add = (paper: string, found: Letters): boolean => {
    const known = new Map(of(paper).map((one) => [one.language, one.letters]));
    let isNew = false;
    for (const [language, letters] of found) {
      const all = [...new Set([...(known.get(language) ?? ''), ...letters])].sort().join('');
      if (all === known.get(language)) continue;
      put(paper, language, all);
      isNew = true;
    }
    return isNew;
  };
  return {
    of,
    /**
     * Scans the texts added to a paper's ledger since the last scan; `language` returns the language of its records.
     * Progress is only stored by `save`, so that no writer waits while the texts of a large paper are read.
     */
    scan(paper: string, language: () => string) {
      const begun = scanned(paper) ?? 0;
      const found: Letters = new Map();
      let through = begun;
      return {
        /** Scans the next batch. Returns whether there is more. */
        step(): boolean {
          const until = newest();
          if (until === through) return false;
          const lists = [generations(paper, through), records(paper, through, language())];
          through = Math.min(until, ...lists.flatMap((rows) => (rows.length < BATCH ? [] : (rows.at(-1)?.n ?? []))));
          for (const row of lists.flat()) {
            const letters = scriptLetters(row.words);
            if (letters.size === 0) continue;
            const [key = ''] = row.language.toLowerCase().split('-');
            const all = found.get(key) ?? new Set();
            found.set(key, all);
            for (const letter of letters) all.add(letter);
          }
          return through < until;
        },
        /** Stores the letters found. Returns whether any of them are new. Call it in a transaction. */
        save(): boolean {
          if (through > begun) setScanned(paper, through);
          return add(paper, found);
        },
      };
    },
  };
}
