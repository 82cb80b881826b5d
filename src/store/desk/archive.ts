import type { Archive, Row, Story } from '../../desk/archive.ts';
import { inReadingOrder } from '../../desk/papers/page.ts';
import { UNPLACED } from '../../desk/placement.ts';
import type { Generation } from '../../proof/chain.ts';
import { DAY, isoTime, nextMonthAt } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { columnsOf, type Db, flag, inBatches, integer, oneOf, type Read, sql, text } from '../../shared/sql/sql.ts';
import type { missingMediaTable } from './desk.ts';
import { type LedgerTables, PIECE, pieceOf } from './ledger-entries.ts';
import type { PaperTable } from './papers.ts';
import type { PieceTagTable } from './piece-tags.ts';
import { FROM, LIST, NEWEST_FIRST, ROW, rowOf, STATE } from './pieces.ts';
import type { SearchTables } from './search.ts';

const { prose, cited_facts } = PIECE;
const TEXT = { prose, cited_facts, content_hash: text };
const STORY = { ...LIST, ...STATE, ...TEXT };

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

function generationOf({ at, kid, receipt, ...row }: Read<typeof GENERATION>): Generation {
  return { ...row, filed_at: isoTime(at), kid, receipt };
}

/** When a generation `g` with its entry `e` was made: no later than a correction of the clock that came after it says. */
const REVISED_AT = `min(coalesce(g.revised_at, e.at), coalesce(
  (SELECT min(x.at) FROM records r JOIN entries x ON x.n = r.n WHERE r.paper = g.paper AND r.kind = 'clock' AND r.n > g.n),
  ${Number.MAX_SAFE_INTEGER}))`;

interface ArchiveTables {
  papers: PaperTable;
  pieceTags: PieceTagTable;
  entries: LedgerTables;
  search: SearchTables;
  missingMedia: ReturnType<typeof missingMediaTable>;
  logProof: Archive['logProof'];
  isLogCosigned: Archive['isLogCosigned'];
}

