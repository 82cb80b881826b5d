import type { Archive, ListKind, PieceList } from '../../desk/archive.ts';
import { inReadingOrder } from '../../desk/papers/page.ts';
import { UNPLACED } from '../../desk/placement.ts';
import type { Generation } from '../../proof/chain.ts';
import { DAY, isoTime, nextMonthAt } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { columnsOf, type Db, flag, inBatches, integer, oneOf, type Read, sql, text } from '../../shared/sql/sql.ts';
import type { missingMediaTable } from './desk.ts';
import type { EvidenceTables } from './evidence.ts';
import type { FactTables } from './facts.ts';
import { type LedgerTables, PIECE, pieceOf } from './ledger-entries.ts';
import type { linkCardTable } from './link-cards.ts';
import type { PaperTable } from './papers.ts';
import { FROM, LIST, NEWEST_FIRST, REVIEW, ROW, rowOf, STATE } from './pieces.ts';
import type { scriptLetterTable } from './script-letters.ts';
import type { SearchTables } from './search.ts';

const { prose, cited_facts, provenance, aliases } = PIECE;
const TEXT = { prose, cited_facts, content_hash: text, aliases };
const STORY = { ...LIST, ...STATE, ...REVIEW, ...TEXT };

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

/** When a generation `g` with entry `e` was made: at most the time of a later correction of the clock. */
const REVISED_AT = `min(coalesce(g.revised_at, e.at), coalesce(
  (SELECT min(x.at) FROM records r JOIN entries x ON x.n = r.n WHERE r.paper = g.paper AND r.kind = 'clock' AND r.n > g.n),
  ${Number.MAX_SAFE_INTEGER}))`;

interface ArchiveTables {
  papers: PaperTable;
  entries: LedgerTables;
  search: SearchTables;
  facts: FactTables;
  evidence: EvidenceTables;
  missingMedia: ReturnType<typeof missingMediaTable>;
  linkCards: ReturnType<typeof linkCardTable>;
  scriptLetters: ReturnType<typeof scriptLetterTable>;
  logProof: Archive['logProof'];
  isLogCosigned: Archive['isLogCosigned'];
}

/** The earlier addresses of a paper, and their pieces. */
const OF_ALIAS = 'FROM piece_aliases a JOIN pieces p ON p.id = a.piece WHERE a.paper = ?';

