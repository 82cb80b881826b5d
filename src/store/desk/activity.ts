import { ACTIONS, type ActivityRow, type ActivityTable, SUBJECTS, WAYS } from '../../desk/activity.ts';
import { STATES } from '../../desk/archive.ts';
import { LEVELS } from '../../desk/papers/keys.ts';
import { HOUR } from '../../proof/time.ts';
import {
  columnsOf,
  type Db,
  flag,
  integer,
  json,
  oneOf,
  orNull,
  type Read,
  sql,
  type Transact,
  text,
} from '../../shared/sql/sql.ts';

const ROW = {
  id: text,
  paper: text,
  at: integer,
  who: text,
  action: oneOf(...ACTIONS),
  refused: flag,
  kind: orNull(oneOf(...SUBJECTS)),
  subject: orNull(text),
  slug: orNull(text),
  title: orNull(text),
  way: oneOf(...WAYS),
  network: orNull(text),
  detail: json<Record<string, unknown>>(),
};

const FOUND = {
  ...ROW,
  key_name: orNull(text),
  key_level: orNull(oneOf(...LEVELS)),
  key_seat: orNull(text),
  piece_state: orNull(oneOf(...STATES)),
};

const { slug: _slug, title: _title, ...OWN } = ROW;
// Shows a piece's current slug and headline, and neither while its headline is withheld.
const SELECT = `SELECT ${columnsOf(OWN, 'a')},
    coalesce(a.slug, iif(p.headline_withheld, NULL, p.slug)) AS slug,
    coalesce(a.title, iif(p.headline_withheld, NULL, g.headline)) AS title,
    k.name AS key_name, k.level AS key_level, k.seat AS key_seat, p.state AS piece_state
  FROM activity a LEFT JOIN keys k ON k.id = a.who
    LEFT JOIN pieces p ON a.kind = 'piece' AND p.id = a.subject
    LEFT JOIN generations g ON g.n = p.generation`;

function rowOf({
  kind,
  subject,
  slug,
  title,
  key_name,
  key_level,
  key_seat,
  piece_state,
  ...row
}: Read<typeof FOUND>): ActivityRow {
  const about = { id: subject, slug: slug ?? undefined, title: title ?? undefined, state: piece_state };
  return {
    ...row,
    subject: kind === null ? null : { kind, ...about },
    key: key_name === null || key_level === null ? null : { name: key_name, level: key_level, seat: key_seat },
  };
}

/** The log of who changed what. Triggers refuse to change it. */
export function activityTable(db: Db, transact: Transact): ActivityTable {
  const { run, insert, one, all, number } = sql(db);
  const add = insert('activity', ROW);
  const count = one(
    `INSERT INTO key_work (key, filed, refused, last_at, hour, refused_in_hour)
     SELECT id, ?2, ?3, ?4, ?5, ?3 FROM keys WHERE id = ?1
     ON CONFLICT (key) DO UPDATE SET filed = filed + ?2, refused = refused + ?3, last_at = max(last_at, ?4), hour = ?5,
       refused_in_hour = ?3 + iif(hour = ?5, refused_in_hour, 0)
     RETURNING refused_in_hour`,
    integer,
  );
  // One statement per combination of filters, so that each uses a suitable index.
  const lists = new Map<string, (...params: (string | number)[]) => ActivityRow[]>();
  const listOf = (filters: string) => {
    const known =
      lists.get(filters) ??
      all(`${SELECT} WHERE a.paper = ? ${filters} ORDER BY a.at DESC, a.id DESC LIMIT ?`, FOUND, rowOf);
    lists.set(filters, known);
    return known;
  };
  const noteTo = run('INSERT INTO activity_pruned (until) VALUES (?)');
  const forgetNotes = run('DELETE FROM activity_pruned');
  const prune = run('DELETE FROM activity WHERE paper IN (SELECT slug FROM papers) AND at <= ?');
  const onAir = number(
    `SELECT count(*) FROM (SELECT DISTINCT piece FROM generations WHERE filed_by = ? AND filed_by <> 'cli') f
     JOIN pieces p ON p.id = f.piece WHERE p.state = 'on_air'`,
  );
  return {
    add({ subject, ...row }) {
      const { kind = null, id = null, slug = null, title = null } = subject ?? {};
      add({ ...row, kind, subject: id, slug, title });
    },
    count: (key, { filed, refused, at }) => count(key, filed, refused, at, Math.floor(at / HOUR)) ?? 0,
    list(paper, { limit, after, ...query }) {
      const { who, action, subject, refused, since } = query;
      const given: [string, string | number | undefined][] = [
        ['AND a.who = ?', who],
        ['AND a.action = ?', action],
        ['AND a.subject = ?', subject],
        ['AND a.refused = ?', refused === undefined ? undefined : Number(refused)],
        ['AND a.at >= ?', since],
        ['AND (a.at, a.id) < (?, ?)', after?.at],
      ];
      const used = given.filter(([, value]) => value !== undefined);
      const values = used.map(([, value]) => value as string | number);
      return listOf(used.map(([filter]) => filter).join(' '))(
        paper,
        ...values,
        ...(after === undefined ? [] : [after.id]),
        limit,
      );
    },
    since: all(
      `SELECT who, count(*) FILTER (WHERE refused = 0) AS filed, count(*) FILTER (WHERE refused = 1) AS refused
       FROM activity WHERE paper = ? AND at > ? AND (refused = 1 OR action IN ('piece.filed', 'piece.revised')) GROUP BY who`,
      { who: text, filed: integer, refused: integer },
    ),
    workOf: one('SELECT filed, refused, last_at FROM key_work WHERE key = ?', {
      filed: integer,
      refused: integer,
      last_at: integer,
    }),
    onAir: (key) => onAir(`key:${key}`),
    prune: (until) =>
      transact(() => {
        forgetNotes();
        noteTo(until);
        prune(until);
      }),
  };
}
