import type { Row, TagCount } from '../desk/archive.ts';
import { tagSlug } from '../ledger/tag.ts';
import { type Db, integer, json, sql, text } from './sql.ts';

interface Position {
  published_at: number;
  id: string;
}

/** The tags of pieces on air, of all papers. `Archive` documents the reads of a single paper. */
export interface PieceTagTable {
  /** Brings the tags of a piece up to date with its state and its newest generation. */
  setOf(piece: string): void;
  tag(paper: string, slug: string): TagCount | null;
  tags(paper: string, page: { limit: number; after?: { count: number; slug: string } | undefined }): TagCount[];
  tagged(paper: string, tag: string, page: { limit: number; after?: Position | undefined }): string[];
  tagPage(paper: string, tag: string, page: number, size: number): string[];
  tagRank(paper: string, tag: string, at: Position): number;
  newerTagged(paper: string, tag: string, at: Position, cap: number): number;
}

/** Tables that follow from the newest generation of each piece on air. */
export function pieceTagTable(db: Db): PieceTagTable {
  const { run, one, all } = sql(db);
  const clear = run('DELETE FROM piece_tags WHERE piece = ?');
  const insert = run('INSERT INTO piece_tags (paper, tag, published_at, piece, name) VALUES (?, ?, ?, ?, ?)');
  const shown = one(
    `SELECT p.paper, p.published_at, g.tags FROM pieces p JOIN generations g ON g.n = p.generation
     WHERE p.id = ? AND p.state = 'on_air'`,
    { paper: text, published_at: integer, tags: json<string[]>() },
  );
  const NAME = `(SELECT name FROM piece_tags t WHERE t.paper = c.paper AND t.tag = c.tag
    ORDER BY published_at DESC, piece DESC LIMIT 1)`;
  const COUNTED = `SELECT tag AS slug, ${NAME} AS name, count FROM tag_counts c`;
  const TAG = { slug: text, name: text, count: integer };
  const counted = one(`${COUNTED} WHERE paper = ? AND tag = ?`, TAG);
  const most = all(`${COUNTED} WHERE paper = ? ORDER BY count DESC, tag DESC LIMIT ?`, TAG);
  const mostAfter = all(
    `${COUNTED} WHERE paper = ? AND (count, tag) < (?, ?) ORDER BY count DESC, tag DESC LIMIT ?`,
    TAG,
  );
  const newest = all(
    'SELECT piece FROM piece_tags WHERE paper = ? AND tag = ? ORDER BY published_at DESC, piece DESC LIMIT ? OFFSET ?',
    text,
  );
  const oldest = all(
    'SELECT piece FROM piece_tags WHERE paper = ? AND tag = ? ORDER BY published_at, piece LIMIT ? OFFSET ?',
    text,
  );
  const after = all(
    `SELECT piece FROM piece_tags WHERE paper = ? AND tag = ? AND (published_at, piece) < (?, ?)
     ORDER BY published_at DESC, piece DESC LIMIT ?`,
    text,
  );
  const older = one(
    'SELECT count(*) FROM piece_tags WHERE paper = ? AND tag = ? AND (published_at, piece) < (?, ?)',
    integer,
  );
  const newer = one(
    `SELECT count(*) FROM (SELECT 1 FROM piece_tags WHERE paper = ? AND tag = ? AND (published_at, piece) > (?, ?)
       LIMIT ?)`,
    integer,
  );
  const has = one('SELECT 1 FROM piece_tags WHERE paper = ? AND tag = ? AND published_at = ? AND piece = ?', integer);
  const count = (paper: string, tag: string): number => counted(paper, tag)?.count ?? 0;
  const newerTagged: PieceTagTable['newerTagged'] = (paper, tag, at, cap) =>
    newer(paper, tag, at.published_at, at.id, cap) ?? 0;

  return {
    setOf(piece) {
      clear(piece);
      const onAir = shown(piece);
      if (onAir === null) return;
      for (const name of onAir.tags) insert(onAir.paper, tagSlug(name), onAir.published_at, piece, name);
    },
    tag: counted,
    tags: (paper, { limit, after: place }) =>
      place === undefined ? most(paper, limit) : mostAfter(paper, place.count, place.slug, limit),
    tagged: (paper, tag, { limit, after: place }) =>
      place === undefined ? newest(paper, tag, limit, 0) : after(paper, tag, place.published_at, place.id, limit),
    tagPage(paper, tag, page, size) {
      const total = count(paper, tag);
      const start = (page - 1) * size;
      const length = Math.min(size, total - start);
      if (length <= 0) return [];
      // Scan from the nearer end, so that the newest page of a long list is fast.
      const fromEnd = total - start - length;
      return fromEnd < start ? newest(paper, tag, length, fromEnd) : oldest(paper, tag, length, start).reverse();
    },
    // Count from the nearer end.
    tagRank(paper, tag, at) {
      const total = count(paper, tag);
      const half = Math.ceil(total / 2);
      const later = newerTagged(paper, tag, at, half + 1);
      if (later > half) return older(paper, tag, at.published_at, at.id) ?? 0;
      return total - later - (has(paper, tag, at.published_at, at.id) === null ? 0 : 1);
    },
    newerTagged,
  };
}

/** Rows by id, in the order of the ids. */
export function rowsOf(ids: readonly string[], row: (id: string) => Row | null): Row[] {
  return ids.map(row).filter((found) => found !== null);
}
