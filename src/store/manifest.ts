import type { Manifest, PressedFile } from '../press/manifest.ts';
import type { Db } from './open.ts';

/** What a press changed is kept until so many further marks are pressed; a write asks within seconds. */
const RUNS_KEPT = 100_000;

/** What the press owes and what it has put on disk. */
export function manifestTables(db: Db): Manifest {
  const owe = db.prepare('INSERT OR REPLACE INTO press_due (paper, tag) VALUES (?, ?)');
  const due = db.prepare('SELECT tag FROM press_due WHERE paper = ? AND id <= ? ORDER BY id');
  const waiting = db.prepare(
    `SELECT 1 FROM press_due d WHERE d.paper = ?1 AND d.tag = ?2
       AND d.id > coalesce((SELECT taken FROM presses WHERE paper = ?1), 0)`,
  );
  const begun = db.prepare('SELECT dirty FROM presses WHERE paper = ?');
  const begin = db.prepare(
    `INSERT INTO presses (paper, taken, dirty) VALUES (?, ?, 1)
     ON CONFLICT DO UPDATE SET taken = excluded.taken, dirty = 1`,
  );
  const clean = db.prepare('UPDATE presses SET dirty = 0 WHERE paper = ?');
  const addRun = db.prepare('INSERT OR REPLACE INTO press_runs (paper, until, files) VALUES (?, ?, ?)');
  const dropRuns = db.prepare('DELETE FROM press_runs WHERE paper = ? AND until <= ?');
  const run = db.prepare('SELECT files FROM press_runs WHERE paper = ? AND until >= ? ORDER BY until LIMIT 1');
  const unsynced = db.prepare('SELECT unsynced FROM presses WHERE paper = ?');
  const setUnsynced = db.prepare('UPDATE presses SET unsynced = ?2 WHERE paper = ?1');
  const setSynced = db.prepare('UPDATE presses SET unsynced = NULL WHERE paper = ?1 AND unsynced = ?2');
  const owes = db.prepare('SELECT 1 FROM press_due WHERE paper = ? AND tag = ?');
  const lastDue = db.prepare('SELECT max(id) AS id FROM press_due WHERE paper = ?');
  const owing = db.prepare('SELECT DISTINCT paper FROM press_due ORDER BY paper');
  const paid = db.prepare('DELETE FROM press_due WHERE paper = ? AND id <= ?');
  const readers = db.prepare('SELECT sheet FROM reads WHERE paper = ? AND tag = ?');
  const sheet = db.prepare('SELECT tags FROM sheets WHERE paper = ? AND sheet = ?');
  const setSheet = db.prepare(
    'INSERT INTO sheets (paper, sheet, tags) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tags = excluded.tags',
  );
  const dropSheet = db.prepare('DELETE FROM sheets WHERE paper = ? AND sheet = ?');
  // Lists go in as JSON: a press notes half a million rows, and each call has its price.
  const addReads = db.prepare('INSERT OR IGNORE INTO reads (paper, tag, sheet) SELECT ?, value, ? FROM json_each(?)');
  const dropRead = db.prepare('DELETE FROM reads WHERE paper = ? AND tag = ? AND sheet = ?');
  const files = db.prepare('SELECT path, digest FROM files WHERE paper = ? AND sheet = ?');
  const someFiles = db.prepare(
    `SELECT sheet, path, digest FROM files WHERE paper = ? AND (sheet, path) > (?, ?) ORDER BY sheet, path LIMIT 1000`,
  );
  const setFiles = db.prepare(
    `INSERT INTO files (paper, sheet, path, digest)
       SELECT ?, ?, value ->> 'path', value ->> 'digest' FROM json_each(?) WHERE true
     ON CONFLICT DO UPDATE SET digest = excluded.digest`,
  );
  const dropFile = db.prepare('DELETE FROM files WHERE paper = ? AND sheet = ? AND path = ?');
  const sheets = db.prepare('SELECT sheet FROM sheets WHERE paper = ? ORDER BY sheet');
  const stamp = db.prepare('SELECT stamp FROM presses WHERE paper = ?');
  const setStamp = db.prepare(
    'INSERT INTO presses (paper, stamp) VALUES (?, ?) ON CONFLICT DO UPDATE SET stamp = excluded.stamp',
  );
  // A claim that reaches a whole span further than any that is made now is of a clock that was set back since. One that
  // reaches a little further was made by a neighbour while this process, its clock read, waited for the lock.
  const claim = db.prepare(
    `INSERT INTO presses (paper, owner, owned_until) VALUES (?1, ?2, ?3 + ?4)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, owned_until = excluded.owned_until
     WHERE presses.owner IS NULL OR presses.owned_until < ?3 OR presses.owned_until > ?3 + 2 * ?4 RETURNING owner`,
  );
  const renew = db.prepare('UPDATE presses SET owned_until = ?3 WHERE paper = ?1 AND owner = ?2');
  const owner = db.prepare('SELECT owner FROM presses WHERE paper = ?');
  const setPaid = db.prepare(
    'INSERT INTO presses (paper, paid) VALUES (?, ?) ON CONFLICT DO UPDATE SET paid = max(paid, excluded.paid)',
  );
  const reach = db.prepare('SELECT paid, taken FROM presses WHERE paper = ?');
  const release = db.prepare('UPDATE presses SET owner = NULL, owned_until = NULL WHERE paper = ? AND owner = ?');

  const sequence = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'press_due'");

  const lastOf = (paper: string): number => (lastDue.get(paper) as { id: number | null }).id ?? 0;
  const reached = (paper: string) =>
    (reach.get(paper) as { paid: number; taken: number } | undefined) ?? { paid: 0, taken: 0 };

  return {
    owe(paper, tags) {
      for (const tag of tags) owe.run(paper, tag);
    },
    due: (paper, until = Number.MAX_SAFE_INTEGER) => (due.all(paper, until) as { tag: string }[]).map((row) => row.tag),
    owes: (paper, tag) => owes.get(paper, tag) !== undefined,
    isWaiting: (paper, tag) => waiting.get(paper, tag) !== undefined,
    lastDue: lastOf,
    owing: () => (owing.all() as { paper: string }[]).map((row) => row.paper),
    begin(paper) {
      const until = lastOf(paper);
      const [row] = begun.all(paper) as { dirty: number }[];
      begin.run(paper, until);
      return { until, dirty: row?.dirty === 1 };
    },
    finish(paper, until) {
      paid.run(paper, until);
      clean.run(paper);
    },
    notePressed(paper, until, files) {
      setPaid.run(paper, until);
      addRun.run(paper, until, files);
      dropRuns.run(paper, until - RUNS_KEPT);
    },
    isPressed: (paper, number) => reached(paper).paid >= number || lastOf(paper) === 0,
    lastNumber: () => (sequence.all() as { seq: number }[])[0]?.seq ?? 0,
    highest(paper) {
      const { paid, taken } = reached(paper);
      return Math.max(paid, taken, lastOf(paper));
    },
    filesOf: (paper, number) => (run.get(paper, number) as { files: number } | undefined)?.files ?? 0,
    unsynced: (paper) => (unsynced.get(paper) as { unsynced: string | null } | undefined)?.unsynced ?? null,
    setUnsynced(paper, note) {
      setUnsynced.run(paper, note);
    },
    setSynced(paper, note) {
      setSynced.run(paper, note);
    },
    readers: (paper, tag) => (readers.all(paper, tag) as { sheet: string }[]).map((row) => row.sheet),
    sheets: (paper) => (sheets.all(paper) as { sheet: string }[]).map((row) => row.sheet),
    files: (paper, name) => files.all(paper, name) as PressedFile[],
    *everyFile(paper) {
      let last = { sheet: '', path: '' };
      for (;;) {
        const rows = someFiles.all(paper, last.sheet, last.path) as (PressedFile & { sheet: string })[];
        yield* rows;
        const end = rows.at(-1);
        if (end === undefined) return;
        last = end;
      }
    },
    record(paper, name, tags, pressed, gone) {
      const old = (sheet.get(paper, name) as { tags: string } | undefined)?.tags;
      const text = tags.join('\n');
      if (old !== text) {
        const kept = new Set(tags);
        for (const tag of old?.split('\n') ?? []) if (!kept.has(tag)) dropRead.run(paper, tag, name);
        addReads.run(paper, name, JSON.stringify(tags));
        setSheet.run(paper, name, text);
      }
      if (pressed.length > 0) setFiles.run(paper, name, JSON.stringify(pressed));
      for (const path of gone) dropFile.run(paper, name, path);
    },
    drop(paper, name) {
      const old = (sheet.get(paper, name) as { tags: string } | undefined)?.tags;
      for (const tag of old?.split('\n') ?? []) dropRead.run(paper, tag, name);
      for (const { path } of this.files(paper, name)) dropFile.run(paper, name, path);
      dropSheet.run(paper, name);
    },
    stamp: (paper) => (stamp.get(paper) as { stamp: string } | undefined)?.stamp ?? '',
    setStamp(paper, text) {
      setStamp.run(paper, text);
    },
    claim: (paper, who, now, span) => claim.all(paper, who, now, span).length === 1,
    renew: (paper, who, now, span) => renew.run(paper, who, now + span).changes === 1,
    owner: (paper) => (owner.get(paper) as { owner: string | null } | undefined)?.owner ?? null,
    release(paper, who) {
      release.run(paper, who);
    },
  };
}