/** The archive of each paper, read through indexes that contain only pieces on air. */
export function archives(db: Db, tables: ArchiveTables): (paper: string) => Archive {
  const { papers, entries, search, facts, evidence, missingMedia, linkCards, scriptLetters, logProof, isLogCosigned } =
    tables;
  const { one, has, number, all, each } = sql(db);
  const corrections = all(
    `SELECT ${REVISED_AT} AS at, g.revision, g.correction AS note
     FROM generations g JOIN entries e ON e.n = g.n
     WHERE g.paper = ? AND g.piece = ? AND g.correction IS NOT NULL ORDER BY g.revision`,
    { at: integer, revision: integer, note: text },
  );
  const story = (by: string) => {
    const stored = one(
      `SELECT ${ROW}, ${columnsOf({ ...STATE, ...REVIEW }, 'p')}, ${columnsOf(TEXT, 'g')} ${FROM} WHERE p.paper = ? AND p.${by} = ?`,
      STORY,
    );
    return (paper: string, name: string) => {
      const row = stored(paper, name);
      if (row === null) return null;
      const { id, revision, credit, authors, written_by } = row;
      const citations = row.cited_facts.some(({ claim_key }) => claim_key !== null) ? facts.citations(paper, id) : [];
      const found = evidence.nextEvidenceSeq(paper) > 1 ? evidence.cited(paper, id) : [];
      const made = revision > 1 ? corrections(paper, id) : [];
      return { ...rowOf(row), credit, authors, written_by, citations, evidence: found, corrections: made };
    };
  };
  const list = (where: string, limit = 'LIMIT ?') =>
    all(
      `SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.state = 'on_air' AND ${where} ${NEWEST_FIRST} ${limit}`,
      LIST,
      rowOf,
    );
  const latest = {
    all: list('p.published_at >= ?'),
    after: list('p.published_at >= ? AND (p.published_at, p.id) < (?, ?)'),
    persona: list('p.persona = ? AND p.published_at >= ?'),
  };
  const between = list('p.published_at >= ? AND p.published_at < ?');
  const personaCounts = one(
    'SELECT pieces, corrections, withdrawn FROM persona_counts WHERE paper = ? AND persona = ?',
    { pieces: integer, corrections: integer, withdrawn: integer },
  );
  const counted = number('SELECT count FROM tallies WHERE paper = ? AND what = ? AND name = ?');
  const newerOfAll = number(
    `SELECT count(*) FROM (SELECT 1 FROM pieces WHERE paper = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) LIMIT ?)`,
  );
  const laterIds = all(
    `SELECT id FROM pieces WHERE paper = ? AND category = ? AND state = 'on_air'
       AND (published_at, id) > (?, ?) ORDER BY published_at, id LIMIT ?`,
    text,
  );
  const NAME = `(SELECT name FROM piece_tags t WHERE t.paper = c.paper AND t.tag = c.tag
    ORDER BY published_at DESC, piece DESC LIMIT 1)`;
  const COUNTED = `SELECT tag AS slug, ${NAME} AS name, count FROM tag_counts c`;
  const TAG = { slug: text, name: text, count: integer };
  const tag = one(`${COUNTED} WHERE paper = ? AND tag = ?`, TAG);
  const mostTags = all(`${COUNTED} WHERE paper = ? ORDER BY count DESC, tag DESC LIMIT ?`, TAG);
  const mostTagsAfter = all(
    `${COUNTED} WHERE paper = ? AND (count, tag) < (?, ?) ORDER BY count DESC, tag DESC LIMIT ?`,
    TAG,
  );
  const lists: Record<ListKind, (paper: string, name: string) => PieceList> = {
    section: countedList(
      db,
      { rows: "pieces WHERE paper = ? AND category = ? AND state = 'on_air'", piece: 'id' },
      (paper, section) => counted(paper, 'section', section),
    ),
    tag: countedList(
      db,
      { rows: 'piece_tags WHERE paper = ? AND tag = ?', piece: 'piece' },
      (paper, slug) => tag(paper, slug)?.count ?? 0,
    ),
  };
  const days = all(
    `SELECT name AS day, count FROM tallies WHERE paper = ? AND what = 'day' AND count > 0
       AND name BETWEEN ? AND ? ORDER BY name DESC LIMIT ?`,
    { day: text, count: integer },
  );
  const month = all(
    `SELECT slug, updated_at FROM pieces WHERE paper = ? AND state = 'on_air' AND published_at >= ? AND published_at < ?
       ORDER BY published_at, id`,
    { slug: text, updated_at: integer },
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

  /** Members of an archive that take the paper first, then only their own parameters. */
  const ofPapers = {
    persona: papers.persona,
    casts: papers.casts,
    cast: papers.cast,
    linkCard: linkCards.of,
    linkPicture: linkCards.picture,
    linkPictures: linkCards.pictures,
    scriptLetters: scriptLetters.of,
    page: papers.page,
    storyById: story('id'),
    storyBySlug: story('slug'),
    hasArchived: has(
      `SELECT 1 FROM generations g JOIN pieces p ON p.id = g.piece
       WHERE g.paper = ? AND g.provenance = 'archive' AND p.published_at IS NOT NULL`,
    ),
    hasSlug: has('SELECT 1 FROM pieces WHERE paper = ? AND slug = ?'),
    aliasOwner: one(`SELECT p.slug ${OF_ALIAS} AND a.alias = ?`, text),
    redirect: one(`SELECT p.slug ${OF_ALIAS} AND a.alias = ? AND p.published_at IS NOT NULL`, text),
    redirects: all(`SELECT a.alias, p.slug ${OF_ALIAS} AND p.published_at IS NOT NULL ORDER BY a.alias`, {
      alias: text,
      slug: text,
    }),
    aliasesOf: all('SELECT alias FROM piece_aliases WHERE paper = ? AND piece = ? ORDER BY alias', text),
    piece: one(`SELECT g.* ${FROM} WHERE p.paper = ? AND p.id = ?`, PIECE, pieceOf),
    revisions: all('SELECT * FROM generations WHERE paper = ? AND piece = ? ORDER BY revision', PIECE, pieceOf),
    generations: all(
      `SELECT g.revision, g.seq, g.content_hash, g.receipt_hash, e.at, g.kid, g.receipt
       FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? AND g.piece = ? ORDER BY g.revision`,
      GENERATION,
      generationOf,
    ),
    receiptsOnAir: each(
      `SELECT g.piece, g.receipt, p.generation = g.n AS is_newest FROM generations g JOIN pieces p ON p.id = g.piece
       WHERE g.paper = ? AND p.state = 'on_air' ORDER BY g.seq`,
      { piece: text, receipt: text, is_newest: flag },
    ),
    reviewNotes: entries.reviewNotes,
    row: one(`SELECT ${ROW} ${FROM} WHERE p.paper = ? AND p.id = ?`, LIST, rowOf),
    search: search.search,
    fact: facts.fact,
    factVersions: facts.factVersions,
    facts: facts.facts,
    hasFacts: facts.hasFacts,
    factCount: facts.factCount,
    factRanks: facts.factRanks,
    factsFrom: facts.factsFrom,
    correctedFacts: facts.correctedFacts,
    outdatedFacts: facts.outdatedFacts,
    factSources: facts.factSources,
    factsLike: facts.factsLike,
    citations: facts.citations,
    quotedFacts: evidence.quotedFacts,
    evidenceNotesOf: evidence.evidenceNotesOf,
    factEvidence: evidence.factEvidence,
    factsToRevise: evidence.factsToRevise,
    showsText: evidence.showsText,
    showsArchive: evidence.showsArchive,
    shownTexts: evidence.shownTexts,
    textsOf: evidence.textsOf,
    citedBy: facts.citedBy,
    citingOnAir: facts.citingOnAir,
    factReceiptsOf: facts.factReceiptsOf,
    factReceiptsOnAir: facts.factReceiptsOnAir,
    tag,
    scheduled: all(
      `SELECT p.slug, p.category, g.cited_facts, g.provenance ${FROM}
       WHERE p.paper = ? AND p.state = 'scheduled' ORDER BY p.scheduled_at, p.id`,
      { slug: text, category: text, cited_facts, provenance },
    ),
    months: all(
      "SELECT name AS month, count FROM tallies WHERE paper = ? AND what = 'month' AND count > 0 ORDER BY name",
      { month: text, count: integer },
    ),
    corrections: all(
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
    ),
  };

  return (paper) => {
    return {
      ...bound(ofPapers, paper),
      paper() {
        const record = papers.paper(paper);
        if (record === null) throw new Fault('not_found', `there is no paper ${paper}`);
        return record;
      },
      masthead: () => papers.personas(paper).filter(({ active }) => active),
      personaCounts: (slug) => personaCounts(paper, slug) ?? { pieces: 0, corrections: 0, withdrawn: 0 },
      personaSlugs: () => papers.personas(paper).map(({ slug }) => slug),
      mediaPaths: () => papers.allMedia(paper).map(({ path }) => path),
      placement: () => papers.placement(paper) ?? UNPLACED,
      media(path) {
        const found = papers.media(paper, path);
        return found === null || !missingMedia.has(found.digest) ? found : { ...found, missing: true };
      },
      pages: () => inReadingOrder(papers.pages(paper)),
      keys: () => entries.verifyingKeys('desk'),
      clockNotes: () => entries.clockNotes('desk', paper),
      logProof,
      isLogCosigned,
      *slugs() {
        const first = ['', Number.MIN_SAFE_INTEGER, ''];
        yield* inBatches(
          (...after) => onAir(paper, ...after),
          first,
          ({ category, published_at, id }) => [category, published_at, id],
        );
        yield* inBatches(
          (after) => offAir(paper, after),
          [''],
          ({ slug }) => [slug],
        );
      },
      list: (kind, name) => lists[kind](paper, name),
      latest({ limit, persona, since = Number.MIN_SAFE_INTEGER, after }) {
        if (after !== undefined) return latest.after(paper, since, after.published_at, after.id, limit);
        if (persona !== undefined) return latest.persona(paper, persona, since, limit);
        return latest.all(paper, since, limit);
      },
      newer: ({ published_at, id }, cap) => newerOfAll(paper, published_at, id, cap),
      laterIds: (section, at, limit) => laterIds(paper, section, at.published_at, at.id, limit),
      tags: ({ limit, after }) =>
        after === undefined ? mostTags(paper, limit) : mostTagsAfter(paper, after.count, after.slug, limit),
      days: ({ from = '', until = '9999-12-31', limit = -1 } = {}) => days(paper, from, until, limit),
      day: (day, limit = -1) => between(paper, Date.parse(day), Date.parse(day) + DAY, limit),
      month(name) {
        const start = Date.parse(`${name}-01`);
        return month(paper, start, nextMonthAt(start));
      },
      hasCorrections: (id) => corrections(paper, id).length > 0,
    };
  };
}

/** The types of functions without their first parameter. */
type Bound<F> = {
  [K in keyof F]: F[K] extends (paper: string, ...rest: infer R) => infer T ? (...rest: R) => T : never;
};

/** Binds the paper, the first parameter of all these functions. */
function bound<F extends Record<string, (paper: string, ...rest: never[]) => unknown>>(of: F, paper: string) {
  return Object.fromEntries(Object.entries(of).map(([name, read]) => [name, read.bind(null, paper)])) as Bound<F>;
}

/**
 * Long lists whose lengths are stored. Reads and counts from the nearer end, so that the newest pages are fast. `rows`
 * is a table with a condition on the paper and the list's name, and `piece` is its column of ids.
 */
function countedList(
  db: Db,
  { rows, piece }: { rows: string; piece: string },
  count: (paper: string, name: string) => number,
) {
  const { has, number, all } = sql(db);
  const position = `(published_at, ${piece})`;
  // The inner query scans only the index, and only the rows of the page are joined.
  const select = (narrow: string) =>
    all(
      `SELECT ${ROW} FROM (SELECT ${piece} AS id FROM ${rows} ${narrow}) page
       JOIN pieces p ON p.id = page.id JOIN generations g ON g.n = p.generation ${NEWEST_FIRST}`,
      LIST,
      rowOf,
    );
  const NEWEST = `ORDER BY published_at DESC, ${piece} DESC LIMIT ?`;
  const fromNewest = select(`${NEWEST} OFFSET ?`);
  const fromOldest = select(`ORDER BY published_at, ${piece} LIMIT ? OFFSET ?`);
  const earlier = select(`AND ${position} < (?, ?) ${NEWEST}`);
  const older = number(`SELECT count(*) FROM ${rows} AND ${position} < (?, ?)`);
  const later = number(`SELECT count(*) FROM (SELECT 1 FROM ${rows} AND ${position} > (?, ?) LIMIT ?)`);
  const holds = has(`SELECT 1 FROM ${rows} AND ${position} = (?, ?)`);
  return (paper: string, name: string): PieceList => ({
    count: () => count(paper, name),
    newest: (limit, before) =>
      before === undefined
        ? fromNewest(paper, name, limit, 0)
        : earlier(paper, name, before.published_at, before.id, limit),
    page(number, size) {
      const total = count(paper, name);
      const start = (number - 1) * size;
      const length = Math.min(size, total - start);
      if (length <= 0) return [];
      const fromEnd = total - start - length;
      return fromEnd < start ? fromNewest(paper, name, length, fromEnd) : fromOldest(paper, name, length, start);
    },
    rank({ published_at, id }) {
      const total = count(paper, name);
      const half = Math.ceil(total / 2);
      const newer = later(paper, name, published_at, id, half + 1);
      if (newer > half) return older(paper, name, published_at, id);
      return total - newer - (holds(paper, name, published_at, id) ? 1 : 0);
    },
    newer: ({ published_at, id }, cap) => later(paper, name, published_at, id, cap),
  });
}
