import type { Manifest } from '../press/manifest.ts';
import { flag, integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** The file count of a press is kept until this many further marks are pressed. A write asks for it within seconds. */
const RUNS_KEPT = 100_000;

/** Which tags are stale, what is on disk, and which press holds each paper. The tables call an output a sheet. */
export function manifestTables(db: Db): Manifest {
  const { run, one, all } = sql(db);
  const mark = run('INSERT OR REPLACE INTO press_due (paper, tag) VALUES (?, ?)');
  const staleTags = all('SELECT tag FROM press_due WHERE paper = ? AND id <= ? ORDER BY id', text);
  const pending = one(
    `SELECT 1 FROM press_due d WHERE d.paper = ?1 AND d.tag = ?2
       AND d.id > coalesce((SELECT taken FROM presses WHERE paper = ?1), 0)`,
    integer,
  );
  const isDirty = one('SELECT dirty FROM presses WHERE paper = ?', flag);
  const begin = run(
    `INSERT INTO presses (paper, taken, dirty) VALUES (?, ?, 1)
     ON CONFLICT DO UPDATE SET taken = excluded.taken, dirty = 1`,
  );
  const clean = run('UPDATE presses SET dirty = 0 WHERE paper = ?');
  const addRun = run('INSERT OR REPLACE INTO press_runs (paper, until, files) VALUES (?, ?, ?)');
  const dropRuns = run('DELETE FROM press_runs WHERE paper = ? AND until <= ?');
  const filesOf = one('SELECT files FROM press_runs WHERE paper = ? AND until >= ? ORDER BY until LIMIT 1', integer);
  const stale = one('SELECT 1 FROM press_due WHERE paper = ? AND tag = ?', integer);
  const newestMark = one('SELECT max(id) FROM press_due WHERE paper = ?', orNull(integer));
  const clearMarks = run('DELETE FROM press_due WHERE paper = ? AND id <= ?');
  const tagsOf = one('SELECT tags FROM sheets WHERE paper = ? AND sheet = ?', text);
  const setTags = run(
    'INSERT INTO sheets (paper, sheet, tags) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tags = excluded.tags',
  );
  const dropOutput = run('DELETE FROM sheets WHERE paper = ? AND sheet = ?');
  // Lists are passed as JSON: a press records half a million rows, and each call has a cost.
  const addReads = run('INSERT OR IGNORE INTO reads (paper, tag, sheet) SELECT ?, value, ? FROM json_each(?)');
  const dropRead = run('DELETE FROM reads WHERE paper = ? AND tag = ? AND sheet = ?');
  const files = all('SELECT path, digest FROM files WHERE paper = ? AND sheet = ?', { path: text, digest: text });
  const someFiles = all(
    `SELECT sheet, path, digest FROM files WHERE paper = ? AND (sheet, path) > (?, ?) ORDER BY sheet, path LIMIT 1000`,
    { sheet: text, path: text, digest: text },
  );
  const setFiles = run(
    `INSERT INTO files (paper, sheet, path, digest)
       SELECT ?, ?, value ->> 'path', value ->> 'digest' FROM json_each(?) WHERE true
     ON CONFLICT DO UPDATE SET digest = excluded.digest`,
  );
  const dropFile = run('DELETE FROM files WHERE paper = ? AND sheet = ? AND path = ?');
  const stamp = one('SELECT stamp FROM presses WHERE paper = ?', text);
  const setStamp = run(
    'INSERT INTO presses (paper, stamp) VALUES (?, ?) ON CONFLICT DO UPDATE SET stamp = excluded.stamp',
  );
  // A claim that ends more than a whole span after one made now was made before the clock was set back. A claim that
  // ends slightly later was made by another process while this one, having read its clock, waited for the lock.
  const claim = one(
    `INSERT INTO presses (paper, owner, owned_until) VALUES (?1, ?2, ?3 + ?4)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, owned_until = excluded.owned_until
     WHERE presses.owner IS NULL OR presses.owned_until < ?3 OR presses.owned_until > ?3 + 2 * ?4 RETURNING owner`,
    text,
  );
  const renew = run('UPDATE presses SET owned_until = ?3 WHERE paper = ?1 AND owner = ?2');
  const setPressed = run(
    'INSERT INTO presses (paper, paid) VALUES (?, ?) ON CONFLICT DO UPDATE SET paid = max(paid, excluded.paid)',
  );
  const reach = one('SELECT paid, taken FROM presses WHERE paper = ?', { paid: integer, taken: integer });
  const sequence = one("SELECT seq FROM sqlite_sequence WHERE name = 'press_due'", integer);

  const forgotten = ['sheets', 'reads', 'files', 'press_runs'].map((table) =>
    run(`DELETE FROM ${table} WHERE paper = ?`),
  );
  const forgetTree = run("UPDATE presses SET stamp = '', dirty = 0, unsynced = NULL WHERE paper = ?");

  const newestOf = (paper: string): number => newestMark(paper) ?? 0;
  const reached = (paper: string) => reach(paper) ?? { paid: 0, taken: 0 };

  return {
    markStale(paper, tags) {
      for (const tag of tags) mark(paper, tag);
    },
    staleTags: (paper, until = Number.MAX_SAFE_INTEGER) => staleTags(paper, until),
    isStale: (paper, tag) => stale(paper, tag) !== null,
    isPending: (paper, tag) => pending(paper, tag) !== null,
    newestMark: newestOf,
    stalePapers: all('SELECT DISTINCT paper FROM press_due ORDER BY paper', text),
    begin(paper) {
      const until = newestOf(paper);
      const dirty = isDirty(paper) === true;
      begin(paper, until);
      return { until, dirty };
    },
    clearStale(paper, until) {
      clearMarks(paper, until);
      clean(paper);
    },
    recordPressed(paper, until, files) {
      setPressed(paper, until);
      addRun(paper, until, files);
      dropRuns(paper, until - RUNS_KEPT);
    },
    isPressed: (paper, number) => reached(paper).paid >= number || newestOf(paper) === 0,
    highestMarkOfAll: () => sequence() ?? 0,
    highestMark(paper) {
      const { paid, taken } = reached(paper);
      return Math.max(paid, taken, newestOf(paper));
    },
    filesChangedBy: (paper, number) => filesOf(paper, number) ?? 0,
    unsynced: one('SELECT unsynced FROM presses WHERE paper = ?', orNull(text)),
    setUnsynced: run('UPDATE presses SET unsynced = ?2 WHERE paper = ?1'),
    setSynced: run('UPDATE presses SET unsynced = NULL WHERE paper = ?1 AND unsynced = ?2'),
    outputsReading: all('SELECT sheet FROM reads WHERE paper = ? AND tag = ?', text),
    outputs: all('SELECT sheet FROM sheets WHERE paper = ? ORDER BY sheet', text),
    files,
    *allFiles(paper) {
      let last = { sheet: '', path: '' };
      for (;;) {
        const rows = someFiles(paper, last.sheet, last.path);
        yield* rows;
        const end = rows.at(-1);
        if (end === undefined) return;
        last = end;
      }
    },
    record(paper, name, tags, changed, gone) {
      const old = tagsOf(paper, name);
      const text = tags.join('\n');
      if (old !== text) {
        const kept = new Set(tags);
        for (const tag of old?.split('\n') ?? []) if (!kept.has(tag)) dropRead(paper, tag, name);
        addReads(paper, name, JSON.stringify(tags));
        setTags(paper, name, text);
      }
      if (changed.length > 0) setFiles(paper, name, JSON.stringify(changed));
      for (const path of gone) dropFile(paper, name, path);
    },
    drop(paper, name) {
      const old = tagsOf(paper, name);
      for (const tag of old?.split('\n') ?? []) dropRead(paper, tag, name);
      for (const { path } of files(paper, name)) dropFile(paper, name, path);
      dropOutput(paper, name);
    },
    forget(paper, until) {
      for (const rows of forgotten) rows(paper);
      forgetTree(paper);
      clearMarks(paper, until);
      setPressed(paper, until);
    },
    stamp: (paper) => stamp(paper) ?? '',
    setStamp,
    claim: (paper, who, now, span) => claim(paper, who, now, span) !== null,
    renew: (paper, who, now, span) => renew(paper, who, now + span) === 1,
    owner: one('SELECT owner FROM presses WHERE paper = ?', orNull(text)),
    release: run('UPDATE presses SET owner = NULL, owned_until = NULL WHERE paper = ? AND owner = ?'),
  };
}
