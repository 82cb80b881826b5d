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

/** Accounts' declarations: expectations and planned changes, and how both are shown. Times in ms. */

/** The longest window, how far ahead it may begin, both in ms, and how many plans an account may have. */
export const WINDOW_MAX = 7 * DAY;
const AHEAD_MAX = 366 * DAY;
export const PLANS_MAX = 100;
/** The longest note of a plan, in UTF-16 units. */
export const NOTE_MAX = 200;

/** The hostnames and rules that documents may use on this service. */
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

/** The newest answers of a hostname, whether or not each type's is known; null before the first observation. */
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

/** The `names` member of the document that declares these expectations. */
export function namesIn(all: readonly Expectation[]): Record<string, Record<string, Rule>> {
  const names: Record<string, Record<string, Rule>> = {};
  for (const { hostname, signal, rule } of all) names[hostname] = { ...names[hostname], [signal]: rule };
  return names;
}

/**
 * Replaces an account's expectations, and compares the new ones with the newest answers. Unchanged expectations keep
 * their state.
 */
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
        // If the old rule was violated and the new one accepts the answer, an `as_expected` event ends the incident.
        const state = before?.state === 'unexpected' ? 'unexpected' : 'unknown';
        if (answer !== null) settleOne(table, { ...fresh, state }, answer, originOf);
      }
    }
    for (const { hostname, signal } of old.values()) table.remove(account, hostname, signal);
  });
}

/** Ends all expectations and plans of an account. Returns how many there were. */
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
 * Announces a change. Until it happens, the current answers are expected wherever the account has no expectation.
 * Throws `invalid_request` for an invalid window, and `conflict` for an overlapping plan.
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
 * Makes room for a plan by removing the oldest settled one. Hostnames are probed often while a window is open, so the
 * waiting plans of an account may cover only as many hostnames as it may watch. Throws `conflict`.
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
    throw new Fault(
      'conflict',
      `the account has ${PLANS_MAX} waiting planned changes, which is the maximum; remove one first`,
    );
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
  // The current answer is not made an expectation if it comes from a rotating set, or is a certificate: renewals change
  // it, so certificates are expected by issuer.
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
    refuse('until', `the window is longer than ${WINDOW_MAX / DAY} days; shorten it`);
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

/** The receipt of an observation of a shown hostname; null if there is none. */
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

/** An event as webhooks and lists show it, with its proof: the receipt of the observation that showed it. */
export function eventRow(app: AppContext, event: ExpectationEvent) {
  const { n, hostname, signal, kind, at, expected, seen, observation, plan } = event;
  return {
    ...{ seq: n, at: isoTime(at), domain: hostname, signal, kind, expected, seen, observation_seq: observation, plan },
    line: eventLine(event),
    receipt: receiptOf(app, hostname, observation),
  };
}
