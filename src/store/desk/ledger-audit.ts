import type { Reviewed } from '../../desk/archive.ts';
import { PaperBody } from '../../desk/papers/paper.ts';
import { NORMALIZER_VERSION } from '../../desk/search.ts';
import { columnsOf, type Db, inBatches, integer, json, orNull, sql, text } from '../../shared/sql/sql.ts';
import { PIECE_STATE, REVIEW } from './pieces.ts';

const KINDS = [
  ['key', 'door_keys'],
  ['retirement', 'retirements'],
  ['record', 'records'],
  ['generation', 'generations'],
  ['airing', 'airings'],
  ['withdrawal', 'withdrawals'],
] as const;

/**
 * Cross-checks between the ledger's tables and those derived from them. Each query returns one text per fault. Faults
 * that only a replay finds are not checked here.
 */
const CHECKS: string[] = [
  // Entries are numbered from 1 without gaps, because a rollback also rolls back the number.
  `SELECT 'entry ' || (n - 1) || ' is missing' FROM entries e
     WHERE n > 1 AND NOT EXISTS (SELECT 1 FROM entries WHERE n = e.n - 1)`,
  `SELECT 'entries after ' || coalesce(max(n), 0) || ' are missing: ' || seq || ' were made'
     FROM entries, sqlite_sequence WHERE name = 'entries' GROUP BY seq HAVING coalesce(max(n), 0) <> seq`,
  ...KINDS.flatMap(([kind, table]) => [
    `SELECT 'entry ' || n || ' has no row in ${table}' FROM entries e
       WHERE kind = '${kind}' AND NOT EXISTS (SELECT 1 FROM ${table} WHERE n = e.n)`,
    `SELECT '${table} has a row ' || n || ' that no entry of this kind names' FROM ${table} t
       WHERE NOT EXISTS (SELECT 1 FROM entries WHERE n = t.n AND kind = '${kind}')`,
  ]),
  `SELECT 'piece ' || p.id || ' shows a generation that is not its revision ' || p.revision
     FROM pieces p LEFT JOIN generations g ON g.n = p.generation
     WHERE g.piece IS NOT p.id OR g.revision IS NOT p.revision OR g.paper IS NOT p.paper`,
  `WITH counted AS (
       SELECT paper, 'section' AS what, category AS name, count(*) AS count FROM pieces WHERE state = 'on_air' GROUP BY 1, 3
       UNION ALL
       SELECT paper, 'day', date(published_at / 1000, 'unixepoch'), count(*) FROM pieces WHERE state = 'on_air' GROUP BY 1, 3
       UNION ALL
       SELECT paper, 'month', strftime('%Y-%m', published_at / 1000, 'unixepoch'), count(*)
       FROM pieces WHERE state = 'on_air' GROUP BY 1, 3),
     kept AS (SELECT * FROM tallies WHERE count <> 0)
   SELECT 'the count of ' || what || ' ' || name || ' of ' || paper || ' is not that of its pieces on air' FROM (
     SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)
     UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted)) GROUP BY paper, what, name`,
  `WITH counted AS (
       SELECT paper, persona, sum(pieces), sum(corrections), sum(withdrawn) FROM persona_shares
       WHERE pieces OR withdrawn GROUP BY 1, 2),
     kept AS (SELECT * FROM persona_counts WHERE pieces <> 0 OR corrections <> 0 OR withdrawn <> 0)
   SELECT 'the record of the persona ' || persona || ' of ' || paper || ' is not that of its pieces' FROM (
     SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)
     UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted)) GROUP BY paper, persona`,
  `WITH counted AS (SELECT paper, tag, count(*) AS count FROM piece_tags GROUP BY 1, 2)
   SELECT 'the count of the tag ' || tag || ' of ' || paper || ' is not that of its pieces' FROM (
     SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM tag_counts)
     UNION SELECT * FROM (SELECT * FROM tag_counts EXCEPT SELECT * FROM counted)) GROUP BY paper, tag`,
  `WITH named AS (
       SELECT p.paper, p.published_at, p.id AS piece, j.value AS name FROM pieces p JOIN generations g ON g.n = p.generation,
         json_each(g.tags) j WHERE p.state = 'on_air'),
     kept AS (SELECT paper, published_at, piece, name FROM piece_tags)
   SELECT 'the tags of piece ' || piece || ' are not those of its newest revision on air' FROM (
     SELECT * FROM (SELECT * FROM named EXCEPT SELECT * FROM kept)
     UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM named)) GROUP BY piece`,
  `WITH named AS (
       SELECT p.paper, p.id AS piece, j.value AS alias FROM pieces p JOIN generations g ON g.n = p.generation, json_each(g.aliases) j),
     kept AS (SELECT paper, piece, alias FROM piece_aliases)
   SELECT 'the earlier addresses of piece ' || piece || ' are not those of its newest revision' FROM (
     SELECT * FROM (SELECT * FROM named EXCEPT SELECT * FROM kept)
     UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM named)) GROUP BY piece`,
  `SELECT 'the record does not have the newest version of the fact ' || v.name || ' of ' || v.paper FROM (
     SELECT r.paper, r.name, max(r.n) AS n, count(*) AS version, max(iif(r.body ->> '$.status' = 'corrected', r.body ->> '$.version', 0)) AS corrected,
       max(r.body ->> '$.status' <> 'standing') AS has_changed
     FROM records r WHERE r.kind = 'fact' GROUP BY 1, 2) v
   JOIN records r ON r.n = v.n LEFT JOIN facts f ON f.paper = v.paper AND f.claim_key = v.name
   WHERE f.version IS NOT v.version OR f.corrected IS NOT v.corrected OR f.status IS NOT r.body ->> '$.status'
     OR f.statement IS NOT r.body ->> '$.statement' OR f.source IS NOT r.body ->> '$.source'
     OR f.instrument IS NOT r.body ->> '$.instrument' OR f.quote IS NOT r.body ->> '$.quote' OR f.note IS NOT r.body ->> '$.note'
     OR (f.changed_at IS NOT NULL) <> v.has_changed
     OR NOT EXISTS (SELECT 1 FROM fact_words_docsize WHERE id = f.id)`,
  `SELECT 'the record has the fact ' || claim_key || ' of ' || paper || ', and the ledger does not' FROM facts f
     WHERE NOT EXISTS (SELECT 1 FROM records WHERE paper = f.paper AND kind = 'fact' AND name = f.claim_key)`,
  `SELECT 'the number of the newest fact of ' || slug || ' is not that of its ledger' FROM papers p
     WHERE fact_seq <> (SELECT count(*) FROM records WHERE paper = p.slug AND kind = 'fact')`,
  `WITH cited AS (
       SELECT DISTINCT p.paper, j.value ->> '$.claim_key' AS claim_key, p.id AS piece, p.state = 'on_air' AS on_air, g.n
       FROM pieces p JOIN generations g ON g.n = p.generation, json_each(g.cited_facts) j
       WHERE j.value ->> '$.claim_key' IS NOT NULL),
     counted AS (
       SELECT paper, claim_key, piece, on_air, (SELECT count(*) FROM records r
         WHERE r.paper = c.paper AND r.kind = 'fact' AND r.name = c.claim_key AND r.n < c.n) AS version FROM cited c),
     wanted AS (SELECT paper, claim_key, piece, version, on_air FROM counted WHERE version > 0),
     kept AS (SELECT paper, claim_key, piece, version, on_air FROM fact_citations)
   SELECT 'the facts that piece ' || piece || ' cites are not those of its newest revision' FROM (
     SELECT * FROM (SELECT * FROM wanted EXCEPT SELECT * FROM kept)
     UNION SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM wanted)) GROUP BY piece`,
  `SELECT 'the count of pieces on air that cite the fact ' || claim_key || ' of ' || paper || ' is wrong' FROM facts f
     WHERE cited <> (SELECT count(*) FROM fact_citations c WHERE c.paper = f.paper AND c.claim_key = f.claim_key AND c.on_air = 1)`,
  `SELECT 'the search index was made by other rules, or is not whole; start the server once and it is made again'
     FROM search_state WHERE folding <> ${NORMALIZER_VERSION} OR filled <> 1`,
  `SELECT 'the search index does not have piece ' || p.id || ' as it is shown' FROM pieces p
     LEFT JOIN searched s ON s.piece = p.id
     WHERE p.state = 'on_air' AND (s.generation IS NOT p.generation
       OR NOT EXISTS (SELECT 1 FROM search_docsize WHERE id = s.place))`,
  `SELECT 'the search index has piece ' || s.piece || ', which is not on air' FROM searched s
     LEFT JOIN pieces p ON p.id = s.piece WHERE p.state IS NOT 'on_air'`,
  `SELECT 'the search index has words at place ' || id || ', where no piece is' FROM search_docsize d
     WHERE NOT EXISTS (SELECT 1 FROM searched WHERE place = d.id)`,
];

