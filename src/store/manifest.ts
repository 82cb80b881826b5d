import type { Manifest, PressedFile } from '../press/manifest.ts';
import type { Db } from './open.ts';

/** What the press owes and what it has put on disk. */
export function manifestTables(db: Db): Manifest {
  const owe = db.prepare('INSERT OR REPLACE INTO press_due (paper, tag) VALUES (?, ?)');
  const due = db.prepare('SELECT tag FROM press_due WHERE paper = ? ORDER BY id');
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
  const everyFile = db.prepare('SELECT path, digest FROM files WHERE paper = ? ORDER BY sheet, path');
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
  const claim = db.prepare(
    `INSERT INTO presses (paper, owner, owned_until) VALUES (?1, ?2, ?3)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, owned_until = excluded.owned_until
     WHERE presses.owner IS NULL OR presses.owner = ?2 OR presses.owned_until < ?4 RETURNING owner`,
  );
  const owner = db.prepare('SELECT owner FROM presses WHERE paper = ?');
  const setPaid = db.prepare(
    'INSERT INTO presses (paper, paid) VALUES (?, ?) ON CONFLICT DO UPDATE SET paid = max(paid, excluded.paid)',
  );
  const paidUntil = db.prepare('SELECT paid FROM presses WHERE paper = ?');
  const release = db.prepare('UPDATE presses SET owner = NULL, owned_until = NULL WHERE paper = ? AND owner = ?');

  return {
    owe(paper, tags) {
      for (const tag of tags) owe.run(paper, tag);
    },
    due: (paper) => (due.all(paper) as { tag: string }[]).map((row) => row.tag),
    owes: (paper, tag) => owes.get(paper, tag) !== undefined,
    lastDue: (paper) => (lastDue.get(paper) as { id: number | null }).id ?? 0,
    owing: () => (owing.all() as { paper: string }[]).map((row) => row.paper),
    paid(paper, until) {
      paid.run(paper, until);
      setPaid.run(paper, until);
    },
    paidUntil: (paper) => (paidUntil.get(paper) as { paid: number } | undefined)?.paid ?? 0,
    readers: (paper, tag) => (readers.all(paper, tag) as { sheet: string }[]).map((row) => row.sheet),
    sheets: (paper) => (sheets.all(paper) as { sheet: string }[]).map((row) => row.sheet),
    files: (paper, name) => files.all(paper, name) as PressedFile[],
    everyFile: (paper) => everyFile.iterate(paper) as Iterable<PressedFile>,
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
    claim: (paper, who, until, now) => claim.get(paper, who, until, now) !== undefined,
    owner: (paper) => (owner.get(paper) as { owner: string | null } | undefined)?.owner ?? null,
    release(paper, who) {
      release.run(paper, who);
    },
  };
}
