import { type Db, flag, integer, orNull, sql, type Transact, text } from './sql.ts';

/** What the database remembers of a tree at a target. */
export interface Publication {
  tree: string;
  /** Empty before the first publication. */
  publication: string;
  /** The `_headers` with which the objects were sent. */
  rules: string;
  /** For a log, the size of the published tree. */
  size: number;
  /** For a log, the sizes of the trees of which tiles were sent since, a JSON list. */
  sent_sizes: string;
  published_at: number | null;
  failed_at: number | null;
  failure: string | null;
}

/** A file that a target does not have. */
export interface Unpublished {
  sheet: string;
  path: string;
  mark: number;
  /** Whether the target has no file at this path. */
  isAdded: boolean;
  /** Its digest in the manifest; null when it is to be removed. */
  digest: string | null;
}

/** Paths that a target lacks, that it has with other bytes or headers, and that the tree does not have. */
export interface QueuedPaths {
  added: readonly string[];
  changed: readonly string[];
  strays: readonly string[];
}

const COLUMNS = 'tree, publication, rules, size, sent_sizes, published_at, failed_at, failure';

/** What was published where, and what is still to be. Triggers on the manifest queue every change for each target. */
export interface PublicationTable {
  find(target: string, tree: string): Publication | null;
  all(target: string): Publication[];
  /** Queues the changes of a tree from now on. */
  watch(target: string, tree: string): void;
  begin(target: string, tree: string, publication: string): void;
  setRules(target: string, tree: string, rules: string): void;
  /** Notes that tiles of a log of this size are about to be sent. */
  sending(target: string, tree: string, size: number): void;
  finish(target: string, tree: string, at: number, size: number): void;
  fail(target: string, tree: string, at: number, failure: string): void;
  /** Queues what a comparison has found. */
  queue(target: string, tree: string, paths: QueuedPaths): void;
  unpublished(target: string, tree: string): Unpublished[];
  /** Which of these paths some output of a tree still has. */
  listed(tree: string, paths: readonly string[]): string[];
  /** Takes rows off the queue, except those that changed since they were read. */
  settle(target: string, tree: string, rows: readonly Pick<Unpublished, 'sheet' | 'path' | 'mark'>[]): void;
  /** Whether a tree is complete on disk: no press runs, and none was interrupted. */
  pressState(tree: string, now: number): 'complete' | 'pressing' | 'interrupted';
  hasFiles(tree: string): boolean;
  /** The trees at a target: whether they were ever published there, and whether something is queued. */
  trees(target: string): { tree: string; isPublished: boolean; isQueued: boolean }[];
}

export function publicationTable(db: Db, transact: Transact): PublicationTable {
  const { run, one, all } = sql(db);
  const row = {
    tree: text,
    publication: text,
    rules: text,
    size: integer,
    sent_sizes: text,
    published_at: orNull(integer),
    failed_at: orNull(integer),
    failure: orNull(text),
  };
  const add = run('INSERT OR IGNORE INTO publications (target, tree) VALUES (?, ?)');
  const begin = run('UPDATE publications SET publication = ?3 WHERE target = ?1 AND tree = ?2');
  const setRules = run('UPDATE publications SET rules = ?3 WHERE target = ?1 AND tree = ?2');
  const sending = run(
    `UPDATE publications SET sent_sizes = json_insert(sent_sizes, '$[#]', ?3) WHERE target = ?1 AND tree = ?2
       AND NOT EXISTS (SELECT 1 FROM json_each(sent_sizes) WHERE value = ?3)`,
  );
  const finish = run(
    `UPDATE publications SET published_at = ?3, size = ?4, sent_sizes = '[]', failed_at = NULL, failure = NULL
     WHERE target = ?1 AND tree = ?2`,
  );
  const fail = run(
    `UPDATE publications SET failed_at = coalesce(failed_at, ?3), failure = ?4 WHERE target = ?1 AND tree = ?2`,
  );
  // Marks are integers that JavaScript can hold.
  const queueListed = run(
    `INSERT INTO unpublished (target, tree, sheet, path, mark, added)
       SELECT ?1, ?2, sheet, path, random() >> 11, ?4 FROM files
       WHERE paper = ?2 AND path IN (SELECT value FROM json_each(?3))
     ON CONFLICT DO UPDATE SET mark = excluded.mark, added = max(added, excluded.added)`,
  );
  const queueStray = run(
    `INSERT INTO unpublished (target, tree, sheet, path, mark, added)
       SELECT ?1, ?2, '', value, random() >> 11, 0 FROM json_each(?3) WHERE true
     ON CONFLICT DO UPDATE SET mark = excluded.mark`,
  );
  const unpublished = all(
    `SELECT u.sheet, u.path, u.mark, u.added AS isAdded, f.digest FROM unpublished u
     LEFT JOIN files f ON f.paper = u.tree AND f.sheet = u.sheet AND f.path = u.path
     WHERE u.target = ? AND u.tree = ? ORDER BY u.path`,
    { sheet: text, path: text, mark: integer, isAdded: flag, digest: orNull(text) },
  );
  const listed = all(
    'SELECT DISTINCT path FROM files WHERE paper = ? AND path IN (SELECT value FROM json_each(?))',
    text,
  );
  const take = run('DELETE FROM unpublished WHERE target = ? AND tree = ? AND sheet = ? AND path = ? AND mark = ?');
  const press = one('SELECT dirty, owner IS NOT NULL AND owned_until > ?2 AS isOwned FROM presses WHERE paper = ?1', {
    dirty: flag,
    isOwned: flag,
  });
  const anyFile = one('SELECT 1 FROM files WHERE paper = ? LIMIT 1', integer);
  return {
    find: one(`SELECT ${COLUMNS} FROM publications WHERE target = ? AND tree = ?`, row),
    all: all(`SELECT ${COLUMNS} FROM publications WHERE target = ? ORDER BY tree`, row),
    watch: add,
    begin,
    setRules,
    sending,
    finish,
    fail(target, tree, at, failure) {
      transact(() => {
        add(target, tree);
        fail(target, tree, at, failure);
      });
    },
    queue(target, tree, { added, changed, strays }) {
      transact(() => {
        queueListed(target, tree, JSON.stringify(added), 1);
        queueListed(target, tree, JSON.stringify(changed), 0);
        queueStray(target, tree, JSON.stringify(strays));
      });
    },
    unpublished,
    listed: (tree, paths) => listed(tree, JSON.stringify(paths)),
    settle(target, tree, rows) {
      transact(() => {
        for (const { sheet, path, mark } of rows) take(target, tree, sheet, path, mark);
      });
    },
    pressState(tree, now) {
      const { dirty, isOwned } = press(tree, now) ?? { dirty: false, isOwned: false };
      return !dirty ? 'complete' : isOwned ? 'pressing' : 'interrupted';
    },
    hasFiles: (tree) => anyFile(tree) !== null,
    trees: all(
      `SELECT tree, publication <> '' AS isPublished,
         EXISTS (SELECT 1 FROM unpublished u WHERE u.target = p.target AND u.tree = p.tree) AS isQueued
       FROM publications p WHERE target = ? ORDER BY tree`,
      { tree: text, isPublished: flag, isQueued: flag },
    ),
  };
}
