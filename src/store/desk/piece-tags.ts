import { tagSlug } from '../../desk/door/tag.ts';
import { type Db, integer, json, sql, text } from '../../shared/sql/sql.ts';

interface Position {
  published_at: number;
  id: string;
}

export type PieceTagTable = ReturnType<typeof pieceTagTable>;

/**
 * The tags of pieces on air, of all papers, which follow from the newest generation of each piece. `Archive` documents
 * the reads of a single paper.
 */
export function pieceTagTable(db: Db) {
  const { run, one, has, number, all } = sql(db);
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
  const pieces = (order: string) =>
    all(`SELECT piece FROM piece_tags WHERE paper = ? AND tag = ? ORDER BY ${order} LIMIT ? OFFSET ?`, text);
  const [newest, oldest] = [pieces('published_at DESC, piece DESC'), pieces('published_at, piece')];
  const earlier = all(
    `SELECT piece FROM piece_tags WHERE paper = ? AND tag = ? AND (published_at, piece) < (?, ?)
     ORDER BY published_at DESC, piece DESC LIMIT ?`,
    text,
  );
  const older = number(
    'SELECT count(*) FROM piece_tags WHERE paper = ? AND tag = ? AND (published_at, piece) < (?, ?)',
  );
  const newer = number(
    `SELECT count(*) FROM (SELECT 1 FROM piece_tags WHERE paper = ? AND tag = ? AND (published_at, piece) > (?, ?)
       LIMIT ?)`,
  );
  const isTagged = has('SELECT 1 FROM piece_tags WHERE paper = ? AND tag = ? AND published_at = ? AND piece = ?');
  const count = (paper: string, tag: string): number => counted(paper, tag)?.count ?? 0;
  const newerTagged = (paper: string, tag: string, at: Position, cap: number): number =>
    newer(paper, tag, at.published_at, at.id, cap);

  return {
    /** Brings the tags of a piece up to date with its state and its newest generation. */
    setOf(piece: string): void {
      clear(piece);
      const onAir = shown(piece);
      if (onAir === null) return;
      for (const name of onAir.tags) insert(onAir.paper, tagSlug(name), onAir.published_at, piece, name);
    },
    tag: counted,
    tags: (paper: string, { limit, after }: { limit: number; after?: { count: number; slug: string } | undefined }) =>
      after === undefined ? most(paper, limit) : mostAfter(paper, after.count, after.slug, limit),
    tagged: (paper: string, tag: string, { limit, after }: { limit: number; after?: Position | undefined }) =>
      after === undefined ? newest(paper, tag, limit, 0) : earlier(paper, tag, after.published_at, after.id, limit),
    tagPage(paper: string, tag: string, page: number, size: number): string[] {
      const total = count(paper, tag);
      const start = (page - 1) * size;
      const length = Math.min(size, total - start);
      if (length <= 0) return [];
      // Scan from the nearer end, so that the newest page of a long list is fast.
      const fromEnd = total - start - length;
      return fromEnd < start ? newest(paper, tag, length, fromEnd) : oldest(paper, tag, length, start).reverse();
    },
    tagRank(paper: string, tag: string, at: Position): number {
      // Count from the nearer end.
      const total = count(paper, tag);
      const half = Math.ceil(total / 2);
      const later = newerTagged(paper, tag, at, half + 1);
      if (later > half) return older(paper, tag, at.published_at, at.id);
      return total - later - (isTagged(paper, tag, at.published_at, at.id) ? 1 : 0);
    },
    newerTagged,
  };
}
