import type { CorrectionRow, DeskRow, LatestQuery, Row, Scheduled, StateName, Story } from '../desk/archive.ts';
import type { GenerationEntry } from '../desk/ledger-entry.ts';
import type { PieceState } from '../desk/ledger-store.ts';
import type { MediaPiece } from '../desk/media-use.ts';
import type { Generation } from '../ledger/chain.ts';
import type { Piece } from '../ledger/piece.ts';
import { writerLine, writersOf } from '../ledger/writers.ts';
import { DAY, isoTime } from '../time.ts';
import { image, PIECE, pieceKind, pieceOf } from './ledger-entries.ts';
import { type Db, flag, integer, json, oneOf, orNull, type Read, sql, text } from './sql.ts';

/** The columns of a piece in a list, and their tables. */
const ROW = `p.id, p.slug, g.headline, g.dek, p.category, g.kind, p.persona, g.byline_name, g.byline_title,
  g.language, g.image, g.credit, g.authors, g.written_by, g.tags, p.revision, p.published_at, p.updated_at`;
const FROM = 'FROM pieces p JOIN generations g ON g.n = p.generation';
export const NEWEST_FIRST = 'ORDER BY p.published_at DESC, p.id DESC';

const state = oneOf('draft', 'scheduled', 'on_air', 'withdrawn');

const LIST = {
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

const DESK_LIST = {
  ...LIST,
  state,
  scheduled_at: orNull(integer),
  withdrawn_at: orNull(integer),
  reason: orNull(text),
  headline_withheld: flag,
};

const STORY = {
  ...DESK_LIST,
  prose: text,
  cited_facts: json<Story['cited_facts']>(),
  content_hash: text,
};

/** The columns of a generation as proofs list it. */
const GENERATION = {
  revision: integer,
  seq: integer,
  content_hash: text,
  receipt_hash: text,
  at: integer,
  kid: text,
  receipt: text,
};

interface Place {
  published_at: number;
  id: string;
}

/** Maps a row of a list to the desk's type. */
function rowOf(row: Read<typeof LIST>): Row {
  const writers = writersOf(row);
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
    image: row.image,
    writers,
    writer: writerLine(writers, row.language),
    tags: row.tags,
    revision: row.revision,
    published_at: row.published_at ?? 0,
    updated_at: row.updated_at ?? 0,
  };
}

/** When a generation `g` with its entry `e` was made: no later than a correction of the clock that came after it says. */
const REVISED_AT = `min(coalesce(g.revised_at, e.at), coalesce(
  (SELECT min(x.at) FROM records r JOIN entries x ON x.n = r.n WHERE r.paper = g.paper AND r.kind = 'clock' AND r.n > g.n),
  ${Number.MAX_SAFE_INTEGER}))`;

function generationOf(row: Read<typeof GENERATION>): Generation {
  const { revision, seq, content_hash, receipt_hash, at, kid, receipt } = row;
  return { revision, seq, content_hash, receipt_hash, filed_at: isoTime(at), kid, receipt };
}

function deskRowOf(row: Read<typeof DESK_LIST>): DeskRow {
  const { state, scheduled_at, withdrawn_at, reason, headline_withheld } = row;
  return { ...rowOf(row), state, scheduled_at, withdrawn_at, reason, headline_withheld };
}

