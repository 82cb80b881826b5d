import { dayOf } from '../../proof/time.ts';
import { type CheckResult, OWNER_EVENTS, type OwnerTable, PROOF_WAYS } from '../../records/accounts/owner.ts';
import { accountingTime } from '../../records/meter/account-usage.ts';
import { columnsOf, type Db, integer, json, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

const KEY = { account: text, name: text };
const REST = {
  path: text,
  registrable: text,
  token: text,
  made_at: integer,
  way: orNull(oneOf(...PROOF_WAYS)),
  proven_at: orNull(integer),
  found_at: orNull(integer),
  checked_at: orNull(integer),
  result: orNull(json<CheckResult>()),
  missing_at: orNull(integer),
  due_at: orNull(integer),
  revoked_at: orNull(integer),
  revoked_for: orNull(text),
};
const PROOF = { ...KEY, ...REST };
const PROOFS = `SELECT ${columnsOf(PROOF)} FROM owner_proofs`;
const EVENT = { n: integer, account: text, name: text, event: oneOf(...OWNER_EVENTS), at: integer, made_by: text };
const EVENTS = `SELECT ${columnsOf(EVENT)} FROM owner_events`;

/** Whether the proof `p` covers a name, by its `path` and `registrable` domain. */
const covers = (path: string, registrable: string): string =>
  `p.proven_at IS NOT NULL AND p.registrable = ${registrable}
   AND (${path} = p.path OR (${path} > p.path || '.' AND ${path} < p.path || '/'))`;

/** Whether a proof gives the hostname `n` frequent probes: it is the proven name, or in a group of the account. */
export const IS_OWNED = `EXISTS (SELECT 1 FROM owner_proofs p WHERE ${covers('n.path', 'n.registrable_domain')}
  AND (p.name = n.hostname OR EXISTS (
    SELECT 1 FROM watch_group_hosts m JOIN watch_groups g ON g.id = m.watch_group
    WHERE m.hostname = n.hostname AND g.account = p.account)))`;

/** The shown note on the change `d`, as JSON; null without one. Of several owners' notes, the newest. */
export const OWNER_NOTE = `(SELECT json_object('name', name, 'text', note, 'written_at', newest)
  FROM (SELECT o.name, o.note, max(o.at) AS newest
    FROM owner_notes o CROSS JOIN owner_proofs p ON p.account = o.account AND p.name = o.name
    WHERE o.delta = d.seq AND p.proven_at IS NOT NULL)
  WHERE newest IS NOT NULL)`;

/** Proofs of names, their events, and owners' notes and opt-outs. */
export function ownerTable(db: Db, transact: Transact): OwnerTable {
  const { run, changed, insert, upsert, one, has, number, all } = sql(db);
  const event = insert('owner_events', ['account', 'name', 'event', 'at', 'made_by', 'mail']);
  const isDueBy = has('SELECT 1 FROM owner_proofs WHERE due_at <= ? LIMIT 1');
  const isDueAfter = has('SELECT 1 FROM owner_proofs WHERE due_at > ? LIMIT 1');
  const leaseDue = all(
    `UPDATE owner_proofs SET due_at = ?2
     WHERE (account, name) IN (SELECT account, name FROM owner_proofs WHERE due_at <= ?1 ORDER BY due_at LIMIT ?3)
     RETURNING ${columnsOf(PROOF)}`,
    PROOF,
  );
  const pullForward = run('UPDATE owner_proofs SET due_at = ?1 WHERE due_at > ?2');
  const lastUse = one('SELECT max(day) FROM owner_uses WHERE what = ? AND subject = ?', orNull(text));
  const used = number('SELECT used FROM owner_uses WHERE what = ? AND subject = ? AND day = ?');
  const use = run(
    'INSERT INTO owner_uses VALUES (?, ?, ?, 1) ON CONFLICT (what, subject, day) DO UPDATE SET used = used + 1',
  );
  const addOptOut = insert(
    'owner_opt_outs',
    ['name', 'account', 'path', 'registrable', 'at'],
    'ON CONFLICT DO NOTHING',
  );
  const giveBack = run('UPDATE owner_uses SET used = used - 1 WHERE what = ? AND subject = ? AND day = ? AND used > 0');
  const forgetUses = run('DELETE FROM owner_uses WHERE day < ?');
  const save = upsert('owner_proofs', ['account', 'name'], REST);
  const putNote = upsert('owner_notes', ['delta', 'account'], ['name', 'note', 'at']);
  const dayFor = (what: string, subject: string, now: number) => dayOf(accountingTime(now, lastUse(what, subject)));
  const hasten = run(
    `UPDATE hostnames AS n SET prompt = 1, due_at = min(due_at, ?2) WHERE prompt = 0 AND state = 'watched' AND ${IS_OWNED}
       AND hostname IN (SELECT ?3 UNION SELECT m.hostname FROM watch_group_hosts m JOIN watch_groups g ON g.id = m.watch_group
         WHERE g.account = ?1)`,
  );
  return {
    get: one(`${PROOFS} WHERE account = ? AND name = ?`, PROOF),
    list: all(`${PROOFS} WHERE account = ? ORDER BY name`, PROOF),
    all: all(`${PROOFS} ORDER BY name, account`, PROOF),
    save: (proof) => void save({ ...proof }),
    remove: changed('DELETE FROM owner_proofs WHERE account = ? AND name = ?'),
    covering: one(
      `${PROOFS} AS p WHERE p.account = ?1 AND ${covers('?2', '?3')} ORDER BY length(p.path) DESC LIMIT 1`,
      PROOF,
    ),
    isProven: has(`SELECT 1 FROM owner_proofs AS p WHERE p.account = ?1 AND ${covers('?2', '?3')}`),
    // Checking first avoids the write lock when nothing is due.
    leaseDue: (now, until, limit) => (isDueBy(now) ? leaseDue(now, until, limit) : []),
    pullForward(now, horizon) {
      if (isDueAfter(horizon)) pullForward(now, horizon);
    },
    count: number('SELECT count(*) FROM owner_proofs WHERE proven_at IS NOT NULL'),
    isOwned: has(`SELECT 1 FROM hostnames n WHERE n.id = ? AND ${IS_OWNED}`),
    hasten: (account, name, at) => void hasten(account, at, name),
    note: (happened) => void event({ mail: null, ...happened }),
    events: all(`${EVENTS} WHERE name = ? AND account = ? ORDER BY n DESC LIMIT 50`, EVENT),
    eventOfMail: one(`${EVENTS} WHERE mail = ?`, EVENT),
    use: (what, subject, now, most) =>
      transact(() => {
        const day = dayFor(what, subject, now);
        const before = used(what, subject, day);
        if (before >= most) return null;
        use(what, subject, day);
        return { day, left: most - before - 1 };
      }),
    giveBack: (what, subject, day) => void giveBack(what, subject, day),
    used: (what, subject, now) => used(what, subject, dayFor(what, subject, now)),
    forgetUses: (day) => void forgetUses(day),
    putNote: (note) => void putNote(note),
    removeNote: changed('DELETE FROM owner_notes WHERE account = ? AND delta = ?'),
    notes: all(
      `SELECT o.delta, o.name, o.note, o.at, n.hostname,
         p.proven_at IS NOT NULL AND n.state <> 'opted_out' AND NOT EXISTS (
           SELECT 1 FROM owner_notes x JOIN owner_proofs q ON q.account = x.account AND q.name = x.name
           WHERE x.delta = o.delta AND q.proven_at IS NOT NULL AND (x.at, o.account) > (o.at, x.account)) AS isShown
       FROM owner_notes o JOIN owner_proofs p ON p.account = o.account AND p.name = o.name
         JOIN deltas d ON d.seq = o.delta JOIN hostnames n ON n.id = d.host
       WHERE o.account = ? ORDER BY o.delta DESC`,
      { delta: integer, name: text, note: text, at: integer, hostname: text, isShown: (value) => value === 1 },
    ),
    optedOutBy: all('SELECT account, at FROM owner_opt_outs WHERE name = ? ORDER BY at, account', {
      account: text,
      at: integer,
    }),
    addOptOut: (row) => void addOptOut(row),
    removeOptOut: changed('DELETE FROM owner_opt_outs WHERE name = ? AND account = ?'),
  };
}
