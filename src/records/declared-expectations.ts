import { DAY, isoOrNull, isoTime } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import type { Rule } from './expectation.ts';
import type { Expected, Known } from './expectation-document.ts';
import {
  type Answered,
  type Expectation,
  type ExpectationEvent,
  eventLine,
  type PlannedChange,
  type PlannedValue,
  settleOne,
} from './expectations.ts';
import { parseHostname } from './hostname.ts';
import { otherNodeOf } from './nodes.ts';
import { originsOf } from './origins.ts';
import { limitsOf } from './plans.ts';
import type { TrackedName } from './tracked-values.ts';

/** What accounts declare: expectations and planned changes, and how both are shown. Times in ms. */

/** The longest window, how far ahead it may begin, in ms, and how many plans of an account are kept. */
export const WINDOW_MAX = 7 * DAY;
const AHEAD_MAX = 366 * DAY;
export const PLANS_MAX = 100;
/** The longest note of a plan, in UTF-16 units. */
export const NOTE_MAX = 200;

/** What documents of this service may name. */
export function knownNames(app: AppContext): Known {
  const { settings, store } = app;
  const { records } = store;
  return {
    hasOrigins: settings.asTable !== undefined,
    refusal(hostname) {
      const node = otherNodeOf(app, parseHostname(hostname));
      if (node !== null) return `belongs to node ${node.name} of these records; declare it at ${node.url}`;
      if (records.optOutOf(hostname) !== null) return 'there is nothing of it here: it opted out; take it out';
      if (records.find(hostname) !== null) return null;
      return 'is not under watch; put it into one of your groups first';
    },
  };
}

/** The newest answer of a name, whether or not each type of it is known; null before the first. */
function newestAnswer({ store: { records }, clock }: AppContext, hostname: string): Answered | null {
  const host = records.find(hostname);
  if (host === null || host.seq === null || host.looked_at === null) return null;
  const baseline = records.baseline(host.id);
  return {
    ...{ hostname, observation: host.seq, observed_at: host.looked_at, now: clock.now(), baseline },
    isKnown: (signal) => baseline[signal] !== undefined,
    isTurn: () => false,
  };
}

/** The document that declares these expectations. */
export function namesIn(all: readonly Expectation[]): Record<string, Record<string, Rule>> {
  const names: Record<string, Record<string, Rule>> = {};
  for (const { hostname, signal, rule } of all) names[hostname] = { ...names[hostname], [signal]: rule };
  return names;
}

/** Replaces what an account expects, and compares it with the newest answers. Expectations that stay keep their state. */
export function putExpectations(app: AppContext, account: string, names: Expected): void {
  const { records, database } = app.store;
  const { expectations: table } = records;
  const [now, originOf] = [app.clock.now(), originsOf(app.settings)];
  database.transact(() => {
    const old = new Map(table.ofAccount(account).map((one) => [`${one.hostname} ${one.signal}`, one]));
    for (const [hostname, rules] of Object.entries(names)) {
      const answer = newestAnswer(app, hostname);
      for (const [signal, rule] of Object.entries(rules) as [TrackedName, Rule][]) {
        const key = `${hostname} ${signal}`;
        const before = old.get(key);
        old.delete(key);
        if (before !== undefined && JSON.stringify(before.rule) === JSON.stringify(rule)) continue;
        const fresh: Expectation = {
          ...{ account, hostname, signal, rule, set_at: now, state: 'unknown' },
          ...{ since: null, observation: null, seen: null },
        };
        table.put(fresh);
        // What was loud is over when the new rule takes the answer.
        const state = before?.state === 'unexpected' ? 'unexpected' : 'unknown';
        if (answer !== null) settleOne(table, { ...fresh, state }, answer, originOf);
      }
    }
    for (const { hostname, signal } of old.values()) table.remove(account, hostname, signal);
  });
}

/** Ends every expectation and every plan of an account. Returns how many there were. */
export function removeExpectations({ store: { records, database } }: AppContext, account: string) {
  const { expectations: table } = records;
  return database.transact(() => {
    const all = table.ofAccount(account);
    for (const { hostname, signal } of all) table.remove(account, hostname, signal);
    const plans = table.plans(account).filter(({ id }) => table.removePlan(account, id));
    return { expectations: all.length, plans: plans.length };
  });
}

/**
 * Announces a change. What a name answers now is expected until then, where nothing else is. Throws `invalid_request`
 * for the window, and `conflict` for an overlapping plan.
 */
export function planChange(
  app: AppContext,
  account: string,
  { names, from, until, note }: { names: Expected; from: number | undefined; until: number; note: string },
  id: string,
): PlannedChange {
  const { records, database } = app.store;
  const { expectations: table } = records;
  const now = app.clock.now();
  const plan = { id, account, made_at: now, from_at: from ?? now, until_at: until, note };
  assertWindow(plan, now);
  const values = Object.entries(names).flatMap(([hostname, rules]) =>
    (Object.entries(rules) as [TrackedName, Rule][]).map(
      ([signal, rule]): PlannedValue => ({
        ...{ plan: id, hostname, signal, rule, state: 'waiting' },
        ...{ settled_at: null, observation: null },
      }),
    ),
  );
  return database.transact(() => {
    makeRoom(app, account, Object.keys(names));
    for (const { hostname, signal } of values) {
      const other = table
        .waitingAt(hostname)
        .find((one) => one.account === account && one.signal === signal && overlap(one, plan));
      if (other === undefined) continue;
      const span = `${isoTime(other.from_at)} to ${isoTime(other.until_at)}`;
      const message = `names.${hostname}.${signal}: plan ${other.plan} is of the same, from ${span}; remove it, or choose another window`;
      throw new Fault('conflict', message, { field: `names.${hostname}.${signal}`, plan: other.plan });
    }
    table.addPlan(plan, values);
    for (const { hostname, signal } of values) {
      expectPresent(app, account, hostname, signal);
      table.lookBy(hostname, Math.max(now, plan.from_at));
    }
    return plan;
  });
}