/** Pieces of all papers. `Archive` documents the reads of a single paper. */
export interface PieceTable {
  row(paper: string, id: string): Row | null;
  storyById(paper: string, id: string): Story | null;
  storyBySlug(paper: string, slug: string): Story | null;
  hasSlug(paper: string, slug: string): boolean;
  /** The piece of an id or a slug, in any state, and the hash of its newest receipt. */
  newestReceipt(paper: string, name: string): { id: string; receipt_hash: string; headline_withheld: boolean } | null;
  /** Pieces that are not on air, newest first by id, because ids grow with the filing time. */
  unaired(paper: string, page: { limit: number; after?: string | undefined }): DeskRow[];
  /** The newest revisions that have a picture or name a media file in their prose. */
  withMedia(paper: string): Iterable<MediaPiece>;
  /** How many pieces are in each state. */
  stateCounts(paper: string): Record<StateName, number>;
  /** Every piece, with the revision that readers see. */
  shown(): { id: string; revision: number }[];
  piece(paper: string, id: string): Piece | null;
  revisions(paper: string, id: string): Piece[];
  generations(paper: string, id: string): Generation[];
  receiptsOnAir(paper: string): Iterable<{ piece: string; receipt: string; is_newest: boolean }>;
  slugs(paper: string): Iterable<{ id: string; slug: string }>;
  latest(paper: string, query: LatestQuery): Row[];
  sectionPage(paper: string, section: string, page: number, size: number): Row[];
  sectionCount(paper: string, section: string): number;
  allScheduled(paper: string): Scheduled[];
  sectionRank(paper: string, section: string, at: Place): number;
  newer(paper: string, at: Place, cap: number, section?: string): number;
  earlier(paper: string, row: Row, limit: number): Row[];
  laterIds(paper: string, section: string, at: Place, limit: number): string[];
  days(paper: string, range?: { from?: string; until?: string; limit?: number }): { day: string; count: number }[];
  day(paper: string, day: string): Row[];
  months(paper: string): { month: string; count: number }[];
  month(paper: string, month: string): { slug: string; updated_at: number }[];
  corrections(paper: string, limit: number): CorrectionRow[];
  hasCorrections(paper: string, id: string): boolean;
  /** Makes this generation the one that its piece shows. */
  setGeneration(entry: GenerationEntry): void;
  state(piece: string): PieceState | null;
  setState(piece: string, state: PieceState): void;
  /** The pieces that went on air, were changed or withdrawn after a time. */
  datedAfter(paper: string, time: number): string[];
  /** The pieces on air that were scheduled for a time after this one. */
  airedAhead(paper: string, time: number): string[];
  /** Removes a piece that is not on air from the lists. Only the writing desk, whose store is not a ledger, does so. */
  remove(piece: string): void;
  /** Scheduled pieces of all papers that are due at `until` (ms), in the order of their times. */
  scheduled(until: number): { paper: string; piece: string; at: number }[];
  /** When the next scheduled piece is due, in ms; null when none is scheduled. */
  nextScheduled(): number | null;
}

