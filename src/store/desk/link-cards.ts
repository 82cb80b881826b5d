import type { LinkedPage } from '../../desk/archive.ts';
import { dependencies } from '../../desk/dependencies.ts';
import { bytes, type Db, integer, json, orNull, sql, text } from '../../shared/sql/sql.ts';

const PREFIX = dependencies.link('');

/** The outputs of a paper that show a card of an address; `link/` outputs are the card's picture itself. */
const READERS = `FROM reads WHERE paper = ?1 AND sheet NOT LIKE 'link/%' AND tag`;

/** Cards of linked pages. A press records which addresses its pages show, so `reads` says which cards are needed. */
export function linkCardTable(db: Db) {
  const { run, changed, one, number, all } = sql(db);
  const set = changed('UPDATE link_cards SET card = ?3, picture = ?4, due_at = NULL WHERE paper = ?1 AND url = ?2');
  const card = orNull(json<LinkedPage>());
  const of = one('SELECT card FROM link_cards WHERE paper = ? AND url = ?', card);
  return {
    of: (paper: string, url: string): LinkedPage | null => of(paper, url) ?? null,
    picture: one('SELECT picture FROM link_cards WHERE paper = ? AND url = ?', orNull(bytes)),
    /** Addresses whose card has a picture, and its path in the paper's tree. */
    pictures: all(
      `SELECT url, card ->> '$.picture.path' AS path FROM link_cards
       WHERE paper = ? AND picture IS NOT NULL ORDER BY url`,
      { url: text, path: text },
    ),
    /** Changes when a press has ended: its pages may have other links. */
    presses: number('SELECT coalesce(sum(paid), 0) FROM presses'),
    /** When the next address is due, in ms; null when none is. */
    nextDue: one('SELECT min(due_at) FROM link_cards WHERE due_at IS NOT NULL', orNull(integer)),
    /** Due addresses that a page shows, each with the number of attempts so far. */
    due: all(
      `SELECT needed.url, coalesce(c.tries, 0) AS tries
       FROM (SELECT DISTINCT substr(tag, ${PREFIX.length + 1}) AS url ${READERS} BETWEEN '${PREFIX}' AND '${PREFIX}~') needed
       LEFT JOIN link_cards c ON c.paper = ?1 AND c.url = needed.url
       WHERE c.url IS NULL OR c.due_at <= ?2 LIMIT ?3`,
      { url: text, tries: integer },
    ),
    /**
     * Counts an attempt before it is made, so that no other process makes it too. False when another process was
     * faster.
     */
    claim: changed(
      `INSERT INTO link_cards (paper, url, tries, due_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tries = excluded.tries, due_at = excluded.due_at WHERE tries = excluded.tries - 1`,
    ),
    /** Stores a card. False when the address is no longer tracked. */
    keep: (paper: string, url: string, page: LinkedPage, picture: Uint8Array | null): boolean =>
      set(paper, url, JSON.stringify(page), picture),
    /** Addresses that no page shows any more. */
    unneeded: all(
      `SELECT url FROM link_cards c WHERE paper = ?1 AND NOT EXISTS (SELECT 1 ${READERS} = '${PREFIX}' || c.url)`,
      text,
    ),
    papers: all('SELECT DISTINCT paper FROM link_cards', text),
    drop: run('DELETE FROM link_cards WHERE paper = ? AND url = ?'),
  };
}
