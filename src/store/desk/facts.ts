import { STATES } from '../../desk/archive.ts';
import { publisherOf } from '../../desk/door/door.ts';
import type { Piece } from '../../desk/door/piece.ts';
import {
  type Citation,
  type Citing,
  type CitingRow,
  changeSince,
  type FactBody,
  type FactQuery,
  type FactRow,
  factOf,
  type SignedFact,
  type SourceRow,
  saidOf,
} from '../../desk/fact.ts';
import type { RecordEntry } from '../../desk/ledger-entry.ts';
import { allWords, factIndexText, matchExpression, searchText } from '../../desk/search.ts';
import { FACT_STATUSES } from '../../proof/fact-note.ts';
import { type Db, integer, json, oneOf, orNull, type Param, sql, text } from '../../shared/sql/sql.ts';

const status = oneOf(...FACT_STATUSES);

const FACT = {
  id: integer,
  claim_key: text,
  version: integer,
  statement: text,
  source: text,
  instrument: text,
  quote: orNull(text),
  status,
  note: orNull(text),
  signed_at: integer,
  cited: integer,
  changed_at: orNull(integer),
  changed_note: orNull(text),
};
const COLUMNS = Object.keys(FACT)
  .map((name) => `f.${name}`)
  .join(', ');

const CITING = {
  id: text,
  slug: text,
  headline: text,
  revision: integer,
  version: integer,
  state: oneOf(...STATES),
};

/** How many facts each search returns for comparison with an entry, and how many words it looks for. */
const COMPARED = 20;
const WORDS = 3;

export type FactTables = ReturnType<typeof factTables>;