/**
 * Makes room for a plan: the oldest settled one gives way. While windows are open, names are probed often, so those of an
 * account's plans are no more than it may watch. Throws `conflict`.
 */
function makeRoom(app: AppContext, account: string, names: readonly string[]): void {
  const { accounts, expectations: table } = app.store.records;
  const waiting = new Set(names);
  const plans = table.plans(account);
  let settled: string | null = null;
  for (const { id } of plans) {
    const open = table.plannedValues(id).filter(({ state }) => state === 'waiting');
    if (open.length === 0) settled = id;
    for (const { hostname } of open) waiting.add(hostname);
  }
  const holder = accounts.find(account);
  const cap = holder === null ? 0 : limitsOf(app, holder).limits.watch;
  if (waiting.size > cap) {
    const message = `names: planned changes would wait for ${waiting.size} names, and your plan has room for ${cap}; remove one first`;
    throw new Fault('conflict', message, { field: 'names' });
  }
  if (plans.length < PLANS_MAX) return;
  if (settled === null) {
    throw new Fault('conflict', `the account waits for ${PLANS_MAX} planned changes, the most; remove one first`);
  }
  table.removePlan(account, settled);
}

function expectPresent(app: AppContext, account: string, hostname: string, signal: TrackedName): void {
  const { records } = app.store;
  const { expectations: table } = records;
  const answer = newestAnswer(app, hostname);
  const values = answer?.baseline[signal]?.values;
  const host = records.find(hostname);
  if (answer === null || values === undefined || host === null) return;
  if (table.ofAccount(account).some((one) => one.hostname === hostname && one.signal === signal)) return;
  // A turn of a rotating set is no value to insist on; nor is a certificate, which is named by its issuer.
  if (records.rotations(host.id)[signal]?.set != null || (signal === 'CERTIFICATE' && values.length > 0)) return;
  const now = answer.now;
  table.put({
    ...{ account, hostname, signal, rule: { values }, set_at: now, state: 'expected' },
    ...{ since: now, observation: answer.observation, seen: values },
  });
}

function assertWindow({ from_at, until_at }: PlannedChange, now: number): void {
  const refuse = (field: string, message: string): never => {
    throw new Fault('invalid_request', `${field}: ${message}`, { field });
  };
  if (until_at <= now)
    refuse('until', `${isoTime(until_at)} is over; it is ${isoTime(now)}. Give a time to come, in UTC`);
  if (until_at <= from_at)
    refuse('until', `${isoTime(until_at)} is not after from, ${isoTime(from_at)}; give a later time`);
  if (until_at - from_at > WINDOW_MAX) {
    refuse('until', `the window is longer than ${WINDOW_MAX / DAY} days; give a time within them`);
  }
  if (from_at > now + AHEAD_MAX) refuse('from', `${isoTime(from_at)} is more than a year ahead; announce it later`);
}

function overlap(
  a: Pick<PlannedChange, 'from_at' | 'until_at'>,
  b: Pick<PlannedChange, 'from_at' | 'until_at'>,
): boolean {
  return a.from_at < b.until_at && b.from_at < a.until_at;
}

/** A planned change of an account. Throws `not_found`. */
export function requirePlan({ store }: AppContext, account: string, id: string): PlannedChange {
  const plan = store.records.expectations.plan(account, id);
  if (plan !== null) return plan;
  throw new Fault(
    'not_found',
    'your account has no such planned change; /account/expectations lists those that it has',
  );
}

/** The receipt of an observation of a shown name; null where there is none. */
function receiptOf({ store: { records } }: AppContext, hostname: string, seq: number | null): string | null {
  const host = records.find(hostname);
  if (seq === null || host === null || host.state === 'opted_out') return null;
  return records.eventReceipt(host.id, seq);
}

export function expectationRow(app: AppContext, one: Expectation) {
  const isShown = app.store.records.find(one.hostname)?.state !== 'opted_out';
  return {
    ...{ hostname: one.hostname, signal: one.signal, expected: one.rule },
    state: isShown ? one.state : ('unknown' as const),
    since: isShown ? isoOrNull(one.since) : null,
    seen: isShown ? one.seen : null,
    observation_seq: isShown ? one.observation : null,
  };
}

export function planRow(app: AppContext, { id, made_at, from_at, until_at, note }: PlannedChange) {
  const values = app.store.records.expectations.plannedValues(id);
  return {
    id,
    made_at: isoTime(made_at),
    from: isoTime(from_at),
    until: isoTime(until_at),
    note,
    items: values.map(({ hostname, signal, rule, state, settled_at, observation }) => ({
      ...{ hostname, signal, expected: rule, state, settled_at: isoOrNull(settled_at), observation_seq: observation },
      receipt: state === 'done' ? receiptOf(app, hostname, observation) : null,
    })),
  };
}

/** An event as webhooks and lists have it, with its proof: the receipt of the observation that shows it. */
export function eventRow(app: AppContext, event: ExpectationEvent) {
  const { n, hostname, signal, kind, at, expected, seen, observation, plan } = event;
  return {
    ...{ seq: n, at: isoTime(at), domain: hostname, signal, kind, expected, seen, observation_seq: observation, plan },
    line: eventLine(event),
    receipt: receiptOf(app, hostname, observation),
  };
}
