import {
  type ChangeRequest,
  type Position,
  type Reviewed,
  type Row,
  STATES,
  type StateName,
} from '../../desk/archive.ts';
import type { CitingPiece } from '../../desk/cited-facts.ts';
import { tagSlug } from '../../desk/door/tag.ts';
import { writerLine, writersOf } from '../../desk/door/writers.ts';
import type { GenerationEntry } from '../../desk/ledger-entry.ts';
import type { PieceState } from '../../desk/ledger-store.ts';
import { wordCount } from '../../desk/story.ts';
import {
  columnsOf,
  type Db,
  flag,
  integer,
  json,
  oneOf,
  orNull,
  type Read,
  sql,
  type Transact,
  text,
} from '../../shared/sql/sql.ts';
import { PIECE } from './ledger-entries.ts';

const state = oneOf(...STATES);

/** The columns of lists: from `pieces`, and from the newest generation. `Row` is the result. */
const OF_PIECE = {
  id: text,
  slug: text,
  category: text,
  persona: text,
  revision: integer,
  published_at: orNull(integer),
  updated_at: orNull(integer),
  word_count: orNull(integer),
  reviewed_by: orNull(json<Reviewed>()),
};
const {
  headline,
  dek,
  kind,
  byline_name,
  byline_title,
  language,
  image,
  credit,
  authors,
  written_by,
  provenance,
  tags,
} = PIECE;
const OF_GENERATION = {
  ...{ headline, dek, kind, byline_name, byline_title, language, image, credit, authors, written_by, provenance, tags },
};
export const LIST = { ...OF_PIECE, ...OF_GENERATION };
export const ROW = `${columnsOf(OF_PIECE, 'p')}, ${columnsOf(OF_GENERATION, 'g')}`;
export const FROM = 'FROM pieces p JOIN generations g ON g.n = p.generation';
export const NEWEST_FIRST = 'ORDER BY p.published_at DESC, p.id DESC';

/** Additional columns of the desk's lists. */
export const STATE = {
  state,
  scheduled_at: orNull(integer),
  withdrawn_at: orNull(integer),
  reason: orNull(text),
  headline_withheld: flag,
};

/** Additional columns about the review. */
export const REVIEW = { awaits_review: flag, awaits_evidence: flag, change_request: orNull(json<ChangeRequest>()) };

/** Whether and when a piece is on air. */
export const PIECE_STATE = { published_at: LIST.published_at, updated_at: LIST.updated_at, ...STATE };

/** Converts a row of a list to the desk's form. Further columns are kept. */
export function rowOf<Found extends Read<typeof LIST>>(found: Found) {
  const { byline_name, byline_title, credit, authors, written_by, ...row } = found;
  const writers = writersOf({ credit, authors, written_by });
  const { language, published_at, updated_at, word_count } = found;
  return {
    ...row,
    ...{ byline: { name: byline_name, title: byline_title }, writers, writer: writerLine(writers, language) },
    ...{ published_at: published_at ?? 0, updated_at: updated_at ?? 0, word_count: word_count ?? 0 },
  } satisfies Row;
}

