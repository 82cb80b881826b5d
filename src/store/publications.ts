import type { TopicQueue } from '../desk/press/manifest.ts';
import type { HubPings } from '../shared/outbound/hub-ping.ts';
import { columnsOf, type Db, flag, integer, orNull, type Read, sql, type Transact, text } from '../shared/sql/sql.ts';

/** The stored state of a tree at a target. */
const PUBLICATION = {
  tree: text,
  /** Empty before the first publication. */
  publication: text,
  /** The `_headers` file in force when the objects were sent. */
  rules: text,
  /** For a log, the size of the published tree. */
  size: integer,
  /** For a log, a JSON list of the tree sizes whose tiles were sent since the last publication. */
  sent_sizes: text,
  published_at: orNull(integer),
  failed_at: orNull(integer),
  failure: orNull(text),
};
const PUBLICATIONS = `SELECT ${columnsOf(PUBLICATION)} FROM publications WHERE target = ?`;

/** A queued path: the target lacks the file, has another one, or has one too many. */
const UNPUBLISHED = {
  sheet: text,
  path: text,
  mark: integer,
  /** Whether the path is new at the target. */
  isAdded: flag,
  /** The digest in the manifest; null when the file must be removed. */
  digest: orNull(text),
};
export type Unpublished = Read<typeof UNPUBLISHED>;

/** Paths missing at a target, paths with other bytes or headers there, and paths that only the target has. */
interface QueuedPaths {
  added: readonly string[];
  changed: readonly string[];
  strays: readonly string[];
}

/** What was published where, and the queue of changes. Triggers on the manifest queue each change for each target. */
export function publicationTable(db: Db, transact: Transact) {
  const { run, one, has, all } = sql(db);
  const add = run('INSERT OR IGNORE INTO publications (target, tree) VALUES (?, ?)');
  const fail = run(
    `UPDATE publications SET failed_at = coalesce(failed_at, ?3), failure = ?4 WHERE target = ?1 AND tree = ?2`,
  );
  // Random change numbers, shifted to fit JavaScript's safe integers.
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
  const listed = all(
    'SELECT DISTINCT path FROM files WHERE paper = ? AND path IN (SELECT value FROM json_each(?))',
    text,
  );
  const take = run('DELETE FROM unpublished WHERE target = ? AND tree = ? AND sheet = ? AND path = ? AND mark = ?');
  const press = one('SELECT dirty, owner IS NOT NULL AND owned_until > ?2 AS isOwned FROM presses WHERE paper = ?1', {
    dirty: flag,
    isOwned: flag,
  });
  return {
    find: one(`${PUBLICATIONS} AND tree = ?`, PUBLICATION),
    all: all(`${PUBLICATIONS} ORDER BY tree`, PUBLICATION),
    /** Queues all changes of a tree for a target from now on. */
    watch: (target: string, tree: string): void => void add(target, tree),
    begin: run('UPDATE publications SET publication = ?3 WHERE target = ?1 AND tree = ?2'),
    setRules: run('UPDATE publications SET rules = ?3 WHERE target = ?1 AND tree = ?2'),
    /** Records that tiles of a log of this size are about to be sent. */
    sending: run(
      `UPDATE publications SET sent_sizes = json_insert(sent_sizes, '$[#]', ?3) WHERE target = ?1 AND tree = ?2
         AND NOT EXISTS (SELECT 1 FROM json_each(sent_sizes) WHERE value = ?3)`,
    ),
    /** Records the time at which a tree was published, and for a log its size. */
    finish: run(
      `UPDATE publications SET published_at = ?3, size = ?4, sent_sizes = '[]', failed_at = NULL, failure = NULL
       WHERE target = ?1 AND tree = ?2`,
    ),
    fail: (target: string, tree: string, at: number, failure: string): void =>
      transact(() => {
        add(target, tree);
        fail(target, tree, at, failure);
      }),
    /** Queues the differences that a comparison found. */
    queue: (target: string, tree: string, { added, changed, strays }: QueuedPaths): void =>
      transact(() => {
        queueListed(target, tree, JSON.stringify(added), 1);
        queueListed(target, tree, JSON.stringify(changed), 0);
        queueStray(target, tree, JSON.stringify(strays));
      }),
    unpublished: all(
      `SELECT u.sheet, u.path, u.mark, u.added AS isAdded, f.digest FROM unpublished u
       LEFT JOIN files f ON f.paper = u.tree AND f.sheet = u.sheet AND f.path = u.path
       WHERE u.target = ? AND u.tree = ? ORDER BY u.path`,
      UNPUBLISHED,
    ),
    /** The paths among these that an output of the tree still has. */
    listed: (tree: string, paths: readonly string[]): string[] => listed(tree, JSON.stringify(paths)),
    /** Removes rows from the queue, except those that changed since they were read. */
    settle: (target: string, tree: string, rows: readonly Pick<Unpublished, 'sheet' | 'path' | 'mark'>[]): void =>
      transact(() => {
        for (const { sheet, path, mark } of rows) take(target, tree, sheet, path, mark);
      }),
    /** Whether a tree is complete on disk: no press runs, and none was interrupted. */
    pressState(tree: string, now: number): 'complete' | 'pressing' | 'interrupted' {
      const { dirty, isOwned } = press(tree, now) ?? { dirty: false, isOwned: false };
      return !dirty ? 'complete' : isOwned ? 'pressing' : 'interrupted';
    },
    hasFiles: has('SELECT 1 FROM files WHERE paper = ? LIMIT 1'),
    /** The trees at a target, whether each was ever published there, and whether changes are queued. */
    trees: all(
      `SELECT tree, publication <> '' AS isPublished,
         EXISTS (SELECT 1 FROM unpublished u WHERE u.target = p.target AND u.tree = p.tree) AS isQueued
       FROM publications p WHERE target = ? ORDER BY tree`,
      { tree: text, isPublished: flag, isQueued: flag },
    ),
  };
}

/** Feeds whose hub is to be notified that they changed. */
export function hubPingTable(db: Db): HubPings & TopicQueue {
  const { run, changed, all } = sql(db);
  const note = run(
    `INSERT INTO hub_pings (paper, path, change, due_at, tries, lease) VALUES (?, ?, 1, NULL, 0, 0)
     ON CONFLICT DO UPDATE SET change = change + 1, due_at = NULL, tries = 0`,
  );
  const remove = changed('DELETE FROM hub_pings WHERE paper = ? AND path = ? AND change = ?');
  const putOff = changed(
    'UPDATE hub_pings SET due_at = ?, tries = tries + 1, lease = 0 WHERE paper = ? AND path = ? AND change = ?',
  );
  const free = run('UPDATE hub_pings SET lease = 0 WHERE paper = ? AND path = ?');
  return {
    note(paper, paths) {
      for (const path of paths) note(paper, path);
    },
    release: run('UPDATE hub_pings SET due_at = ?2 WHERE paper = ?1 AND due_at IS NULL'),
    // A lease longer than its whole span was granted before the clock was set back.
    lease: all(
      `UPDATE hub_pings SET lease = ?2 WHERE (paper, path) IN (
         SELECT paper, path FROM hub_pings WHERE due_at <= ?1 AND (lease <= ?1 OR lease > ?2)
         ORDER BY due_at, paper, path LIMIT ?3)
       RETURNING paper, path, change, tries`,
      { paper: text, path: text, change: integer, tries: integer },
    ),
    settle({ paper, path, change }) {
      if (!remove(paper, path, change)) free(paper, path);
    },
    retry({ paper, path, change }, due_at) {
      if (!putOff(due_at, paper, path, change)) free(paper, path);
    },
  };
}
