import type { Rule } from '../../records/expectation.ts';
import { EVENT_KINDS, type ExpectationTable } from '../../records/expectations.ts';
import { type Db, integer, json, oneOf, orNull, sql, text } from '../../shared/sql/sql.ts';
import { noticeTable } from './notices.ts';
import { SIGNAL } from './records-deltas.ts';

const VALUES = orNull(json<string[]>());
const EXPECTATION = {
  account: text,
  hostname: text,
  signal: SIGNAL,
  rule: json<Rule>(),
  set_at: integer,
  state: oneOf('unknown', 'expected', 'unexpected'),
  since: orNull(integer),
  observation: orNull(integer),
  seen: VALUES,
};
const PLAN = { id: text, account: text, made_at: integer, from_at: integer, until_at: integer, note: text };
const PLANNED = {
  plan: text,
  hostname: text,
  signal: SIGNAL,
  rule: json<Rule>(),
  state: oneOf('waiting', 'done', 'missed'),
  settled_at: orNull(integer),
  observation: orNull(integer),
};
const PLANNED_COLUMNS = 'v.plan, v.hostname, v.signal, v.rule, v.state, v.settled_at, v.observation';
const EVENT = {
  n: integer,
  account: text,
  hostname: text,
  signal: SIGNAL,
  kind: oneOf(...EVENT_KINDS),
  at: integer,
  expected: json<Rule>(),
  seen: VALUES,
  observation: orNull(integer),
  plan: orNull(text),
};
const EVENTS = `SELECT e.n, e.account, e.hostname, e.signal, e.kind, e.at, e.expected, e.seen, e.observation, e.plan
  FROM expectation_events e`;
const SHOWN = "EXISTS (SELECT 1 FROM hostnames h WHERE h.hostname = e.hostname AND h.state <> 'opted_out')";

/** Accounts' expectations and planned changes, and the events of both. */
export function expectationTable(db: Db): ExpectationTable {
  const { run, changed, insert, all, one, has } = sql(db);
  const put = run(
    `INSERT INTO expectations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
     ON CONFLICT DO UPDATE SET rule = excluded.rule, set_at = excluded.set_at, state = excluded.state,
       since = excluded.since, observation = excluded.observation, seen = excluded.seen`,
  );
  const addPlan = insert('planned_changes', PLAN);
  const addPlanned = insert('planned_values', PLANNED);
  const settle = run(
    'UPDATE planned_values SET state = ?4, settled_at = ?5, observation = ?6 WHERE plan = ?1 AND hostname = ?2 AND signal = ?3',
  );
  const addEvent = run(
    `INSERT INTO expectation_events (account, hostname, signal, kind, at, expected, seen, observation, plan)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const forgetEvents = run('DELETE FROM expectation_events WHERE at <= ? AND is_queued = 1');
  const forgetPlans = run(
    `DELETE FROM planned_changes WHERE until_at <= ?
     AND NOT EXISTS (SELECT 1 FROM planned_values v WHERE v.plan = planned_changes.id AND v.state = 'waiting')`,
  );
  const EXPECTATIONS = `SELECT ${Object.keys(EXPECTATION).join(', ')} FROM expectations`;
  return {
    ofAccount: all(`${EXPECTATIONS} WHERE account = ? ORDER BY hostname, signal`, EXPECTATION),
    ofHostname: all(`${EXPECTATIONS} WHERE hostname = ? ORDER BY account, signal`, EXPECTATION),
    put: ({ account, hostname, signal, rule, set_at, state, since, observation, seen }) =>
      void put(
        ...([account, hostname, signal, JSON.stringify(rule), set_at, state, since, observation] as const),
        seen === null ? null : JSON.stringify(seen),
      ),
    remove: changed('DELETE FROM expectations WHERE account = ? AND hostname = ? AND signal = ?'),
    addPlan(plan, values) {
      addPlan(plan);
      for (const value of values) addPlanned(value);
    },
    plans: all(`SELECT ${Object.keys(PLAN).join(', ')} FROM planned_changes WHERE account = ? ORDER BY id DESC`, PLAN),
    plan: one(`SELECT ${Object.keys(PLAN).join(', ')} FROM planned_changes WHERE account = ? AND id = ?`, PLAN),
    plannedValues: all(
      `SELECT ${PLANNED_COLUMNS} FROM planned_values v WHERE plan = ? ORDER BY hostname, signal`,
      PLANNED,
    ),
    removePlan: changed('DELETE FROM planned_changes WHERE account = ? AND id = ?'),
    waitingAt: all(
      `SELECT ${PLANNED_COLUMNS}, p.account, p.from_at, p.until_at
       FROM planned_values v CROSS JOIN planned_changes p ON p.id = v.plan
       WHERE v.hostname = ? AND v.state = 'waiting' ORDER BY p.account, v.signal, p.from_at`,
      { ...PLANNED, account: text, from_at: integer, until_at: integer },
    ),
    endedBefore: all(
      `SELECT ${PLANNED_COLUMNS}, p.account, p.from_at, p.until_at
       FROM planned_changes p CROSS JOIN planned_values v ON v.plan = p.id
       WHERE p.until_at <= ? AND v.state = 'waiting' ORDER BY p.until_at LIMIT ?`,
      { ...PLANNED, account: text, from_at: integer, until_at: integer },
    ),
    settle: ({ plan, hostname, signal }, { state, at, observation }) =>
      void settle(plan, hostname, signal, state, at, observation),
    addEvent: ({ account, hostname, signal, kind, at, expected, seen, observation, plan }) =>
      void addEvent(
        ...([account, hostname, signal, kind, at, JSON.stringify(expected)] as const),
        ...([seen === null ? null : JSON.stringify(seen), observation, plan] as const),
      ),
    events: all(`${EVENTS} WHERE e.account = ? AND ${SHOWN} ORDER BY e.n DESC LIMIT ?`, EVENT),
    isQueueing: has('SELECT 1 FROM expectation_events WHERE is_queued = 0'),
    toQueue: all(`${EVENTS} WHERE e.is_queued = 0 ORDER BY e.n LIMIT ?`, EVENT),
    queued: run('UPDATE expectation_events SET is_queued = 1 WHERE n = ?'),
    notice: run('INSERT INTO expectation_notices (account, event, way, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'),
    ...noticeTable(db, 'expectation_notices'),
    eventsIn: all(
      `${EVENTS} CROSS JOIN expectation_notices m ON m.event = e.n
       WHERE m.mail = ? AND ${SHOWN} ORDER BY e.hostname, e.n`,
      EVENT,
    ),
    lookBy: run(
      "UPDATE hostnames SET due_at = ?2 WHERE hostname = ?1 AND state = 'watched' AND lease IS NULL AND due_at > ?2",
    ),
    forget(until) {
      forgetEvents(until);
      forgetPlans(until);
    },
  };
}
