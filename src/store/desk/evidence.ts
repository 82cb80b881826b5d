import {
  type CitedEvidence,
  EVIDENCE_STATES,
  type EvidenceBody,
  type EvidenceState,
  evidenceOf,
  type FactToRevise,
  mustBeFound,
  type QuotedFact,
  stateAfter,
  TO_REVISE,
} from '../../desk/evidence.ts';
import type { RecordEntry } from '../../desk/ledger-entry.ts';
import type { CitedObservation } from '../../proof/records/cited-observation.ts';
import { type Db, flag, integer, json, oneOf, orNull, sql, text } from '../../shared/sql/sql.ts';

const state = oneOf(...EVIDENCE_STATES);

/** The facts cited by the newest revision of a piece, each with its evidence `e` if there is any. */
const CITED = `pieces p JOIN generations g ON g.n = p.generation JOIN json_each(g.cited_facts) j
  LEFT JOIN fact_citations c ON c.paper = p.paper AND c.claim_key = j.value ->> 'claim_key' AND c.piece = p.id
  LEFT JOIN evidence e ON e.paper = p.paper AND e.subject = coalesce(c.claim_key, p.id || '/' || (j.value ->> 'n'))
    AND e.version = coalesce(c.version, p.revision)`;
/** Whether a fact's source may be a URL. */
const MAY_BE_READ = "(j.value ->> 'instrument' LIKE 'http://%' OR j.value ->> 'instrument' LIKE 'https://%')";
const REVISABLE = TO_REVISE.map((one) => `'${one}'`).join(', ');

const TASK = {
  subject: text,
  version: integer,
  piece: orNull(text),
  instrument: text,
  statement: text,
  quote: orNull(text),
  due_at: integer,
  failures: integer,
};

/** A fact whose source must be read. */
export type ReadingTask = {
  subject: string;
  version: number;
  piece: string | null;
  instrument: string;
  statement: string;
  quote: string | null;
  due_at: number;
  failures: number;
};

export type EvidenceTables = ReturnType<typeof evidenceTables>;

