import type { Correction, CorrectionRow, DeskRow, LatestQuery, Row, Scheduled, Story } from '../desk/archive.ts';
import type { GenerationEntry } from '../desk/ledger-entry.ts';
import type { PieceStanding } from '../desk/ledger-store.ts';
import type { Generation } from '../ledger/chain.ts';
import type { Piece } from '../ledger/piece.ts';
import { DAY, isoTime } from '../time.ts';
import type { PieceRow } from './ledger-entries.ts';
import { pieceFromRow } from './ledger-entries.ts';
import type { Db } from './open.ts';

/** What a list shows of a piece, and where from. */
const ROW = `p.id, p.slug, g.headline, g.dek, p.category, g.kind, p.persona, g.byline_name, g.byline_title,
  g.language, g.image, p.revision, p.published_at, p.updated_at`;
const FROM = 'FROM pieces p JOIN generations g ON g.n = p.generation';
export const NEWEST_FIRST = 'ORDER BY p.published_at DESC, p.id DESC';

interface ListRow {
  id: string;
  slug: string;
  headline: string;
  dek: string;
  category: string;
  kind: Row['kind'];
  persona: string;
  byline_name: string;
  byline_title: string;
  language: string;
  image: string | null;
  revision: number;
  published_at: number | null;
  updated_at: number | null;
}

interface StandingRow extends ListRow {
  state: Story['state'];
  scheduled_at: number | null;
  withdrawn_at: number | null;
  reason: string | null;
}

interface StoryRow extends StandingRow {
  n: number;
  prose: string;
  cited_facts: string;
  credit: string | null;
  content_hash: string;
}

interface Place {
  published_at: number;
  id: string;
}

/** A piece of a list in the desk's terms. */
function rowFrom(row: ListRow): Row {
  return {
    id: row.id,
    slug: row.slug,
    headline: row.headline,
    dek: row.dek,
    category: row.category,
    kind: row.kind,
    persona: row.persona,
    byline: { name: row.byline_name, title: row.byline_title },
    language: row.language,
    image: row.image === null ? null : (JSON.parse(row.image) as Row['image']),
    revision: row.revision,
    published_at: row.published_at ?? 0,
    updated_at: row.updated_at ?? 0,
  };
}