/** The most faults listed per check. */
const EACH_MAX = 100;

/** Contradictions between the tables of the ledger and of the archive; empty when they agree. */
export function ledgerFaults(db: Db): string[] {
  const { all } = sql(db);
  return CHECKS.flatMap((check) => all(`SELECT * FROM (${check}) LIMIT ${EACH_MAX}`, text)()).map(
    (fault) => `ledger: ${fault}`,
  );
}

const PIECE = {
  id: text,
  paper: text,
  slug: text,
  category: text,
  persona: text,
  revision: integer,
  awaits_review: REVIEW.awaits_review,
  awaits_evidence: REVIEW.awaits_evidence,
  reviewed_by: orNull(json<Reviewed>()),
  ...PIECE_STATE,
};
const PAPER = {
  slug: text,
  body: json<unknown>(),
  edition: integer,
  changed_at: integer,
  seq: integer,
  removed_at: orNull(integer),
};

/** The rows of the archive, to be compared with a replay of the ledger. */
export function archiveRows(db: Db) {
  const { number, all } = sql(db);
  const pieces = all(`SELECT ${columnsOf(PIECE)} FROM pieces WHERE id > ? ORDER BY id LIMIT 1000`, PIECE);
  return {
    archivedPapers: all(
      `SELECT ${columnsOf(PAPER)} FROM papers`,
      PAPER,
      // A body stored before a setting existed gets that setting's default.
      ({ body, ...rest }) => ({ ...rest, body: JSON.parse(JSON.stringify(PaperBody.parse(body))) as unknown }),
    ),
    /** Every piece, read in batches to bound memory. */
    archivedPieces: () => inBatches(pieces, [''], ({ id }) => [id]),
    generationCount: number('SELECT count(*) FROM generations'),
  };
}