/** Pieces in their current state, read through indexes that contain only pieces on air. */
export function pieceTables(db: Db): PieceTable {
  const { run, one, all, each } = sql(db);
  const SELECT_STORY = `SELECT ${ROW}, p.state, g.prose, g.cited_facts, g.content_hash,
    p.scheduled_at, p.withdrawn_at, p.reason, p.headline_withheld ${FROM}`;
  const byId = one(`${SELECT_STORY} WHERE p.paper = ? AND p.id = ?`, STORY);
  const bySlug = one(`${SELECT_STORY} WHERE p.paper = ? AND p.slug = ?`, STORY);
  const newestReceipt = one(
    `SELECT p.id, g.receipt_hash, p.headline_withheld ${FROM} WHERE p.paper = ?1 AND (p.id = ?2 OR p.slug = ?2) ORDER BY p.id = ?2 DESC`,
    { id: text, receipt_hash: text, headline_withheld: flag },
  );
  const hasSlug = one('SELECT 1 FROM pieces WHERE paper = ? AND slug = ?', integer);
  const corrections = all(
    `SELECT ${REVISED_AT} AS at, g.revision, g.correction AS note
     FROM generations g JOIN entries e ON e.n = g.n
     WHERE g.paper = ? AND g.piece = ? AND g.correction IS NOT NULL ORDER BY g.revision`,
    { at: integer, revision: integer, note: text },
  );
  const corrected = all(
    `SELECT 'correction' AS kind, ${REVISED_AT} AS at, g.revision, g.correction AS note, p.slug, n.headline,
       n.language, p.headline_withheld
     FROM generations g JOIN entries e ON e.n = g.n JOIN pieces p ON p.id = g.piece
     JOIN generations n ON n.n = p.generation
     WHERE g.paper = ?1 AND g.correction IS NOT NULL AND p.state = 'on_air'
     UNION ALL
     SELECT 'withdrawal', p.withdrawn_at, p.revision, p.reason, p.slug, n.headline, n.language, p.headline_withheld
     FROM pieces p JOIN generations n ON n.n = p.generation
     WHERE p.paper = ?1 AND p.state <> 'on_air' AND p.published_at IS NOT NULL
     ORDER BY 2 DESC, 5 LIMIT ?2`,
    {
      kind: oneOf('correction', 'withdrawal'),
      at: integer,
      revision: integer,
      note: text,
      slug: text,
      headline: text,
      language: text,
      headline_withheld: flag,
    },
  );
  const SHOWN = { id: text, slug: text, category: text, published_at: integer };
  const onAir = all(
    `SELECT id, slug, category, published_at FROM pieces WHERE paper = ? AND state = 'on_air'
       AND (category, published_at, id) > (?, ?, ?) ORDER BY category, published_at, id LIMIT 1000`,
    SHOWN,
  );
  const offAir = all(
    `SELECT id, slug FROM pieces WHERE paper = ? AND state <> 'on_air' AND published_at IS NOT NULL AND slug > ?
     ORDER BY slug LIMIT 1000`,
    { id: text, slug: text },
  );
  const list = (text: string) => all(text, LIST, rowOf);
  const latest = {
    all: list(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND p.published_at >= ? ${NEWEST_FIRST} LIMIT ?`,
    ),
    after: list(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND p.published_at >= ?
       AND (p.published_at, p.id) < (?, ?) ${NEWEST_FIRST} LIMIT ?`,
    ),
    section: list(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.category = ? AND p.state = 'on_air' AND p.published_at >= ?
       ${NEWEST_FIRST} LIMIT ?`,
    ),
    persona: list(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.persona = ? AND p.state = 'on_air' AND p.published_at >= ?
       ${NEWEST_FIRST} LIMIT ?`,
    ),
  };
  // The inner query scans only the index, and only the rows of the page are joined.
  const sectionPage = list(
    `SELECT ${ROW} FROM (SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       ORDER BY published_at, id LIMIT ? OFFSET ?) page
     JOIN pieces p ON p.id = page.id JOIN generations g ON g.n = p.generation ${NEWEST_FIRST}`,
  );
  const sectionPageBack = list(
    `SELECT ${ROW} FROM (SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       ORDER BY published_at DESC, id DESC LIMIT ? OFFSET ?) page
     JOIN pieces p ON p.id = page.id JOIN generations g ON g.n = p.generation ${NEWEST_FIRST}`,
  );
  const sectionRank = one(
    `SELECT count(*) AS n FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) < (?, ?)`,
    integer,
  );
  const newer = one(
    `SELECT count(*) AS n FROM (SELECT 1 FROM pieces WHERE paper = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) LIMIT ?)`,
    integer,
  );
  const newerInSection = one(
    `SELECT count(*) AS n FROM (SELECT 1 FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) LIMIT ?)`,
    integer,
  );
  const earlier = list(
    `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.category = ? AND p.state = 'on_air'
       AND (p.published_at, p.id) < (?, ?) ${NEWEST_FIRST} LIMIT ?`,
  );
  const laterIds = all(
    `SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) ORDER BY published_at, id LIMIT ?`,
    text,
  );
  const tally = one('SELECT count FROM tallies WHERE paper = ? AND what = ? AND name = ?', integer);
  const days = all(
    `SELECT name AS day, count FROM tallies WHERE paper = ? AND what = 'day' AND count > 0
       AND name BETWEEN ? AND ? ORDER BY name DESC LIMIT ?`,
    { day: text, count: integer },
  );
  const isInSection = one("SELECT 1 FROM pieces WHERE id = ? AND category = ? AND state = 'on_air'", integer);
  const between = list(
    `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND p.published_at >= ? AND p.published_at < ?
       ${NEWEST_FIRST}`,
  );
  const month = all(
    `SELECT slug, updated_at FROM pieces WHERE paper = ? AND state = 'on_air' AND published_at >= ? AND published_at < ?
       ORDER BY published_at, id`,
    { slug: text, updated_at: integer },
  );
  const insert = run(
    `INSERT INTO pieces (id, paper, slug, state, revision, generation, category, persona)
     VALUES (?, ?, ?, 'draft', ?, (SELECT n FROM generations WHERE piece = ? AND revision = ?), ?, ?)
     ON CONFLICT (id) DO UPDATE SET slug = excluded.slug, revision = excluded.revision,
       generation = excluded.generation, category = excluded.category, persona = excluded.persona`,
  );
  const setStanding = run(
    `UPDATE pieces SET state = ?, published_at = ?, updated_at = ?, scheduled_at = ?, withdrawn_at = ?, reason = ?,
       headline_withheld = ? WHERE id = ?`,
  );
  const stateCounts = all('SELECT state, count(*) AS count FROM pieces WHERE paper = ? GROUP BY state', {
    state: oneOf('draft', 'scheduled', 'on_air', 'withdrawn'),
    count: integer,
  });
  // Omits the prose: two hundred proses can take 200 MB.
  const withMedia = each(
    `SELECT p.id, p.slug, p.state, g.image ->> '$.src' AS image, g.prose
     FROM pieces p JOIN generations g ON g.n = p.generation
     WHERE p.paper = ? AND (g.image IS NOT NULL OR instr(g.prose, 'media/') > 0)`,
    { id: text, slug: text, state, image: orNull(text), prose: text },
  );
  const unaired = all(
    `SELECT ${ROW}, p.state, p.scheduled_at, p.withdrawn_at, p.reason, p.headline_withheld
     ${FROM} WHERE p.paper = ? AND p.state <> 'on_air' AND p.id < ? ORDER BY p.id DESC LIMIT ?`,
    DESK_LIST,
    deskRowOf,
  );

  const generations = all(
    `SELECT g.revision, g.seq, g.content_hash, g.receipt_hash, e.at, g.kid, g.receipt
     FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? AND g.piece = ? ORDER BY g.revision`,
    GENERATION,
    generationOf,
  );

  const storyOf = (paper: string, row: Read<typeof STORY>): Story => ({
    ...rowOf(row),
    state: row.state,
    prose: row.prose,
    cited_facts: row.cited_facts,
    credit: row.credit,
    authors: row.authors,
    written_by: row.written_by,
    content_hash: row.content_hash,
    corrections: row.revision > 1 ? corrections(paper, row.id) : [],
    scheduled_at: row.scheduled_at,
    withdrawn_at: row.withdrawn_at,
    reason: row.reason,
    headline_withheld: row.headline_withheld,
  });
  const dayStart = (day: string): number => Date.parse(`${day}T00:00:00Z`);
  const nextMonth = (name: string): number => {
    const start = new Date(`${name}-01T00:00:00Z`);
    return start.setUTCMonth(start.getUTCMonth() + 1);
  };

  const sectionCount = (paper: string, section: string): number => tally(paper, 'section', section) ?? 0;
  const countNewer = (paper: string, at: Place, cap: number, section?: string): number =>
    (section === undefined
      ? newer(paper, at.published_at, at.id, cap)
      : newerInSection(paper, section, at.published_at, at.id, cap)) ?? 0;

  return {
    row: one(`SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.id = ?`, LIST, rowOf),
    storyById(paper, id) {
      const row = byId(paper, id);
      return row === null ? null : storyOf(paper, row);
    },
    storyBySlug(paper, slug) {
      const row = bySlug(paper, slug);
      return row === null ? null : storyOf(paper, row);
    },
    hasSlug: (paper, slug) => hasSlug(paper, slug) !== null,
    newestReceipt,
    withMedia,
    unaired: (paper, { limit, after = '~' }) => unaired(paper, after, limit),
    stateCounts(paper) {
      const counts = { draft: 0, scheduled: 0, on_air: 0, withdrawn: 0 };
      for (const { state, count } of stateCounts(paper)) counts[state] = count;
      return counts;
    },
    shown: all('SELECT p.id, g.revision FROM pieces p JOIN generations g ON g.n = p.generation', {
      id: text,
      revision: integer,
    }),
    piece: one(
      `SELECT g.* FROM pieces p JOIN generations g ON g.n = p.generation WHERE p.paper = ? AND p.id = ?`,
      PIECE,
      pieceOf,
    ),
    revisions: all('SELECT * FROM generations WHERE paper = ? AND piece = ? ORDER BY revision', PIECE, pieceOf),
    generations,
    receiptsOnAir: each(
      `SELECT g.piece, g.receipt, p.generation = g.n AS is_newest FROM generations g JOIN pieces p ON p.id = g.piece
       WHERE g.paper = ? AND p.state = 'on_air' ORDER BY g.seq`,
      { piece: text, receipt: text, is_newest: flag },
    ),
    *slugs(paper) {
      let last = { category: '', published_at: Number.MIN_SAFE_INTEGER, id: '' };
      for (;;) {
        const page = onAir(paper, last.category, last.published_at, last.id);
        yield* page;
        const end = page.at(-1);
        if (end === undefined) break;
        last = end;
      }
      let after = '';
      for (;;) {
        const page = offAir(paper, after);
        yield* page;
        const end = page.at(-1);
        if (end === undefined) return;
        after = end.slug;
      }
    },
    latest(paper, { limit, section, persona, since = Number.MIN_SAFE_INTEGER, after }) {
      if (after !== undefined) return latest.after(paper, since, after.published_at, after.id, limit);
      if (section !== undefined) return latest.section(paper, section, since, limit);
      if (persona !== undefined) return latest.persona(paper, persona, since, limit);
      return latest.all(paper, since, limit);
    },
    sectionPage(paper, section, page, size) {
      const total = sectionCount(paper, section);
      const start = (page - 1) * size;
      const length = Math.min(size, total - start);
      if (length <= 0) return [];
      // Scan from the nearer end, so that the newest page of a long section is fast.
      const fromEnd = total - start - length;
      return fromEnd < start
        ? sectionPageBack(paper, section, length, fromEnd)
        : sectionPage(paper, section, length, start);
    },
    sectionCount,
    allScheduled: all(
      `SELECT p.slug, p.category, g.cited_facts ${FROM}
       WHERE p.paper = ? AND p.state = 'scheduled' ORDER BY p.scheduled_at, p.id`,
      { slug: text, category: text, cited_facts: STORY.cited_facts },
    ),
    // Count from the nearer end of the section.
    sectionRank(paper, section, at) {
      const total = sectionCount(paper, section);
      const half = Math.ceil(total / 2);
      const newer = countNewer(paper, at, half + 1, section);
      if (newer > half) return sectionRank(paper, section, at.published_at, at.id) ?? 0;
      return total - newer - (isInSection(at.id, section) === null ? 0 : 1);
    },
    newer: countNewer,
    earlier: (paper, row, limit) => earlier(paper, row.category, row.published_at, row.id, limit),
    laterIds: (paper, section, at, limit) => laterIds(paper, section, at.published_at, at.id, limit),
    days: (paper, range = {}) => days(paper, range.from ?? '', range.until ?? '9999-12-31', range.limit ?? -1),
    day: (paper, day) => between(paper, dayStart(day), dayStart(day) + DAY),
    months: all(
      "SELECT name AS month, count FROM tallies WHERE paper = ? AND what = 'month' AND count > 0 ORDER BY name",
      { month: text, count: integer },
    ),
    month: (paper, name) => month(paper, dayStart(`${name}-01`), nextMonth(name)),
    corrections: corrected,
    hasCorrections: (paper, id) => corrections(paper, id).length > 0,

    setGeneration({ paper, piece }) {
      insert(piece.id, paper, piece.slug, piece.revision, piece.id, piece.revision, piece.category, piece.persona);
    },
    datedAfter: all(
      `SELECT id FROM pieces WHERE paper = ?1 AND (published_at > ?2 OR updated_at > ?2 OR withdrawn_at > ?2) ORDER BY id`,
      text,
    ),
    airedAhead: all(
      `SELECT p.id FROM pieces p JOIN airings a ON a.n = (SELECT max(n) FROM airings WHERE piece = p.id)
         JOIN entries e ON e.n = a.n
       WHERE p.paper = ?1 AND p.state = 'on_air' AND a.on_air_at > e.at AND a.on_air_at > ?2 ORDER BY p.id`,
      text,
    ),
    state: one(
      'SELECT state, published_at, updated_at, scheduled_at, withdrawn_at, reason, headline_withheld FROM pieces WHERE id = ?',
      {
        state,
        published_at: LIST.published_at,
        updated_at: LIST.updated_at,
        scheduled_at: orNull(integer),
        withdrawn_at: orNull(integer),
        reason: orNull(text),
        headline_withheld: flag,
      },
    ),
    setState(piece, s) {
      const withheld = s.headline_withheld ? 1 : 0;
      setStanding(s.state, s.published_at, s.updated_at, s.scheduled_at, s.withdrawn_at, s.reason, withheld, piece);
    },
    remove: run('DELETE FROM pieces WHERE id = ?'),
    scheduled: all(
      `SELECT paper, id AS piece, scheduled_at AS at FROM pieces WHERE state = 'scheduled' AND scheduled_at <= ?
       ORDER BY scheduled_at, id`,
      { paper: text, piece: text, at: integer },
    ),
    nextScheduled: one("SELECT min(scheduled_at) FROM pieces WHERE state = 'scheduled'", orNull(integer)),
  };
}