/** Pieces of all papers in their current state. `Archive` has the reads of a single paper. */
export function pieceTables(db: Db) {
  const { run, one, has, all, each } = sql(db);
  const insert = run(
    `INSERT INTO pieces (id, paper, slug, state, revision, generation, category, persona, word_count, counted,
       awaits_review)
     SELECT ?1, ?2, ?3, 'draft', ?4, n, ?5, ?6, ?7, n, needs_review FROM generations WHERE piece = ?1 AND revision = ?4
     ON CONFLICT (id) DO UPDATE SET slug = excluded.slug, revision = excluded.revision, generation = excluded.generation,
       category = excluded.category, persona = excluded.persona, word_count = excluded.word_count,
       counted = excluded.counted, awaits_review = excluded.awaits_review, reviewed_by = NULL, change_request = NULL`,
  );
  const setState = run(
    `UPDATE pieces SET state = ?, published_at = ?, updated_at = ?, scheduled_at = ?, withdrawn_at = ?, reason = ?,
       headline_withheld = ? WHERE id = ?`,
  );
  const setReviewed = run('UPDATE pieces SET awaits_review = 0, change_request = NULL, reviewed_by = ? WHERE id = ?');
  const setChangeRequest = run('UPDATE pieces SET change_request = ? WHERE id = ?');
  const stateCounts = all('SELECT state, count(*) AS count FROM pieces WHERE paper = ? GROUP BY state', {
    state,
    count: integer,
  });
  const ofDesk = (which: string) =>
    all(
      `SELECT ${ROW}, ${columnsOf({ ...STATE, ...REVIEW }, 'p')} ${FROM}
       WHERE p.paper = ? AND ${which} AND p.id < ? ORDER BY p.id DESC LIMIT ?`,
      { ...LIST, ...STATE, ...REVIEW },
      rowOf,
    );
  const unaired = ofDesk("p.state <> 'on_air'");
  const awaiting = ofDesk('p.awaits_review = 1');
  const CITING = {
    id: text,
    slug: text,
    headline,
    revision: integer,
    published_at: integer,
    cited_facts: PIECE.cited_facts,
  };
  const citing = all(
    `SELECT p.id, p.slug, g.headline, p.revision, p.published_at, g.cited_facts ${FROM}
     WHERE p.paper = ? AND p.state = 'on_air' AND (p.published_at, p.id) < (?, ?) ${NEWEST_FIRST} LIMIT ?`,
    CITING,
  );
  const isAnyUncounted = has('SELECT 1 FROM pieces WHERE counted IS NOT generation');
  const uncounted = all(`SELECT p.id, g.prose, g.language ${FROM} WHERE p.counted IS NOT p.generation LIMIT 20`, {
    id: text,
    prose: text,
    language,
  });
  const setWordCount = run('UPDATE pieces SET word_count = ?, counted = generation WHERE id = ?');
  const remove = run('DELETE FROM pieces WHERE id = ?');
  const clearTags = run('DELETE FROM piece_tags WHERE piece = ?');
  const addTag = run('INSERT INTO piece_tags (paper, tag, published_at, piece, name) VALUES (?, ?, ?, ?, ?)');
  const clearAliases = run('DELETE FROM piece_aliases WHERE piece = ?');
  const addAlias = run('INSERT INTO piece_aliases (paper, alias, piece) VALUES (?, ?, ?)');
  const tagsOnAir = one(`SELECT p.paper, p.published_at, g.tags ${FROM} WHERE p.id = ? AND p.state = 'on_air'`, {
    paper: text,
    published_at: integer,
    tags,
  });

  return {
    /** Pieces on air with their cited facts, newest first, after a position. */
    citing: (paper: string, { published_at, id }: Position, limit: number): CitingPiece[] =>
      citing(paper, published_at, id, limit),
    /** Makes this generation the current one of its piece. */
    setGeneration({ paper, piece }: GenerationEntry): void {
      const { id, slug, revision, category, persona, prose, language, aliases } = piece;
      insert(id, paper, slug, revision, category, persona, wordCount(prose, language));
      clearAliases(id);
      for (const alias of aliases) addAlias(paper, alias, id);
    },
    /** Counts the words of pieces filed or revised by an earlier version. */
    fillWordCounts(transact: Transact): void {
      let goesOn = isAnyUncounted();
      while (goesOn) {
        goesOn = transact(() => {
          const batch = uncounted();
          for (const { id, prose, language } of batch) setWordCount(wordCount(prose, language), id);
          return batch.length > 0;
        });
      }
    },
    state: one(`SELECT ${columnsOf(PIECE_STATE)} FROM pieces WHERE id = ?`, PIECE_STATE),
    setState(piece: string, s: PieceState): void {
      const withheld = s.headline_withheld ? 1 : 0;
      setState(s.state, s.published_at, s.updated_at, s.scheduled_at, s.withdrawn_at, s.reason, withheld, piece);
    },
    /** Updates the tags under which a piece is listed on air, after its state or generation changed. */
    updateTags(piece: string): void {
      clearTags(piece);
      const onAir = tagsOnAir(piece);
      if (onAir === null) return;
      for (const name of onAir.tags) addTag(onAir.paper, tagSlug(name), onAir.published_at, piece, name);
    },
    /** The piece with this id or slug, in any state, and the hash of its newest receipt. */
    newestReceipt: one(
      `SELECT p.id, g.receipt_hash, p.headline_withheld ${FROM} WHERE p.paper = ?1 AND (p.id = ?2 OR p.slug = ?2) ORDER BY p.id = ?2 DESC`,
      { id: text, receipt_hash: text, headline_withheld: flag },
    ),
    /** Pieces that are not on air, newest first by id, because ids grow with the filing time. */
    unaired: (paper: string, { limit, after = '~' }: { limit: number; after?: string | undefined }) =>
      unaired(paper, after, limit),
    /** Pieces whose newest revision waits for a review, newest first by id. */
    awaitingReview: (paper: string, { limit, after = '~' }: { limit: number; after?: string | undefined }) =>
      awaiting(paper, after, limit),
    awaitsReview: has('SELECT 1 FROM pieces WHERE id = ? AND awaits_review = 1'),
    setReviewed(piece: string, reviewed: Reviewed): void {
      setReviewed(JSON.stringify(reviewed), piece);
    },
    setChangeRequest(piece: string, request: ChangeRequest): void {
      setChangeRequest(JSON.stringify(request), piece);
    },
    /**
     * The newest revisions with a picture, or with a media file in their prose. Read one at a time: two hundred proses
     * can take 200 MB.
     */
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
    /** Pieces that went on air, changed, or were reviewed or withdrawn after a time. */
    datedAfter: all(
      `SELECT id FROM pieces WHERE paper = ?1
         AND (published_at > ?2 OR updated_at > ?2 OR withdrawn_at > ?2 OR reviewed_by ->> '$.at' > ?2) ORDER BY id`,
      text,
    ),
    /** Lowers the times of a paper's reviews that are later than this. */
    capReviewed: run(
      `UPDATE pieces SET reviewed_by = json_set(reviewed_by, '$.at', ?2)
       WHERE paper = ?1 AND reviewed_by ->> '$.at' > ?2`,
    ),
    /** Pieces on air that were scheduled for a later time than this. */
    airedAhead: all(
      `SELECT p.id FROM pieces p JOIN airings a ON a.n = (SELECT max(n) FROM airings WHERE piece = p.id)
         JOIN entries e ON e.n = a.n
       WHERE p.paper = ?1 AND p.state = 'on_air' AND a.on_air_at > e.at AND a.on_air_at > ?2 ORDER BY p.id`,
      text,
    ),
    /** Removes a piece that is not on air from the lists. Only the writing desk does so; its store is not a ledger. */
    remove(piece: string): void {
      clearAliases(piece);
      remove(piece);
    },
    /** Scheduled pieces of all papers that are due at `until` (ms) and need no review or evidence any more, by time. */
    scheduled: all(
      `SELECT paper, id AS piece, scheduled_at AS at FROM pieces WHERE state = 'scheduled' AND awaits_review = 0 AND awaits_evidence = 0
         AND scheduled_at <= ?
       ORDER BY scheduled_at, id`,
      { paper: text, piece: text, at: integer },
    ),
    /** When the next scheduled piece of this kind is due, in ms; null when none is. */
    nextScheduled: one(
      "SELECT min(scheduled_at) FROM pieces WHERE state = 'scheduled' AND awaits_review = 0 AND awaits_evidence = 0",
      orNull(integer),
    ),
  };
}