/** The evidence for cited facts, and the queue of sources to read. */
export function evidenceTables(db: Db) {
  const { run, changed, one, has, number, all, each } = sql(db);
  const before = one(
    `SELECT state, first_text, first_observation, text, archive FROM evidence
     WHERE paper = ? AND subject = ? AND version = ?`,
    {
      state,
      first_text: orNull(text),
      first_observation: orNull(json<CitedObservation>()),
      text: orNull(text),
      archive: orNull(text),
    },
  );
  const put = run(
    `INSERT INTO evidence (paper, subject, version, n, read_at, state, first_text, text, archive, first_observation)
     VALUES (?1, ?2, ?3, (SELECT max(n) FROM records WHERE paper = ?1 AND kind = 'evidence' AND name = ?2), ?4, ?5, ?6, ?7, ?8, ?9)
     ON CONFLICT DO UPDATE SET n = excluded.n, read_at = excluded.read_at, state = excluded.state,
       first_text = excluded.first_text, text = excluded.text, archive = excluded.archive,
       first_observation = excluded.first_observation, told = CASE WHEN excluded.state NOT IN ('found', 'read') THEN told END`,
  );
  const cap = run('UPDATE evidence SET read_at = ?2 WHERE paper = ?1 AND read_at > ?2');
  const takeSeq = run('UPDATE papers SET evidence_seq = ? WHERE slug = ?');
  const seq = number('SELECT evidence_seq FROM papers WHERE slug = ?');
  const NEW_TASKS = `INSERT INTO source_readings (paper, subject, version, piece, instrument, statement, quote, due_at)`;
  const REPLACES = `ON CONFLICT DO UPDATE SET version = excluded.version, piece = excluded.piece,
    instrument = excluded.instrument, statement = excluded.statement, quote = excluded.quote, due_at = excluded.due_at,
    failures = 0, claimed_until = 0 WHERE version <> excluded.version`;
  const unkeyed = (which: string) =>
    run(
      `${NEW_TASKS} SELECT p.paper, p.id || '/' || (j.value ->> 'n'), p.revision, p.id, j.value ->> 'instrument',
         j.value ->> 'statement', j.value ->> 'quote', ?2 FROM ${CITED}
       WHERE ${which} AND c.claim_key IS NULL AND ${MAY_BE_READ} AND p.state <> 'withdrawn' AND e.n IS NULL
       ${REPLACES}`,
    );
  const keyed = (which: string) =>
    run(
      `${NEW_TASKS} SELECT f.paper, f.claim_key, f.version, NULL, f.instrument, f.statement, f.quote, ?2 FROM facts f
       WHERE (f.instrument LIKE 'http://%' OR f.instrument LIKE 'https://%') AND f.status <> 'retracted' AND ${which}
         AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.paper = f.paper AND e.subject = f.claim_key AND e.version = f.version)
       ${REPLACES}`,
    );
  const CITES = 'EXISTS (SELECT 1 FROM fact_citations c WHERE c.paper = f.paper AND c.claim_key = f.claim_key)';
  const queueOfPiece = [
    unkeyed('p.id = ?1'),
    keyed('(f.paper, f.claim_key) IN (SELECT c.paper, c.claim_key FROM fact_citations c WHERE c.piece = ?1)'),
  ];
  const queueOfPaper = [unkeyed('p.paper = ?1'), keyed(`f.paper = ?1 AND ${CITES}`)];
  const queueOfFact = keyed(`f.paper = ?1 AND f.claim_key = ?3 AND ${CITES}`);
  const NEWEST = `coalesce((SELECT revision FROM pieces WHERE id = source_readings.piece),
    (SELECT f.version FROM facts f WHERE f.paper = source_readings.paper AND f.claim_key = source_readings.subject))`;
  const dropOld = run(`DELETE FROM source_readings WHERE piece = ?1 AND version < ${NEWEST}`);
  const dropOldOfFact = run(`DELETE FROM source_readings WHERE paper = ?1 AND subject = ?2 AND version < ${NEWEST}`);
  const dropOldOfPaper = run(`DELETE FROM source_readings WHERE paper = ?1 AND version < ${NEWEST}`);
  const cited = all(
    `SELECT j.value ->> 'n' AS n, e.state, e.read_at, e.text, e.archive, r.body
     FROM ${CITED} JOIN records r ON r.n = e.n WHERE p.paper = ? AND p.id = ? ORDER BY 1`,
    { n: integer, state, read_at: integer, text: orNull(text), archive: orNull(text), body: json<EvidenceBody>() },
    ({ body, text: kept_text, archive: kept_archive, ...row }): CitedEvidence => ({
      ...body,
      ...row,
      kept_text,
      kept_archive,
    }),
  );
  const quoted = all(
    `SELECT j.value ->> 'n' AS n, coalesce(c.claim_key, p.id || '/' || (j.value ->> 'n')) AS subject,
       j.value ->> 'instrument' AS instrument, j.value ->> 'quote' AS quote, e.state, e.n IS NULL AND EXISTS (SELECT 1 FROM facts f
         WHERE f.paper = c.paper AND f.claim_key = c.claim_key AND f.version > c.version) AS is_late
     FROM ${CITED} WHERE p.paper = ? AND p.id = ? AND ${MAY_BE_READ} ORDER BY 1`,
    { n: integer, subject: text, instrument: text, quote: orNull(text), state: orNull(state), is_late: flag },
  );
  const waitingFor = all(
    `SELECT p.id FROM pieces p WHERE p.paper = ?1 AND p.awaits_evidence = 1 AND (p.id = ?2
       OR EXISTS (SELECT 1 FROM fact_citations c WHERE c.piece = p.id AND c.claim_key = ?3 AND c.version = ?4))`,
    text,
  );
  const reads = `FROM source_readings WHERE paper = ?1 AND due_at <= ?2 AND claimed_until <= ?2`;
  const COLUMNS = Object.keys(TASK).join(', ');
  const claim = changed(
    `UPDATE source_readings SET claimed_until = ?4 WHERE paper = ?1 AND subject = ?2 AND version = ?3 AND claimed_until <= ?5`,
  );
  const CLAIMED = 'paper = ?1 AND subject = ?2 AND version = ?3 AND claimed_until = ?4';
  const holds = has(`SELECT 1 FROM source_readings WHERE ${CLAIMED} AND version = ${NEWEST}`);
  const finish = run(`UPDATE source_readings SET due_at = ?5, failures = ?6, claimed_until = 0 WHERE ${CLAIMED}`);
  const isNewest = has(
    `SELECT 1 FROM source_readings WHERE paper = ?1 AND subject = ?2 AND version = ?3 AND version = ${NEWEST}`,
  );
  const isCited = has(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM pieces WHERE id = ?2 AND paper = ?1 AND state = 'on_air')
       OR EXISTS (SELECT 1 FROM facts WHERE paper = ?1 AND claim_key = ?3 AND cited > 0)`,
  );
  const TO_BE_REVISED = `FROM evidence e JOIN records r ON r.n = e.n
    JOIN source_readings t ON t.paper = e.paper AND t.subject = e.subject AND t.version = e.version
    WHERE e.paper = ?1 AND e.state IN (${REVISABLE})
      AND (EXISTS (SELECT 1 FROM pieces WHERE id = t.piece AND state = 'on_air')
        OR EXISTS (SELECT 1 FROM facts WHERE paper = e.paper AND claim_key = e.subject AND cited > 0))`;
  const FACTS = `SELECT e.subject, e.version, e.state, e.read_at, t.instrument, t.statement, r.body ${TO_BE_REVISED}`;
  const factsIn = (rest: string) =>
    all(
      `${FACTS} ${rest}`,
      {
        ...{ subject: text, version: integer, state, read_at: integer, instrument: text, statement: text },
        body: json<EvidenceBody>(),
      },
      ({ body: { reason, changes = [] }, ...row }): FactToRevise => ({ ...row, reason, changes }),
    );
  const untold = (which: string) => factsIn(`AND e.told IS NOT e.state AND ${which} ORDER BY e.subject`);
  const untoldOf = untold('e.subject = ?2');
  const untoldOfPiece = untold(
    `(t.piece = ?2 OR e.subject IN (SELECT claim_key FROM fact_citations WHERE piece = ?2))`,
  );
  const tell = run('UPDATE evidence SET told = state WHERE paper = ?1 AND subject = ?2 AND version = ?3');
  const IS_SHOWN = `e.paper = ?1 AND (
    EXISTS (SELECT 1 FROM pieces p WHERE p.id = substr(e.subject, 1, instr(e.subject, '/') - 1)
      AND p.state = 'on_air' AND p.revision = e.version)
    OR EXISTS (SELECT 1 FROM fact_citations c WHERE c.paper = e.paper AND c.claim_key = e.subject AND c.on_air = 1))`;
  const textsIn = all(
    'SELECT DISTINCT text FROM evidence WHERE paper = ? AND subject >= ? AND subject < ? AND text IS NOT NULL',
    text,
  );
  // `0` is the character after `/`.
  const under = all(
    `SELECT t.instrument, min(e.read_at) AS read_at FROM source_readings t
     JOIN evidence e ON e.paper = t.paper AND e.subject = t.subject AND e.version = t.version
     WHERE t.paper = ?1 AND t.instrument >= ?2 AND t.instrument < ?3 GROUP BY t.instrument`,
    { instrument: text, read_at: integer },
  );
  const setAwaits = run('UPDATE pieces SET awaits_evidence = ?2 WHERE id = ?1 AND awaits_evidence <> ?2');
  return {
    /** Stores a reading as the newest of its fact. Returns the resulting state. */
    setEvidence(entry: RecordEntry): EvidenceState {
      const { paper, name } = entry;
      const said = evidenceOf(entry);
      const { quoted, archive, changes, observation } = entry.body as EvidenceBody;
      const old = before(paper, name, said.fact_version);
      const next = stateAfter(said, { quoted, changes }, old?.first_text ?? null);
      const kept = said.text ?? old?.text ?? null;
      const first = old?.first_text ?? said.text;
      const read_at = Date.parse(said.read_at);
      const seen = old?.first_observation ?? observation ?? null;
      const kept_archive = archive ?? old?.archive ?? null;
      put(paper, name, said.fact_version, read_at, next, first, kept, kept_archive, seen && JSON.stringify(seen));
      takeSeq(said.seq, paper);
      return next;
    },
    /** Lowers the times of a paper's readings that are later than this. */
    capEvidence: (paper: string, time: number): void => void cap(paper, time),
    nextEvidenceSeq: (paper: string): number => seq(paper) + 1,
    /** The newest evidence for a version of a fact; null before it was read. */
    evidenceBefore: (paper: string, subject: string, version: number) => before(paper, subject, version),
    /** The evidence for the facts cited by the newest revision of a piece, in the order of citation. */
    cited,
    /** Facts cited by the newest revision of a piece that must be found in their sources. */
    quotedFacts: (paper: string, piece: string): QuotedFact[] => quoted(paper, piece).filter(mustBeFound),
    /** The pieces that wait for evidence of a version of a fact. */
    waitingFor: (paper: string, subject: string, version: number): string[] =>
      waitingFor(paper, subject.split('/')[0] ?? '', subject, version),
    /** Queues the sources of a piece's newest revision. */
    queuePieceSources(piece: string, at: number): void {
      dropOld(piece);
      for (const queue of queueOfPiece) queue(piece, at);
    },
    /** Queues the source of a fact's newest version. */
    queueFactSource(paper: string, claim_key: string, at: number): void {
      dropOldOfFact(paper, claim_key);
      queueOfFact(paper, at, claim_key);
    },
    /** Queues all unread sources that a paper's pieces cite. */
    queuePaperSources(paper: string, at: number): void {
      dropOldOfPaper(paper);
      for (const queue of queueOfPaper) queue(paper, at);
    },
    /** Instruments to read now, the longest overdue first. */
    dueInstruments: all(
      `SELECT instrument ${reads} GROUP BY instrument ORDER BY min(due_at), instrument LIMIT ?3`,
      text,
    ),
    /** The facts to look for in an instrument, at most `limit`. */
    tasksOf: all(`SELECT ${COLUMNS} ${reads} AND instrument = ?3 ORDER BY subject LIMIT ?4`, TASK) as (
      paper: string,
      now: number,
      instrument: string,
      limit: number,
    ) => ReadingTask[],
    /** Claims a task until a time. False when another process has it. */
    claimTask: (paper: string, { subject, version }: ReadingTask, until: number, now: number): boolean =>
      claim(paper, subject, version, until, now),
    /** Whether a claim still holds: no other process took the task, and the fact has no newer version. */
    holdsTask: (paper: string, { subject, version }: ReadingTask, until: number): boolean =>
      holds(paper, subject, version, until),
    /** Whether a task is for the fact's newest version. Evidence for an older one would be an unsound ledger line. */
    isNewest: (paper: string, { subject, version }: ReadingTask): boolean => isNewest(paper, subject, version),
    /** Ends a claim and makes the task due again at a time. */
    finishTask(paper: string, task: ReadingTask, until: number, due_at: number, failures: number): void {
      finish(paper, task.subject, task.version, until, due_at, failures);
    },
    dropTask: run('DELETE FROM source_readings WHERE paper = ? AND subject = ?'),
    /** When the next source of a paper is due, in ms; null when none is. */
    nextReading: one('SELECT min(max(due_at, claimed_until)) FROM source_readings WHERE paper = ?', orNull(integer)),
    /** Makes every source of a paper due. */
    readAllSources: run('UPDATE source_readings SET due_at = min(due_at, ?2), failures = 0 WHERE paper = ?1'),
    /** The sources below an address, with when each was last read. */
    sourcesUnder: (paper: string, origin: string) => under(paper, `${origin}/`, `${origin}0`),
    /** Makes one source of a paper due. */
    readSourceAgain: run('UPDATE source_readings SET due_at = min(due_at, ?3) WHERE paper = ?1 AND instrument = ?2'),
    /** Whether a piece on air still cites the source, directly or through a fact. */
    isSourceCited: (paper: string, { piece, subject }: ReadingTask): boolean => isCited(paper, piece ?? '', subject),
    /** Facts that need revision and are cited by pieces on air, the last read first. */
    factsToRevise: factsIn('ORDER BY e.read_at DESC, e.subject LIMIT ?2') as (
      paper: string,
      limit: number,
    ) => FactToRevise[],
    /**
     * Facts that need revision, with this name or cited by this piece, and were not reported yet. Marks them as
     * reported.
     */
    takeFindings(paper: string, of: { fact: string } | { piece: string }): FactToRevise[] {
      const found = 'fact' in of ? untoldOf(paper, of.fact) : untoldOfPiece(paper, of.piece);
      for (const { subject, version } of found) tell(paper, subject, version);
      return found;
    },
    /** The state of a fact's newest version; null until its source was read. */
    factEvidence: one(
      `SELECT e.state FROM facts f JOIN evidence e ON e.paper = f.paper AND e.subject = f.claim_key AND e.version = f.version
       WHERE f.paper = ? AND f.claim_key = ?`,
      state,
    ),
    /** Whether readers may see a text or an archive, because shown evidence of a paper refers to it. */
    showsText: has(`SELECT 1 FROM evidence e WHERE e.text = ?2 AND ${IS_SHOWN}`),
    showsArchive: has(`SELECT 1 FROM evidence e WHERE e.archive = ?2 AND ${IS_SHOWN}`),
    /** The digests of all texts that a paper's readers may see. */
    shownTexts: each(`SELECT DISTINCT e.text FROM evidence e WHERE e.text IS NOT NULL AND ${IS_SHOWN}`, text),
    /** The texts of all versions of a fact of the record, or of a piece's own facts, shown or not. */
    textsOf: (paper: string, of: { fact: string } | { piece: string }): string[] =>
      'fact' in of ? textsIn(paper, of.fact, `${of.fact}\0`) : textsIn(paper, `${of.piece}/`, `${of.piece}0`),
    /** Notes that a file may be on disk before any evidence refers to it. */
    noteSourceFile: run('INSERT INTO source_files VALUES (?1, ?2) ON CONFLICT DO UPDATE SET noted_at = ?2'),
    isSourceFileNoted: has('SELECT 1 FROM source_files WHERE digest = ?'),
    /** Some of the files noted up to a time. */
    sourceFiles: all('SELECT digest FROM source_files WHERE noted_at <= ?1 ORDER BY noted_at LIMIT ?2', text),
    forgetSourceFile: run('DELETE FROM source_files WHERE digest = ?'),
    /** Whether any evidence, or a paper's media, has a file with this content. */
    needsSourceFile: has(
      `SELECT 1 FROM evidence WHERE text = ?1 UNION ALL SELECT 1 FROM evidence WHERE archive = ?1
       UNION ALL SELECT 1 FROM records WHERE kind = 'media' AND json_extract(body, '$.digest') = ?1`,
    ),
    awaitsEvidence: has('SELECT 1 FROM pieces WHERE id = ? AND awaits_evidence = 1'),
    setAwaitsEvidence: (piece: string, awaits: boolean): void => void setAwaits(piece, awaits ? 1 : 0),
    evidenceNotes: all(
      "SELECT body FROM records WHERE paper = ? AND kind = 'evidence' AND name = ? ORDER BY n",
      json<EvidenceBody>(),
      ({ note }) => note,
    ),
    /** The notes of all readings of the facts cited by the newest revision of a piece, oldest first. */
    evidenceNotesOf: all(
      `SELECT r.body FROM records r WHERE r.paper = ?1 AND r.kind = 'evidence' AND r.name IN (
         SELECT coalesce(c.claim_key, p.id || '/' || (j.value ->> 'n')) FROM ${CITED} WHERE p.id = ?2) ORDER BY r.n`,
      json<EvidenceBody>(),
      ({ note }) => note,
    ),
  };
}