/** The fact record: the newest version of each fact, and the pieces that cite it. */
export function factTables(db: Db) {
  const { run, one, number, has, all, each } = sql(db);
  const put = one(
    `INSERT INTO facts (paper, claim_key, version, corrected, status, statement, source, instrument, quote, note, signed_at, publisher,
       changed_at, changed_note)
     VALUES (?1, ?2, ?3, iif(?4 = 'corrected', ?3, 0), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
       iif(?4 = 'standing', NULL, ?10), iif(?4 = 'standing', NULL, ?9))
     ON CONFLICT (paper, claim_key) DO UPDATE SET version = ?3, corrected = iif(?4 = 'corrected', ?3, corrected),
       status = ?4, statement = ?5, source = ?6, instrument = ?7, quote = ?8, note = ?9, signed_at = ?10, publisher = ?11,
       changed_at = iif(?4 = 'standing' AND status <> 'retracted', changed_at, ?10),
       changed_note = iif(?4 = 'standing' AND status <> 'retracted', changed_note, ?9)
     RETURNING id`,
    integer,
  );
  const seq = number('SELECT fact_seq FROM papers WHERE slug = ?');
  const takeSeq = run('UPDATE papers SET fact_seq = ? WHERE slug = ?');
  const cap = run(
    `UPDATE facts SET signed_at = min(signed_at, ?2), changed_at = min(changed_at, ?2) WHERE paper = ?1 AND signed_at > ?2`,
  );
  const signedAfter = all(
    `SELECT r.body FROM records r JOIN entries e ON e.n = r.n WHERE r.paper = ? AND r.kind = 'fact' AND e.at > ? ORDER BY r.n`,
    { body: json<FactBody>() },
  );
  const strike = run('DELETE FROM fact_words WHERE rowid = ?');
  const index = run('INSERT INTO fact_words (rowid, words) VALUES (?, ?)');
  const uncite = run('DELETE FROM fact_citations WHERE piece = ?');
  const cite = run(
    `INSERT INTO fact_citations (paper, claim_key, piece, version, on_air)
     SELECT f.paper, f.claim_key, p.id, f.version, p.state = 'on_air' FROM facts f JOIN pieces p ON p.id = ?3
     WHERE f.paper = ?1 AND f.claim_key = ?2`,
  );
  const air = run(
    `UPDATE fact_citations SET on_air = 1 - on_air
     WHERE piece = ?1 AND on_air <> (SELECT state = 'on_air' FROM pieces WHERE id = ?1)`,
  );
  const citations = all(
    `SELECT c.claim_key, c.version, f.version AS newest, f.status, f.corrected
     FROM fact_citations c JOIN facts f ON f.paper = c.paper AND f.claim_key = c.claim_key
     WHERE c.paper = ? AND c.piece = ? ORDER BY c.claim_key`,
    { claim_key: text, version: integer, newest: integer, status, corrected: integer },
    ({ claim_key, version, newest, ...is }): Citation => ({
      ...{ claim_key, version, newest },
      since: changeSince(version, { version: newest, ...is }),
    }),
  );
  const citing = (which: string) =>
    all(
      `SELECT p.id, p.slug, g.headline, p.revision, c.version, p.state
       FROM fact_citations c JOIN pieces p ON p.id = c.piece JOIN generations g ON g.n = p.generation
       WHERE c.paper = ?1 AND c.claim_key = ?2 AND c.piece < ?3 AND ${which} ORDER BY c.piece DESC LIMIT ?4`,
      CITING,
    );
  const citedBy: Record<Citing, ReturnType<typeof citing>> = {
    on_air: citing('c.on_air = 1'),
    scheduled: citing("p.state = 'scheduled'"),
    desk: citing('p.headline_withheld = 0'),
    outdated: citing(
      'c.version < (SELECT version FROM facts WHERE paper = ?1 AND claim_key = ?2) AND p.headline_withheld = 0',
    ),
  };
  const receipts = "SELECT r.body FROM records r WHERE r.paper = ? AND r.kind = 'fact'";
  const versions = all(
    `SELECT r.name, r.body FROM records r WHERE r.paper = ? AND r.kind = 'fact' AND r.name = ? ORDER BY r.n`,
    { name: text, body: json<FactBody>() },
    (record): SignedFact => factOf(record),
  );
  const receiptsOf = all(
    `${receipts} AND r.name IN (SELECT claim_key FROM fact_citations WHERE piece = ?) ORDER BY r.n`,
    {
      body: json<FactBody>(),
    },
  );
  const receiptsOnAir = each(
    `${receipts} AND r.name IN (SELECT claim_key FROM facts WHERE paper = r.paper AND cited > 0) ORDER BY r.n`,
    { body: json<FactBody>() },
  );
  const sources = all(
    `SELECT min(source) AS source, count(*) AS facts, sum(cited) AS citations FROM facts WHERE paper = ? AND cited > 0
     GROUP BY publisher ORDER BY facts DESC, publisher`,
    { source: text, facts: integer, citations: integer },
  );
  const withWords = all(
    `SELECT ${COLUMNS} FROM fact_words w CROSS JOIN facts f ON f.id = w.rowid WHERE w.words MATCH ? AND f.status <> 'retracted' LIMIT ${COMPARED}`,
    FACT,
  );
  const ofInstrument = all(
    `SELECT ${COLUMNS} FROM facts f WHERE f.paper = ? AND f.instrument = ? AND f.status <> 'retracted' LIMIT ${COMPARED}`,
    FACT,
  );

  const between = number('SELECT count(*) FROM facts WHERE paper = ? AND cited > 0 AND id >= ? AND id < ?');
  const from = all(
    `SELECT ${COLUMNS} FROM facts f WHERE f.paper = ? AND f.cited > 0 ORDER BY f.id LIMIT ? OFFSET ?`,
    FACT,
  );
  const lists = new Map<string, (...params: Param[]) => FactRow[]>();
  /** A statement for a list with these conditions. Their parameters follow the paper and the position. */
  const listOf = (conditions: readonly string[], hasWords: boolean) => {
    // The words come first, or SQLite would look up every fact in them.
    const from = hasWords ? 'fact_words w CROSS JOIN facts f ON f.id = w.rowid' : 'facts f';
    const id = hasWords ? 'w.rowid' : 'f.id';
    const rest = conditions.map((one) => `AND ${one} `).join('');
    const query = `SELECT ${COLUMNS} FROM ${from} WHERE f.paper = ? AND ${id} < ? ${rest}ORDER BY ${id} DESC LIMIT ?`;
    const found = lists.get(query) ?? all(query, FACT);
    lists.set(query, found);
    return found;
  };

  return {
    /** Makes a version the newest one of its fact. */
    setFact(entry: RecordEntry): void {
      const { paper } = entry;
      const fact = factOf(entry);
      const { claim_key, version, status, statement, source, instrument, quote, note } = fact;
      const { seq, signed_at } = saidOf(fact);
      const of = [statement, source, instrument, quote, note, Date.parse(signed_at), publisherOf(source)];
      const id = put(paper, claim_key, version, status, ...of) ?? 0;
      takeSeq(seq, paper);
      if (version > 1) strike(id);
      index(id, factIndexText(paper, fact));
    },
    /** Lowers the times of a paper's facts that are later than this. */
    capFacts: (paper: string, time: number): void => void cap(paper, time),
    /**
     * The number of a paper's first fact version above `after` whose entry is later than `time` (ms); null if there is
     * none.
     */
    firstFactAfter(paper: string, time: number, after: number): number | null {
      const numbers = signedAfter(paper, time).map(({ body }) => saidOf(body).seq);
      return numbers.find((number) => number > after) ?? null;
    },
    /** The number of the next version of any of a paper's facts. */
    nextFactSeq: (paper: string): number => seq(paper) + 1,
    /** Records which facts the newest generation of a piece cites, each in its newest version. */
    setCitations(paper: string, { id, cited_facts }: Pick<Piece, 'id' | 'cited_facts'>): void {
      uncite(id);
      for (const key of new Set(cited_facts.map((fact) => fact.claim_key))) if (key !== null) cite(paper, key, id);
    },
    /** Updates the citations of a piece to match its state. */
    updateCitations(piece: string): void {
      air(piece);
    },
    /** The newest version of a fact; null for an unknown key. */
    fact: one(`SELECT ${COLUMNS} FROM facts f WHERE f.paper = ? AND f.claim_key = ?`, FACT),
    /** Every version of a fact, oldest first. */
    factVersions: versions,
    /** The citations of a piece's newest revision, by claim key. */
    citations,
    /** The pieces of one kind that cite a fact, newest first by id. */
    citedBy: (paper: string, claim_key: string, of: Citing, { after = '~', limit = -1 } = {}): CitingRow[] =>
      citedBy[of](paper, claim_key, after, limit),
    /** The ids and sections of the pieces on air that cite a fact. */
    citingOnAir: all(
      `SELECT p.id, p.category FROM fact_citations c JOIN pieces p ON p.id = c.piece
       WHERE c.paper = ? AND c.claim_key = ? AND c.on_air = 1`,
      { id: text, category: text },
    ),
    /** The notes of all versions of the facts that a piece cites, oldest first. */
    factReceiptsOf: (paper: string, piece: string): string[] =>
      receiptsOf(paper, piece).map(({ body }) => body.receipt),
    /** The notes of all versions of the facts that pieces on air cite, oldest first. */
    *factReceiptsOnAir(paper: string): Iterable<string> {
      for (const { body } of receiptsOnAir(paper)) yield body.receipt;
    },
    facts(
      paper: string,
      { limit, after = Number.MAX_SAFE_INTEGER, isCited, status, source, terms }: FactQuery,
    ): FactRow[] {
      const conditions: [string, Param?][] = [];
      if (isCited) conditions.push(['f.cited > 0']);
      if (status !== undefined) conditions.push(['f.status = ?', status]);
      if (source !== undefined) conditions.push(['f.publisher = ?', publisherOf(source)]);
      if (terms !== undefined) conditions.push(['w.words MATCH ?', matchExpression(paper, terms)]);
      const list = listOf(
        conditions.map(([text]) => text),
        terms !== undefined,
      );
      return list(paper, after, ...conditions.flatMap(([, ...value]) => value as Param[]), limit);
    },
    hasFacts: has('SELECT 1 FROM facts WHERE paper = ? AND cited > 0'),
    factCount: number('SELECT count(*) FROM facts WHERE paper = ? AND cited > 0'),
    /**
     * For each of these ids, in ascending order: how many facts cited on air were recorded before it. Reads these facts
     * once.
     */
    factRanks(paper: string, ids: readonly number[]): number[] {
      let [rank, from] = [0, 0];
      return ids.map((id) => {
        rank += between(paper, from, id);
        from = id;
        return rank;
      });
    },
    /** A range of the facts cited by pieces on air, oldest first. */
    factsFrom: (paper: string, start: number, limit: number): FactRow[] => from(paper, limit, start),
    correctedFacts: all(
      `SELECT ${COLUMNS} FROM facts f WHERE f.paper = ? AND f.changed_at IS NOT NULL AND f.cited > 0
       ORDER BY f.changed_at DESC, f.id LIMIT ?`,
      FACT,
    ),
    /**
     * Facts cited by pieces on air in an outdated version, the last corrected first, with the number of these pieces.
     */
    outdatedFacts: all(
      `SELECT f.claim_key, f.status, f.statement, f.changed_at, f.changed_note,
         (SELECT count(*) FROM fact_citations c WHERE c.paper = f.paper AND c.claim_key = f.claim_key AND c.on_air = 1
            AND c.version < iif(f.status = 'retracted', f.version, f.corrected)) AS pieces
       FROM facts f WHERE f.paper = ? AND f.changed_at IS NOT NULL AND f.cited > 0 AND pieces > 0
       ORDER BY f.changed_at DESC, f.id LIMIT ?`,
      { claim_key: text, status, statement: text, changed_at: integer, changed_note: orNull(text), pieces: integer },
    ),
    /** The publishers of facts cited by pieces on air, those of most facts first. */
    factSources: sources as (paper: string) => SourceRow[],
    /** Facts that may say the same as an entry: from the same document, or with the longest words of its statement. */
    factsLike(paper: string, { statement, instrument }: { statement: string; instrument: string }): FactRow[] {
      const words = [...new Set(searchText(statement).split(' '))].sort((a, b) => b.length - a.length);
      const searches = [words.slice(0, WORDS), words.slice(WORDS, 2 * WORDS)].filter((some) => some.length === WORDS);
      const found = [
        ...ofInstrument(paper, instrument),
        ...searches.flatMap((some) => withWords(allWords(paper, some))),
      ];
      return [...new Map(found.map((fact) => [fact.id, fact])).values()];
    },
  };
}
