import type { DeskRow, Row, StateName } from '../../desk/archive.ts';
import type { Piece } from '../../desk/door/piece.ts';
import { writerLine, writersOf } from '../../desk/door/writers.ts';
import type { GenerationEntry } from '../../desk/ledger-entry.ts';
import type { PieceState } from '../../desk/ledger-store.ts';
import { type Db, flag, integer, json, oneOf, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';
import { image, pieceKind } from './ledger-entries.ts';

/** The columns of a piece in a list, and their tables. */
export const ROW = `p.id, p.slug, g.headline, g.dek, p.category, g.kind, p.persona, g.byline_name, g.byline_title,
  g.language, g.image, g.credit, g.authors, g.written_by, g.tags, p.revision, p.published_at, p.updated_at`;
export const FROM = 'FROM pieces p JOIN generations g ON g.n = p.generation';
export const NEWEST_FIRST = 'ORDER BY p.published_at DESC, p.id DESC';

const state = oneOf('draft', 'scheduled', 'on_air', 'withdrawn');

export const LIST = {
  id: text,
  slug: text,
  headline: text,
  dek: text,
  category: text,
  kind: pieceKind,
  persona: text,
  byline_name: text,
  byline_title: text,
  language: text,
  image,
  credit: orNull(text),
  authors: json<Piece['authors']>(),
  written_by: orNull(text),
  tags: json<Row['tags']>(),
  revision: integer,
  published_at: orNull(integer),
  updated_at: orNull(integer),
};

/** What a list for the desk adds. */
export const STANDING = {
  state,
  scheduled_at: orNull(integer),
  withdrawn_at: orNull(integer),
  reason: orNull(text),
  headline_withheld: flag,
};
export const STANDING_COLUMNS = 'p.state, p.scheduled_at, p.withdrawn_at, p.reason, p.headline_withheld';

/** Maps a row of a list to the desk's type. */
export function rowOf(found: Read<typeof LIST>): Row {
  const { id, slug, headline, dek, category, kind, persona, byline_name, byline_title, ...more } = found;
  const { language, image, credit, authors, written_by, tags, revision, published_at, updated_at } = more;
  const writers = writersOf({ credit, authors, written_by });
  return {
    ...{ id, slug, headline, dek, category, kind, persona, byline: { name: byline_name, title: byline_title } },
    ...{ language, image, writers, writer: writerLine(writers, language), tags, revision },
    ...{ published_at: published_at ?? 0, updated_at: updated_at ?? 0 },
  };
}

/** Pieces of all papers in their current state. `Archive` has the reads of a single paper. */
export function pieceTables(db: Db) {
  const { run, one, all, each } = sql(db);
  const insert = run(
    `INSERT INTO pieces (id, paper, slug, state, revision, generation, category, persona)
     VALUES (?1, ?2, ?3, 'draft', ?4, (SELECT n FROM generations WHERE piece = ?1 AND revision = ?4), ?5, ?6)
     ON CONFLICT (id) DO UPDATE SET slug = excluded.slug, revision = excluded.revision,
       generation = excluded.generation, category = excluded.category, persona = excluded.persona`,
  );
  const setState = run(
    `UPDATE pieces SET state = ?, published_at = ?, updated_at = ?, scheduled_at = ?, withdrawn_at = ?, reason = ?,
       headline_withheld = ? WHERE id = ?`,
  );
  const stateCounts = all('SELECT state, count(*) AS count FROM pieces WHERE paper = ? GROUP BY state', {
    state,
    count: integer,
  });
  const unaired = all(
    `SELECT ${ROW}, ${STANDING_COLUMNS} ${FROM}
     WHERE p.paper = ? AND p.state <> 'on_air' AND p.id < ? ORDER BY p.id DESC LIMIT ?`,
    { ...LIST, ...STANDING },
    ({ state, scheduled_at, withdrawn_at, reason, headline_withheld, ...row }): DeskRow => ({
      ...rowOf(row),
      ...{ state, scheduled_at, withdrawn_at, reason, headline_withheld },
    }),
  );
  const remove = run('DELETE FROM pieces WHERE id = ?');

  return {
    /** Makes this generation the one that its piece shows. */
    setGeneration({ paper, piece }: GenerationEntry): void {
      insert(piece.id, paper, piece.slug, piece.revision, piece.category, piece.persona);
    },
    state: one(
      'SELECT state, published_at, updated_at, scheduled_at, withdrawn_at, reason, headline_withheld FROM pieces WHERE id = ?',
      { published_at: LIST.published_at, updated_at: LIST.updated_at, ...STANDING },
    ),
    setState(piece: string, s: PieceState): void {
      const withheld = s.headline_withheld ? 1 : 0;
      setState(s.state, s.published_at, s.updated_at, s.scheduled_at, s.withdrawn_at, s.reason, withheld, piece);
    },
    /** The piece of an id or a slug, in any state, and the hash of its newest receipt. */
    newestReceipt: one(
      `SELECT p.id, g.receipt_hash, p.headline_withheld ${FROM} WHERE p.paper = ?1 AND (p.id = ?2 OR p.slug = ?2) ORDER BY p.id = ?2 DESC`,
      { id: text, receipt_hash: text, headline_withheld: flag },
    ),
    /** Pieces that are not on air, newest first by id, because ids grow with the filing time. */
    unaired: (paper: string, { limit, after = '~' }: { limit: number; after?: string | undefined }): DeskRow[] =>
      unaired(paper, after, limit),
    /** The newest revisions that have a picture or name a media file in their prose. Two hundred proses can take 200 MB. */
    withMedia: each(
      `SELECT p.id, p.slug, p.state, g.image ->> '$.src' AS image, g.prose
       ${FROM} WHERE p.paper = ? AND (g.image IS NOT NULL OR instr(g.prose, 'media/') > 0)`,
      { id: text, slug: text, state, image: orNull(text), prose: text },
    ),
    /** How many pieces are in each state. */
    stateCounts(paper: string): Record<StateName, number> {
      const counts = { draft: 0, scheduled: 0, on_air: 0, withdrawn: 0 };
      for (const { state, count } of stateCounts(paper)) counts[state] = count;
      return counts;
    },
    /** Every piece, with the revision that readers see. */
    shown: all(`SELECT p.id, g.revision ${FROM}`, { id: text, revision: integer }),
    /** The pieces that went on air, were changed or withdrawn after a time. */
    datedAfter: all(
      `SELECT id FROM pieces WHERE paper = ?1 AND (published_at > ?2 OR updated_at > ?2 OR withdrawn_at > ?2) ORDER BY id`,
      text,
    ),
    /** The pieces on air that were scheduled for a time after this one. */
    airedAhead: all(
      `SELECT p.id FROM pieces p JOIN airings a ON a.n = (SELECT max(n) FROM airings WHERE piece = p.id)
         JOIN entries e ON e.n = a.n
       WHERE p.paper = ?1 AND p.state = 'on_air' AND a.on_air_at > e.at AND a.on_air_at > ?2 ORDER BY p.id`,
      text,
    ),
    /** Removes a piece that is not on air from the lists. Only the writing desk, whose store is not a ledger, does so. */
    remove: (piece: string): void => void remove(piece),
    /** Scheduled pieces of all papers that are due at `until` (ms), in the order of their times. */
    scheduled: all(
      `SELECT paper, id AS piece, scheduled_at AS at FROM pieces WHERE state = 'scheduled' AND scheduled_at <= ?
       ORDER BY scheduled_at, id`,
      { paper: text, piece: text, at: integer },
    ),
    /** When the next scheduled piece is due, in ms; null when none is scheduled. */
    nextScheduled: one("SELECT min(scheduled_at) FROM pieces WHERE state = 'scheduled'", orNull(integer)),
  };
}
