import type { Manifest } from '../../desk/press/manifest.ts';
import { CLI } from '../../shared/command-line.ts';
import { type Db, flag, inBatches, integer, orNull, sql, text } from '../../shared/sql/sql.ts';

/**
 * The file count of a press is stored until this many further changes are pressed. A write asks for it within seconds.
 */
const RUNS_KEPT = 100_000;

/** Stale dependencies, the files on disk, and the press leases. The tables call an output a sheet. */
export function manifestTables(db: Db): Manifest {
  const { run, changed, one, has, number, all } = sql(db);
  const addStale = run('INSERT OR REPLACE INTO press_due (paper, tag) SELECT ?, value FROM json_each(?)');
  const someStale = all('SELECT id, tag FROM press_due WHERE paper = ? AND id > ? ORDER BY id LIMIT 1000', {
    id: integer,
    tag: text,
  });
  const isDirty = one('SELECT dirty FROM presses WHERE paper = ?', flag);
  const begin = run(
    `INSERT INTO presses (paper, taken, dirty) VALUES (?, ?, 1)
     ON CONFLICT DO UPDATE SET taken = excluded.taken, dirty = 1`,
  );
  const clean = run('UPDATE presses SET dirty = 0 WHERE paper = ?');
  const addRun = run('INSERT OR REPLACE INTO press_runs (paper, until, files) VALUES (?, ?, ?)');
  const dropRuns = run('DELETE FROM press_runs WHERE paper = ? AND until <= ?');
  const newestStale = number('SELECT max(id) FROM press_due WHERE paper = ?');
  const dropStale = run('DELETE FROM press_due WHERE paper = ? AND id <= ?');
  const dependenciesOf = one('SELECT tags FROM sheets WHERE paper = ? AND sheet = ?', text);
  const dropOutput = run('DELETE FROM sheets WHERE paper = ? AND sheet = ?');
  // Rows are passed as JSON: a press records half a million of them, and every call has a cost.
  const dependenciesOfAll = all(
    'SELECT sheet, tags FROM sheets WHERE paper = ? AND sheet IN (SELECT value FROM json_each(?))',
    { sheet: text, tags: text },
  );
  const setDependencies = run(
    `INSERT INTO sheets (paper, sheet, tags) SELECT ?, value ->> 0, value ->> 1 FROM json_each(?) WHERE true
     ON CONFLICT DO UPDATE SET tags = excluded.tags`,
  );
  const addReads = run(
    'INSERT OR IGNORE INTO reads (paper, tag, sheet) SELECT ?, value ->> 0, value ->> 1 FROM json_each(?)',
  );
  const dropRead = run('DELETE FROM reads WHERE paper = ? AND tag = ? AND sheet = ?');
  const files = all('SELECT path, digest FROM files WHERE paper = ? AND sheet = ?', { path: text, digest: text });
  const fileRow = { sheet: text, path: text, digest: text };
  const someFiles = all(
    `SELECT sheet, path, digest FROM files
       WHERE paper = ? AND (sheet, path) > (?, ?) ORDER BY sheet, path LIMIT 1000`,
    fileRow,
  );
  const setFiles = run(
    `INSERT INTO files (paper, sheet, path, digest)
       SELECT ?, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
     ON CONFLICT DO UPDATE SET digest = excluded.digest`,
  );
  const dropFile = run('DELETE FROM files WHERE paper = ? AND sheet = ? AND path = ?');
  const stamp = one('SELECT stamp FROM presses WHERE paper = ?', text);
  // A lease that ends more than a whole span after one taken now dates from before the clock was set back. A lease that
  // ends slightly later belongs to another process that read its clock while this one waited for the lock.
  const acquireLease = has(
    `INSERT INTO presses (paper, owner, owned_until) VALUES (?1, ?2, ?3 + ?4)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, owned_until = excluded.owned_until
     WHERE presses.owner IS NULL OR presses.owned_until < ?3 OR presses.owned_until > ?3 + 2 * ?4 RETURNING owner`,
  );
  const renew = changed('UPDATE presses SET owned_until = ?3 WHERE paper = ?1 AND owner = ?2');
  const setPressed = run(
    'INSERT INTO presses (paper, paid) VALUES (?, ?) ON CONFLICT DO UPDATE SET paid = max(paid, excluded.paid)',
  );
  const reach = one('SELECT paid, taken FROM presses WHERE paper = ?', { paid: integer, taken: integer });

  const forgotten = ['sheets', 'reads', 'files', 'press_runs'].map((table) =>
    run(`DELETE FROM ${table} WHERE paper = ?`),
  );
  const forgetTree = run("UPDATE presses SET stamp = '', dirty = 0, unsynced = NULL WHERE paper = ?");

  const reached = (paper: string) => reach(paper) ?? { paid: 0, taken: 0 };

  const drop = (paper: string, name: string): void => {
    const old = dependenciesOf(paper, name);
    for (const dependency of linesOf(old)) dropRead(paper, dependency, name);
    for (const { path } of files(paper, name)) dropFile(paper, name, path);
    dropOutput(paper, name);
  };

  return {
    markStale(paper, dependencies) {
      addStale(paper, JSON.stringify([...dependencies]));
    },
    *staleDependencies(paper) {
      const rows = inBatches(
        (after) => someStale(paper, after),
        [0],
        ({ id }) => [id],
      );
      for (const { tag: dependency } of rows) yield dependency;
    },
    isStale: has('SELECT 1 FROM press_due WHERE paper = ? AND tag = ?'),
    isPending: has(
      `SELECT 1 FROM press_due d WHERE d.paper = ?1 AND d.tag = ?2
         AND d.id > coalesce((SELECT taken FROM presses WHERE paper = ?1), 0)`,
    ),
    newestStale,
    // By id: the index by paper would read every row.
    papersChangedAfter: all('SELECT DISTINCT paper FROM press_due NOT INDEXED WHERE id > ?', text),
    begin(paper) {
      const until = newestStale(paper);
      const dirty = isDirty(paper) === true;
      begin(paper, until);
      return { until, dirty };
    },
    clearStale(paper, until) {
      dropStale(paper, until);
      clean(paper);
    },
    recordPressed(paper, until, files) {
      setPressed(paper, until);
      addRun(paper, until, files);
      dropRuns(paper, until - RUNS_KEPT);
    },
    isPressed: (paper, number) => reached(paper).paid >= number || newestStale(paper) === 0,
    lastChangeOfAll: number("SELECT seq FROM sqlite_sequence WHERE name = 'press_due'"),
    lastChange(paper) {
      const { paid, taken } = reached(paper);
      return Math.max(paid, taken, newestStale(paper));
    },
    filesChangedBy: number('SELECT files FROM press_runs WHERE paper = ? AND until >= ? ORDER BY until LIMIT 1'),
    unsynced: one('SELECT unsynced FROM presses WHERE paper = ?', orNull(text)),
    setUnsynced: run('UPDATE presses SET unsynced = ?2 WHERE paper = ?1'),
    setSynced: run('UPDATE presses SET unsynced = NULL WHERE paper = ?1 AND unsynced = ?2'),
    outputsReading: all('SELECT sheet FROM reads WHERE paper = ? AND tag = ?', text),
    outputs: all('SELECT sheet FROM sheets WHERE paper = ? ORDER BY sheet', text),
    files,
    *allFiles(paper) {
      const rows = inBatches(
        (...after) => someFiles(paper, ...after),
        ['', ''],
        ({ sheet, path }) => [sheet, path],
      );
      for (const { path, digest } of rows) yield { path, digest };
    },
    record(paper, outputs) {
      const names = JSON.stringify(outputs.map(({ name }) => name));
      const old = new Map(
        dependenciesOfAll(paper, names).map(({ sheet, tags: dependencies }) => [sheet, dependencies]),
      );
      const reads: string[][] = [];
      const dependencies: string[][] = [];
      const paths: string[][] = [];
      for (const output of outputs) {
        const { name, changed, gone } = output;
        if (output.dependencies === null) {
          drop(paper, name);
          continue;
        }
        const before = old.get(name) ?? null;
        if (before !== output.dependencies) {
          const read = new Set(linesOf(output.dependencies));
          for (const dependency of linesOf(before)) if (!read.has(dependency)) dropRead(paper, dependency, name);
          for (const dependency of read) reads.push([dependency, name]);
          dependencies.push([name, output.dependencies]);
        }
        for (const { path, digest } of changed) paths.push([name, path, digest]);
        for (const path of gone) dropFile(paper, name, path);
      }
      if (reads.length > 0) addReads(paper, JSON.stringify(reads));
      if (dependencies.length > 0) setDependencies(paper, JSON.stringify(dependencies));
      if (paths.length > 0) setFiles(paper, JSON.stringify(paths));
    },
    drop,
    forget(paper, until) {
      for (const rows of forgotten) rows(paper);
      forgetTree(paper);
      dropStale(paper, until);
      setPressed(paper, until);
    },
    stamp: (paper) => stamp(paper) ?? '',
    setStamp: run('INSERT INTO presses (paper, stamp) VALUES (?, ?) ON CONFLICT DO UPDATE SET stamp = excluded.stamp'),
    acquireLease,
    renewLease: (paper, who, now, span) => renew(paper, who, now + span),
    leaseOwner: one('SELECT owner FROM presses WHERE paper = ?', orNull(text)),
    releaseLease: run('UPDATE presses SET owner = NULL, owned_until = NULL WHERE paper = ? AND owner = ?'),
  };
}