/** Pieces as they stand, read through indexes that hold only what is on air. */
export function pieceTables(db: Db) {
  const STORY = `SELECT ${ROW}, g.n, p.state, g.prose, g.cited_facts, g.credit, g.content_hash,
    p.scheduled_at, p.withdrawn_at, p.reason ${FROM}`;
  const row = db.prepare(`SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.id = ?`);
  const byId = db.prepare(`${STORY} WHERE p.paper = ? AND p.id = ?`);
  const hasSlug = db.prepare('SELECT 1 FROM pieces WHERE paper = ? AND slug = ?');
  const bySlug = db.prepare(`${STORY} WHERE p.paper = ? AND p.slug = ?`);
  const newestPiece = db.prepare(
    `SELECT g.* FROM pieces p JOIN generations g ON g.n = p.generation WHERE p.paper = ? AND p.id = ?`,
  );
  const revisions = db.prepare('SELECT * FROM generations WHERE paper = ? AND piece = ? ORDER BY revision');
  const generations = db.prepare(
    `SELECT g.revision, g.seq, g.content_hash, g.receipt_hash, e.at, g.kid, g.receipt
     FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? AND g.piece = ? ORDER BY g.revision`,
  );
  const corrections = db.prepare(
    `SELECT coalesce(g.revised_at, e.at) AS at, g.revision, g.correction AS note
     FROM generations g JOIN entries e ON e.n = g.n
     WHERE g.paper = ? AND g.piece = ? AND g.correction IS NOT NULL ORDER BY g.revision`,
  );
  const corrected = db.prepare(
    `SELECT 'correction' AS kind, coalesce(g.revised_at, e.at) AS at, g.revision, g.correction AS note, p.slug, n.headline
     FROM generations g JOIN entries e ON e.n = g.n JOIN pieces p ON p.id = g.piece
     JOIN generations n ON n.n = p.generation
     WHERE g.paper = ?1 AND g.correction IS NOT NULL AND p.state = 'on_air'
     UNION ALL
     SELECT 'withdrawal', p.withdrawn_at, p.revision, p.reason, p.slug, n.headline
     FROM pieces p JOIN generations n ON n.n = p.generation
     WHERE p.paper = ?1 AND p.state <> 'on_air' AND p.published_at IS NOT NULL
     ORDER BY 2 DESC, 5 LIMIT ?2`,
  );
  const listed = db.prepare(
    'SELECT id, slug FROM pieces WHERE paper = ? AND published_at IS NOT NULL AND slug > ? ORDER BY slug LIMIT 1000',
  );
  const latest = {
    all: db.prepare(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND p.published_at >= ? ${NEWEST_FIRST} LIMIT ?`,
    ),
    after: db.prepare(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND p.published_at >= ?
       AND (p.published_at, p.id) < (?, ?) ${NEWEST_FIRST} LIMIT ?`,
    ),
    section: db.prepare(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.category = ? AND p.state = 'on_air' AND p.published_at >= ?
       ${NEWEST_FIRST} LIMIT ?`,
    ),
    persona: db.prepare(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.persona = ? AND p.state = 'on_air' AND p.published_at >= ?
       ${NEWEST_FIRST} LIMIT ?`,
    ),
  };
  // The inner query walks the index alone; only the page's own rows are joined.
  const sectionPage = db.prepare(
    `SELECT ${ROW} FROM (SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       ORDER BY published_at, id LIMIT ? OFFSET ?) page
     JOIN pieces p ON p.id = page.id JOIN generations g ON g.n = p.generation ${NEWEST_FIRST}`,
  );
  const sectionPageBack = db.prepare(
    `SELECT ${ROW} FROM (SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       ORDER BY published_at DESC, id DESC LIMIT ? OFFSET ?) page
     JOIN pieces p ON p.id = page.id JOIN generations g ON g.n = p.generation ${NEWEST_FIRST}`,
  );
  const sectionRank = db.prepare(
    `SELECT count(*) AS n FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) < (?, ?)`,
  );
  const newer = db.prepare(
    `SELECT count(*) AS n FROM (SELECT 1 FROM pieces WHERE paper = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) LIMIT ?)`,
  );
  const newerInSection = db.prepare(
    `SELECT count(*) AS n FROM (SELECT 1 FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) LIMIT ?)`,
  );
  const earlier = db.prepare(
    `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.category = ? AND p.state = 'on_air'
       AND (p.published_at, p.id) < (?, ?) ${NEWEST_FIRST} LIMIT ?`,
  );
  const laterIds = db.prepare(
    `SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) ORDER BY published_at, id LIMIT ?`,
  );
  const tally = db.prepare('SELECT count FROM tallies WHERE paper = ? AND what = ? AND name = ?');
  const days = db.prepare(
    `SELECT name AS day, count FROM tallies WHERE paper = ? AND what = 'day' AND count > 0
       AND name BETWEEN ? AND ? ORDER BY name DESC LIMIT ?`,
  );
  const months = db.prepare(
    "SELECT name AS month, count FROM tallies WHERE paper = ? AND what = 'month' AND count > 0 ORDER BY name",
  );
  const isInSection = db.prepare("SELECT 1 FROM pieces WHERE id = ? AND category = ? AND state = 'on_air'");
  const between = db.prepare(
    `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND p.published_at >= ? AND p.published_at < ?
       ${NEWEST_FIRST}`,
  );
  const month = db.prepare(
    `SELECT slug, updated_at FROM pieces WHERE paper = ? AND state = 'on_air' AND published_at >= ? AND published_at < ?
       ORDER BY published_at, id`,
  );
  const insert = db.prepare(
    `INSERT INTO pieces (id, paper, slug, state, revision, generation, category, persona)
     VALUES (?, ?, ?, 'draft', ?, (SELECT n FROM generations WHERE piece = ? AND revision = ?), ?, ?)
     ON CONFLICT (id) DO UPDATE SET slug = excluded.slug, revision = excluded.revision,
       generation = excluded.generation, category = excluded.category, persona = excluded.persona`,
  );
  const standing = db.prepare(
    'SELECT state, published_at, updated_at, scheduled_at, withdrawn_at, reason FROM pieces WHERE id = ?',
  );
  const setStanding = db.prepare(
    `UPDATE pieces SET state = ?, published_at = ?, updated_at = ?, scheduled_at = ?, withdrawn_at = ?, reason = ?
     WHERE id = ?`,
  );
  const scheduled = db.prepare(
    `SELECT paper, id AS piece, scheduled_at AS at FROM pieces WHERE state = 'scheduled' AND scheduled_at <= ?
     ORDER BY scheduled_at, id`,
  );
  const due = db.prepare("SELECT min(scheduled_at) AS at FROM pieces WHERE state = 'scheduled'");
  const allScheduled = db.prepare(
    `SELECT p.slug, p.category, g.cited_facts ${FROM}
     WHERE p.paper = ? AND p.state = 'scheduled' ORDER BY p.scheduled_at, p.id`,
  );
  // Two hundred proses at once are 200 MB.
  const unaired = db.prepare(
    `SELECT ${ROW}, p.state, p.scheduled_at, p.withdrawn_at, p.reason ${FROM} WHERE p.paper = ? AND p.state <> 'on_air' AND p.id < ? ORDER BY p.id DESC LIMIT ?`,
  );

  const shown = db.prepare('SELECT p.id, g.revision FROM pieces p JOIN generations g ON g.n = p.generation');

  const storyFrom = (paper: string, row: StoryRow): Story => ({
    ...rowFrom(row),
    state: row.state,
    prose: row.prose,
    cited_facts: JSON.parse(row.cited_facts) as Story['cited_facts'],
    credit: row.credit,
    content_hash: row.content_hash,
    corrections: row.revision > 1 ? (corrections.all(paper, row.id) as Correction[]) : [],
    scheduled_at: row.scheduled_at,
    withdrawn_at: row.withdrawn_at,
    reason: row.reason,
  });
  const rows = (list: unknown[]): Row[] => (list as ListRow[]).map(rowFrom);
  const count = (row: unknown): number => (row as { n: number }).n;
  const dayStart = (day: string): number => Date.parse(`${day}T00:00:00Z`);
  const nextMonth = (name: string): number => {
    const start = new Date(`${name}-01T00:00:00Z`);
    return start.setUTCMonth(start.getUTCMonth() + 1);
  };

  return {
    row(paper: string, id: string): Row | null {
      const found = row.get(paper, id) as ListRow | undefined;
      return found === undefined ? null : rowFrom(found);
    },
    storyById(paper: string, id: string): Story | null {
      const row = byId.get(paper, id) as StoryRow | undefined;
      return row === undefined ? null : storyFrom(paper, row);
    },
    storyBySlug(paper: string, slug: string): Story | null {
      const row = bySlug.get(paper, slug) as StoryRow | undefined;
      return row === undefined ? null : storyFrom(paper, row);
    },
    /** Whether a piece has the slug, whatever became of it. Reads no prose. */
    hasSlug: (paper: string, slug: string): boolean => hasSlug.get(paper, slug) !== undefined,
    /** Pieces that are not on air, the newest first by their ids, which grow with the time of filing. */
    unaired: (paper: string, { limit, after = '~' }: { limit: number; after?: string | undefined }): DeskRow[] =>
      (unaired.all(paper, after, limit) as StandingRow[]).map((row) => ({
        ...rowFrom(row),
        state: row.state,
        scheduled_at: row.scheduled_at,
        withdrawn_at: row.withdrawn_at,
        reason: row.reason,
      })),
    /** Every piece with the revision that readers are shown. */
    shown: (): { id: string; revision: number }[] => shown.all() as { id: string; revision: number }[],
    piece(paper: string, id: string): Piece | null {
      const row = newestPiece.get(paper, id) as PieceRow | undefined;
      return row === undefined ? null : pieceFromRow(row);
    },
    revisions: (paper: string, id: string): Piece[] => (revisions.all(paper, id) as PieceRow[]).map(pieceFromRow),
    generations(paper: string, id: string): Generation[] {
      const list = generations.all(paper, id) as (Omit<Generation, 'filed_at'> & { at: number })[];
      return list.map(({ at, revision, seq, content_hash, receipt_hash, kid, receipt }) => ({
        revision,
        seq,
        content_hash,
        receipt_hash,
        filed_at: isoTime(at),
        kid,
        receipt,
      }));
    },
    *slugs(paper: string): Iterable<{ id: string; slug: string }> {
      let last = '';
      for (;;) {
        const page = listed.all(paper, last) as { id: string; slug: string }[];
        yield* page;
        const end = page.at(-1);
        if (end === undefined) return;
        last = end.slug;
      }
    },
    latest(paper: string, { limit, section, persona, since = Number.MIN_SAFE_INTEGER, after }: LatestQuery): Row[] {
      if (after !== undefined) return rows(latest.after.all(paper, since, after.published_at, after.id, limit));
      if (section !== undefined) return rows(latest.section.all(paper, section, since, limit));
      if (persona !== undefined) return rows(latest.persona.all(paper, persona, since, limit));
      return rows(latest.all.all(paper, since, limit));
    },
    sectionPage(paper: string, section: string, page: number, size: number): Row[] {
      const total = this.sectionCount(paper, section);
      const start = (page - 1) * size;
      const length = Math.min(size, total - start);
      if (length <= 0) return [];
      // Walk from the nearer end: the newest page of a long section is at hand.
      const fromEnd = total - start - length;
      return fromEnd < start
        ? rows(sectionPageBack.all(paper, section, length, fromEnd))
        : rows(sectionPage.all(paper, section, length, start));
    },
    sectionCount: (paper: string, section: string): number =>
      (tally.get(paper, 'section', section) as { count: number } | undefined)?.count ?? 0,
    allScheduled: (paper: string): Scheduled[] =>
      (allScheduled.all(paper) as { slug: string; category: string; cited_facts: string }[]).map((row) => ({
        ...row,
        cited_facts: JSON.parse(row.cited_facts) as Scheduled['cited_facts'],
      })),
    /** How many pieces of the section went on air before a place, counted from its nearer end. */
    sectionRank(paper: string, section: string, at: Place): number {
      const total = this.sectionCount(paper, section);
      const half = Math.ceil(total / 2);
      const newer = this.newer(paper, at, half + 1, section);
      if (newer > half) return count(sectionRank.get(paper, section, at.published_at, at.id));
      return total - newer - (isInSection.get(at.id, section) === undefined ? 0 : 1);
    },
    newer: (paper: string, at: Place, cap: number, section?: string): number =>
      section === undefined
        ? count(newer.get(paper, at.published_at, at.id, cap))
        : count(newerInSection.get(paper, section, at.published_at, at.id, cap)),
    earlier: (paper: string, row: Row, limit: number): Row[] =>
      rows(earlier.all(paper, row.category, row.published_at, row.id, limit)),
    laterIds: (paper: string, section: string, at: Place, limit: number): string[] =>
      (laterIds.all(paper, section, at.published_at, at.id, limit) as { id: string }[]).map(({ id }) => id),
    days: (paper: string, range: { from?: string; until?: string; limit?: number } = {}) =>
      days.all(paper, range.from ?? '', range.until ?? '9999-12-31', range.limit ?? -1) as {
        day: string;
        count: number;
      }[],
    day: (paper: string, day: string): Row[] => rows(between.all(paper, dayStart(day), dayStart(day) + DAY)),
    months: (paper: string) => months.all(paper) as { month: string; count: number }[],
    month: (paper: string, name: string) =>
      month.all(paper, dayStart(`${name}-01`), nextMonth(name)) as { slug: string; updated_at: number }[],
    corrections: (paper: string, limit: number): CorrectionRow[] => corrected.all(paper, limit) as CorrectionRow[],
    hasCorrections: (paper: string, id: string): boolean => corrections.all(paper, id).length > 0,

    setGeneration({ paper, piece }: GenerationEntry): void {
      insert.run(piece.id, paper, piece.slug, piece.revision, piece.id, piece.revision, piece.category, piece.persona);
    },
    standing: (piece: string): PieceStanding | null => (standing.get(piece) as PieceStanding | undefined) ?? null,
    setStanding(piece: string, s: PieceStanding): void {
      setStanding.run(s.state, s.published_at, s.updated_at, s.scheduled_at, s.withdrawn_at, s.reason, piece);
    },
    scheduled: (until: number) => scheduled.all(until) as { paper: string; piece: string; at: number }[],
    /** When the next scheduled piece falls due, in ms, or null. */
    nextScheduled: (): number | null => (due.get() as { at: number | null }).at,
  };
}
