import type { Row } from '../desk/archive.ts';
import { orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { NEWEST_FIRST } from './pieces.ts';
import { sql } from './sql.ts';

/** Row ids per minute, which is the most pieces of all papers that may go on air in one minute. */
export const ROOM = 2 ** 20;

/** A search in one paper. */
export interface Question {
  paper: string;
  /** The FTS5 query (`matchExpression`). */
  match: string;
}

export interface Found {
  /** The paper's edition in which they were found; null when the paper does not exist. */
  edition: number | null;
  /** Ids of pieces on air, newest first. */
  ids: string[];
  /** Those of their rows that were wanted. */
  rows: Row[];
}

/** What one statement finds for a question. Row ids follow the order of the ids, unless they are out of order. */
interface Answer {
  edition: number | null;
  ids: string[];
  isOutOfOrder: boolean;
}

const [PAPER, MATCH] = ['q.value ->> 0', 'q.value ->> 1'];
/** The first row ids that match. */
const NEWEST = `SELECT rowid AS place FROM search WHERE search MATCH ${MATCH} ORDER BY rowid LIMIT ?2`;

/**
 * The answers to many questions (`questionsText`) in one text, which `answersIn` reads, with the most ids of each: a
 * statement for each question takes twice the processor time, and a row for each id several times as much. `ids` selects
 * the ids of `q` in order, and whether that order holds.
 */
function answers(ids: string): string {
  return `SELECT group_concat(answer, char(10, 10)) FROM (
    SELECT coalesce((SELECT edition FROM papers WHERE slug = ${PAPER} AND removed_at IS NULL), '') || (
      SELECT char(10) || coalesce(max(tangled), 0) || coalesce(char(10) || group_concat(id, char(10)), '') FROM (${ids})
    ) AS answer FROM json_each(?1) q)`;
}

/** What one state of the database answers, in the order of row ids. */
export const BY_ROW_ID = answers(`SELECT s.piece AS id, s.tangled FROM (${NEWEST}) f
  CROSS JOIN searched s ON s.place = f.place ORDER BY f.place`);

/** The same in the order of the times on air: of the first row ids and all others in the minute of the last one. */
export const BY_TIME = answers(`SELECT p.id, 0 AS tangled FROM (
    SELECT place FROM (${NEWEST}) UNION
    SELECT rowid FROM search, (SELECT max(place) / ${ROOM} * ${ROOM} AS start FROM (${NEWEST})) minute
      WHERE search MATCH ${MATCH} AND rowid >= minute.start AND rowid < minute.start + ${ROOM}) f
  JOIN searched s ON s.place = f.place JOIN pieces p ON p.id = s.piece ${NEWEST_FIRST} LIMIT ?2`);

/** The first parameter of both statements. */
export function questionsText(questions: readonly Question[]): string {
  return JSON.stringify(questions.map(({ paper, match }) => [paper, match]));
}

/** The answers of either statement, in the order of the questions. */
export function answersIn(text: string): Answer[] {
  return text.split('\n\n').map((answer) => {
    const [edition = '', tangled, ...ids] = answer.split('\n');
    return { edition: edition === '' ? null : Number(edition), ids, isOutOfOrder: tangled === '1' };
  });
}

/** Reads from the full-text index on this thread. */
export function searchReads(db: Db) {
  const { one } = sql(db);
  const byRowId = one(BY_ROW_ID, orNull(text));
  const byTime = one(BY_TIME, orNull(text));
  return {
    /** Ids of the pieces that match, newest first. */
    ids(question: Question, limit: number): string[] {
      const asked = questionsText([question]);
      const [quick] = answersIn(byRowId(asked, limit) ?? '');
      const [answer] = quick?.isOutOfOrder ? answersIn(byTime(asked, limit) ?? '') : [quick];
      return answer?.ids ?? [];
    },
  };
}