function linesOf(list: string | null): string[] {
  return list === null || list === '' ? [] : list.split('\n');
}

/** What the press recorded about the dependencies that its outputs read, for the audit. */
export function pressRecords(db: Db) {
  const { one, all } = sql(db);
  // `reads` is the inverse of `sheets.tags`: a change finds the affected outputs in `reads`, and the press updates
  // `reads` from `sheets.tags`.
  const LISTED = `SELECT sheet, value AS tag FROM sheets,
    json_each('[' || replace(json_quote(tags), '\\n', '","') || ']') WHERE paper = ?1 AND tags <> ''`;
  const unread = all(
    `SELECT sheet, tag FROM (${LISTED}) l
     WHERE NOT EXISTS (SELECT 1 FROM reads r WHERE r.paper = ?1 AND r.tag = l.tag AND r.sheet = l.sheet) LIMIT 100`,
    { sheet: text, tag: text },
  );
  const counts = one(
    `SELECT (SELECT count(*) FROM reads WHERE paper = ?1) AS kept, (SELECT count(*) FROM (${LISTED})) AS listed`,
    { kept: integer, listed: integer },
  );
  return {
    /** The dependencies that an output read when it was printed, one per line; null when none are recorded. */
    dependenciesRead: one('SELECT tags FROM sheets WHERE paper = ? AND sheet = ?', text),
    /** Contradictions between the two tables of these dependencies. */
    readsFaults(paper: string): string[] {
      const cure = `run \`${CLI} press --full\``;
      const faults = unread(paper).map(
        ({ sheet, tag: dependency }) =>
          `${paper}: the manifest does not record that ${sheet} reads ${dependency}, so a change to it would not press the file again; ${cure}`,
      );
      const { kept, listed } = counts(paper) ?? { kept: 0, listed: 0 };
      if (kept > listed)
        faults.push(`${paper}: the manifest has ${kept - listed} more reads than its sheets made; ${cure}`);
      return faults;
    },
  };
}
