import type { PieceFilter } from '../../desk/console/piece-lines.ts';
import { columnsOf, type Db, integer, orNull, sql, text } from '../../shared/sql/sql.ts';
import { FROM, LIST, REVIEW, ROW, rowOf, STATE } from './pieces.ts';

const COLUMN: Record<Exclude<keyof PieceFilter, 'awaits_review'>, string> = {
  state: 'p.state',
  section: 'p.category',
  persona: 'p.persona',
  language: 'g.language',
  filed_by: 'g.filed_by',
};

/**
 * When a piece goes or went on air, or was withdrawn. Drafts have no such time and come first. The same expression as
 * in migration 272.
 */
const MOMENT = 'coalesce(p.scheduled_at, p.withdrawn_at, p.published_at, 9000000000000000)';
const LAST = Number.MAX_SAFE_INTEGER;

const LISTED = { ...LIST, ...STATE, ...REVIEW, filed_by: text };

/** The console's reads of pieces that the press does not need. */
export function consoleTables(db: Db) {
  const { all, one, number } = sql(db);
  const columns = `${ROW}, ${columnsOf({ ...STATE, ...REVIEW }, 'p')}, g.filed_by`;
  const listed = (order: string, limit: string) =>
    all(`SELECT ${columns} ${FROM} WHERE p.paper = ? ${order} LIMIT ${limit}`, LISTED, rowOf);
  const byIds = all(`SELECT ${columns} ${FROM} WHERE p.id IN (SELECT value FROM json_each(?))`, LISTED, rowOf);
  const lists = new Map<string, ReturnType<typeof listed>>();
  const COUNT = { name: text, count: integer };
  const counter = (column: 'category' | 'persona') => {
    const onAir = all(
      `SELECT ${column} AS name, count(*) AS count FROM pieces WHERE paper = ? AND state = 'on_air' GROUP BY ${column}`,
      COUNT,
    );
    const waiting = all(
      `SELECT ${column} AS name, count(*) AS count FROM pieces
       WHERE paper = ? AND state IN ('draft', 'scheduled') GROUP BY ${column}`,
      COUNT,
    );
    return (paper: string): Map<string, { on_air: number; waiting: number }> => {
      const counts = new Map(onAir(paper).map(({ name, count }) => [name, { on_air: count, waiting: 0 }]));
      for (const { name, count } of waiting(paper)) {
        counts.set(name, { on_air: counts.get(name)?.on_air ?? 0, waiting: count });
      }
      return counts;
    };
  };
  const momentOf = one(`SELECT ${MOMENT} FROM pieces p WHERE p.id = ?`, integer);
  return {
    /** How many pieces each persona, or each section, has on air and not on air yet. */
    countsByPersona: counter('persona'),
    countsBySection: counter('category'),
    /**
     * A page of a paper's pieces, starting after one of them: drafts first, newest first; then the others, latest
     * first.
     */
    pieces(paper: string, filter: PieceFilter, { limit, after }: { limit: number; after?: string | undefined }) {
      const given = (Object.keys(COLUMN) as (keyof typeof COLUMN)[]).filter((name) => filter[name] !== undefined);
      const review = filter.awaits_review === true ? ' AND p.awaits_review = 1' : '';
      const where = given.map((name) => ` AND ${COLUMN[name]} = ?`).join('') + review;
      const list =
        lists.get(where) ??
        listed(`${where} AND ${MOMENT} <= ? AND (${MOMENT}, p.id) < (?, ?) ORDER BY ${MOMENT} DESC, p.id DESC`, '?');
      lists.set(where, list);
      const moment = after === undefined ? LAST : (momentOf(after) ?? LAST);
      return list(paper, ...given.map((name) => filter[name] ?? null), moment, moment, after ?? '~', limit);
    },
    /** The piece with this id or slug, and pieces not on air whose headline contains this text; newest first. */
    named: all(
      // Each part has an index of its own; one condition with OR would read every piece of the paper.
      `SELECT ${columns} ${FROM} WHERE p.id IN (
         SELECT id FROM pieces WHERE paper = ?1 AND id = ?2
         UNION ALL SELECT id FROM pieces WHERE paper = ?1 AND slug = ?2
         UNION ALL SELECT d.id FROM pieces d JOIN generations h ON h.n = d.generation
           WHERE d.paper = ?1 AND d.state IN ('draft', 'scheduled', 'withdrawn') AND NOT d.headline_withheld
             AND instr(lower(h.headline), lower(?2)) > 0)
       ORDER BY p.id DESC LIMIT ?3`,
      LISTED,
      rowOf,
    ),
    /** The pieces of these ids, in any order. */
    byIds: (ids: readonly string[]) => byIds(JSON.stringify(ids)),
    piece: one(`SELECT ${columns} ${FROM} WHERE p.id = ?`, LISTED, rowOf),
    /** Pieces that wait for approval, oldest first. */
    waiting: listed('AND p.awaits_review = 1 ORDER BY p.id', '?'),
    /** The next scheduled pieces, by time. */
    scheduled: listed(`AND p.state = 'scheduled' ORDER BY ${MOMENT}, p.id`, '?'),
    /** Who filed each revision of a piece, and which correction it made; oldest first. */
    filings: all(
      `SELECT g.n, e.at, g.revision, g.filed_by, g.correction FROM generations g JOIN entries e ON e.n = g.n
       WHERE g.piece = ? ORDER BY g.revision`,
      { n: integer, at: integer, revision: integer, filed_by: text, correction: orNull(text) },
    ),
    /** When a piece was put on air or withdrawn, and by whom; oldest first. */
    events: all(
      `SELECT a.n, e.at, 'aired' AS what, a.made_by, a.on_air_at, NULL AS reason
         FROM airings a JOIN entries e ON e.n = a.n WHERE a.piece = ?1
       UNION ALL
       SELECT w.n, e.at, 'withdrawn', w.made_by, NULL, w.reason
         FROM withdrawals w JOIN entries e ON e.n = w.n WHERE w.piece = ?1
       ORDER BY 1`,
      { n: integer, at: integer, what: text, made_by: text, on_air_at: orNull(integer), reason: orNull(text) },
    ),
    /** Mails and deliveries of a paper that were given up since a time (ms); counting stops at 1,000. */
    failedMails: number(
      "SELECT count(*) FROM (SELECT 1 FROM mails WHERE paper = ?1 AND state = 'failed' AND settled_at >= ?2 LIMIT 1000)",
    ),
    failedDeliveries: number(
      `SELECT count(*) FROM (SELECT 1 FROM webhooks w JOIN deliveries d ON d.webhook = w.id AND d.state = 'failed'
         WHERE w.paper = ?1 AND d.made_at >= ?2 LIMIT 1000)`,
    ),
  };
}