/** The archive of each paper, read through indexes that contain only pieces on air. */
export function archives(db: Db, tables: ArchiveTables): (paper: string) => Archive {
  const { papers, pieceTags, entries, search, missingMedia, logProof, isLogCosigned } = tables;
  const { one, has, number, all, each } = sql(db);
  const story = (by: string) =>
    one(
      `SELECT ${ROW}, ${columnsOf(STATE, 'p')}, ${columnsOf(TEXT, 'g')} ${FROM} WHERE p.paper = ? AND p.${by} = ?`,
      STORY,
    );
  const [byId, bySlug] = [story('id'), story('slug')];
  const hasSlug = has('SELECT 1 FROM pieces WHERE paper = ? AND slug = ?');
  const piece = one(`SELECT g.* ${FROM} WHERE p.paper = ? AND p.id = ?`, PIECE, pieceOf);
  const revisions = all('SELECT * FROM generations WHERE paper = ? AND piece = ? ORDER BY revision', PIECE, pieceOf);
  const generations = all(
    `SELECT g.revision, g.seq, g.content_hash, g.receipt_hash, e.at, g.kid, g.receipt
     FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? AND g.piece = ? ORDER BY g.revision`,
    GENERATION,
    generationOf,
  );
  const receiptsOnAir = each(
    `SELECT g.piece, g.receipt, p.generation = g.n AS is_newest FROM generations g JOIN pieces p ON p.id = g.piece
     WHERE g.paper = ? AND p.state = 'on_air' ORDER BY g.seq`,
    { piece: text, receipt: text, is_newest: flag },
  );
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
  const onAir = all(
    `SELECT id, slug, category, published_at FROM pieces WHERE paper = ? AND state = 'on_air'
       AND (category, published_at, id) > (?, ?, ?) ORDER BY category, published_at, id LIMIT 1000`,
    { id: text, slug: text, category: text, published_at: integer },
  );
  const offAir = all(
    `SELECT id, slug FROM pieces WHERE paper = ? AND state <> 'on_air' AND published_at IS NOT NULL AND slug > ?
     ORDER BY slug LIMIT 1000`,
    { id: text, slug: text },
  );
  const row = one(`SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.id = ?`, LIST, rowOf);
  const list = (where: string, limit = 'LIMIT ?') =>
    all(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND ${where} ${NEWEST_FIRST} ${limit}`,
      LIST,
      rowOf,
    );
  const latest = {
    all: list('p.published_at >= ?'),
    after: list('p.published_at >= ? AND (p.published_at, p.id) < (?, ?)'),
    section: list('p.category = ? AND p.published_at >= ?'),
    persona: list('p.persona = ? AND p.published_at >= ?'),
  };
  const earlier = list('p.category = ? AND (p.published_at, p.id) < (?, ?)');
  const between = list('p.published_at >= ? AND p.published_at < ?', '');
  // The inner query scans only the index, and only the rows of the page are joined.
  const sectionPage = (order: string) =>
    all(
      `SELECT ${ROW} FROM (SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
         ORDER BY ${order} LIMIT ? OFFSET ?) page
       JOIN pieces p ON p.id = page.id JOIN generations g ON g.n = p.generation ${NEWEST_FIRST}`,
      LIST,
      rowOf,
    );
  const [oldest, newest] = [sectionPage('published_at, id'), sectionPage('published_at DESC, id DESC')];
  const sectionRank = number(
    `SELECT count(*) FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) < (?, ?)`,
  );
  const newer = (where: string) =>
    number(
      `SELECT count(*) FROM (SELECT 1 FROM pieces WHERE paper = ? ${where} AND state = 'on_air'
         AND (published_at, id) > (?, ?) LIMIT ?)`,
    );
  const [newerOfAll, newerInSection] = [newer(''), newer('AND category = ?')];
  const laterIds = all(
    `SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) ORDER BY published_at, id LIMIT ?`,
    text,
  );
  const isInSection = has("SELECT 1 FROM pieces WHERE id = ? AND category = ? AND state = 'on_air'");
  const scheduled = all(
    `SELECT p.slug, p.category, g.cited_facts ${FROM}
     WHERE p.paper = ? AND p.state = 'scheduled' ORDER BY p.scheduled_at, p.id`,
    { slug: text, category: text, cited_facts },
  );
  const tally = number('SELECT count FROM tallies WHERE paper = ? AND what = ? AND name = ?');
  const days = all(
    `SELECT name AS day, count FROM tallies WHERE paper = ? AND what = 'day' AND count > 0
       AND name BETWEEN ? AND ? ORDER BY name DESC LIMIT ?`,
    { day: text, count: integer },
  );
  const months = all(
    "SELECT name AS month, count FROM tallies WHERE paper = ? AND what = 'month' AND count > 0 ORDER BY name",
    { month: text, count: integer },
  );
  const month = all(
    `SELECT slug, updated_at FROM pieces WHERE paper = ? AND state = 'on_air' AND published_at >= ? AND published_at < ?
       ORDER BY published_at, id`,
    { slug: text, updated_at: integer },
  );

  const storyOf = (paper: string, found: Read<typeof STORY> | null): Story | null => {
    if (found === null) return null;
    const { id, revision, credit, authors, written_by } = found;
    return { ...rowOf(found), credit, authors, written_by, corrections: revision > 1 ? corrections(paper, id) : [] };
  };

  return (paper) => {
    const archive: Archive = {
      paper() {
        const record = papers.paper(paper);
        if (record === null) throw new Fault('not_found', `there is no paper ${paper}`);
        return record;
      },
      masthead: () => papers.personas(paper).filter(({ active }) => active),
      persona: (slug) => papers.persona(paper, slug),
      personaSlugs: () => papers.personas(paper).map(({ slug }) => slug),
      mediaPaths: () => papers.allMedia(paper).map(({ path }) => path),
      casts: () => papers.casts(paper),
      cast: (day) => papers.cast(paper, day),
      placement: () => papers.placement(paper) ?? UNPLACED,
      media(path) {
        const found = papers.media(paper, path);
        return found === null || !missingMedia.has(found.digest) ? found : { ...found, missing: true };
      },
      pages: () => inReadingOrder(papers.pages(paper)),
      page: (slug) => papers.page(paper, slug),
      keys: () => entries.verifyingKeys('desk'),
      clockNotes: () => entries.clockNotes('desk', paper),
      logProof,
      isLogCosigned,

      storyById: (id) => storyOf(paper, byId(paper, id)),
      storyBySlug: (slug) => storyOf(paper, bySlug(paper, slug)),
      hasSlug: (slug) => hasSlug(paper, slug),
      piece: (id) => piece(paper, id),
      revisions: (id) => revisions(paper, id),
      generations: (id) => generations(paper, id),
      receiptsOnAir: () => receiptsOnAir(paper),
      *slugs() {
        const first = ['', Number.MIN_SAFE_INTEGER, ''];
        const shown = inBatches(
          (...after) => onAir(paper, ...after),
          first,
          ({ category, published_at, id }) => [category, published_at, id],
        );
        yield* shown;
        yield* inBatches(
          (after) => offAir(paper, after),
          [''],
          ({ slug }) => [slug],
        );
      },
      row: (id) => row(paper, id),
      latest(query) {
        const { limit, section, persona, tag, since = Number.MIN_SAFE_INTEGER, after } = query;
        if (tag !== undefined) return rows(pieceTags.tagged(paper, tag, query));
        if (after !== undefined) return latest.after(paper, since, after.published_at, after.id, limit);
        if (section !== undefined) return latest.section(paper, section, since, limit);
        if (persona !== undefined) return latest.persona(paper, persona, since, limit);
        return latest.all(paper, since, limit);
      },
      search: (terms, limit) => search.search(paper, terms, limit),
      sectionCount: (section) => tally(paper, 'section', section),
      sectionPage(section, page, size) {
        const total = archive.sectionCount(section);
        const start = (page - 1) * size;
        const length = Math.min(size, total - start);
        if (length <= 0) return [];
        // Scan from the nearer end, so that the newest page of a long section is fast.
        const fromEnd = total - start - length;
        return fromEnd < start ? newest(paper, section, length, fromEnd) : oldest(paper, section, length, start);
      },
      sectionRank(section, at) {
        // Count from the nearer end of the section.
        const total = archive.sectionCount(section);
        const half = Math.ceil(total / 2);
        const later = archive.newer(at, half + 1, section);
        if (later > half) return sectionRank(paper, section, at.published_at, at.id);
        return total - later - (isInSection(at.id, section) ? 1 : 0);
      },
      newer: (at, cap, section) =>
        section === undefined
          ? newerOfAll(paper, at.published_at, at.id, cap)
          : newerInSection(paper, section, at.published_at, at.id, cap),
      earlier: (from, limit) => earlier(paper, from.category, from.published_at, from.id, limit),
      laterIds: (section, at, limit) => laterIds(paper, section, at.published_at, at.id, limit),
      tag: (slug) => pieceTags.tag(paper, slug),
      tags: (page) => pieceTags.tags(paper, page),
      tagPage: (tag, page, size) => rows(pieceTags.tagPage(paper, tag, page, size)),
      tagRank: (tag, at) => pieceTags.tagRank(paper, tag, at),
      newerTagged: (tag, at, cap) => pieceTags.newerTagged(paper, tag, at, cap),
      scheduled: () => scheduled(paper),
      days: ({ from = '', until = '9999-12-31', limit = -1 } = {}) => days(paper, from, until, limit),
      day: (day) => between(paper, Date.parse(day), Date.parse(day) + DAY),
      months: () => months(paper),
      month(name) {
        const start = Date.parse(`${name}-01`);
        return month(paper, start, nextMonthAt(start));
      },
      corrections: (limit) => corrected(paper, limit),
      hasCorrections: (id) => corrections(paper, id).length > 0,
    };
    const rows = (ids: readonly string[]): Row[] => ids.map(archive.row).filter((found) => found !== null);
    return archive;
  };
}
