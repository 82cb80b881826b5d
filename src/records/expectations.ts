import { sha256 } from '../proof/basis.ts';
import { HOUR, MINUTE } from '../proof/time.ts';
import { type AlertMessage, HAPPENED } from './accounts/alert-body.ts';
import type { DomainBaseline } from './delta.ts';
import { isMet, listed, type Rule, ruleText } from './expectation.ts';
import type { OriginOf } from './rotation.ts';
import type { TrackedName } from './tracked-values.ts';

/** An account's expectation for one type of a hostname, and its state. Times in ms. */
export interface Expectation {
  account: string;
  hostname: string;
  signal: TrackedName;
  rule: Rule;
  set_at: number;
  state: 'unknown' | 'expected' | 'unexpected';
  /** When the state began, the observation that showed it, and the answer then; null while unknown. */
  since: number | null;
  observation: number | null;
  seen: string[] | null;
}

/** A change announced for a time window. Times in ms. */
export interface PlannedChange {
  id: string;
  account: string;
  made_at: number;
  from_at: number;
  until_at: number;
  note: string;
}

export interface PlannedValue {
  plan: string;
  hostname: string;
  signal: TrackedName;
  rule: Rule;
  state: 'waiting' | 'done' | 'missed';
  settled_at: number | null;
  /** The observation that showed the change, or the last one that failed to show it. */
  observation: number | null;
}
type WaitingValue = PlannedValue & Pick<PlannedChange, 'account' | 'from_at' | 'until_at'>;

/** The events that an account may be told. Mails do not report `done_as_planned`. */
export const EVENT_KINDS = ['unexpected', 'as_expected', 'done_as_planned', 'plan_missed'] as const;
export interface ExpectationEvent {
  n: number;
  account: string;
  hostname: string;
  signal: TrackedName;
  kind: (typeof EVENT_KINDS)[number];
  at: number;
  expected: Rule;
  /** Null if the answer was unknown. */
  seen: string[] | null;
  observation: number | null;
  plan: string | null;
}

type Way = 'instant' | 'daily';

export interface ExpectationTable {
  ofAccount(account: string): Expectation[];
  ofHostname(hostname: string): Expectation[];
  /** Adds an expectation, or replaces the one for the same hostname and type. */
  put(expectation: Expectation): void;
  remove(account: string, hostname: string, signal: string): boolean;
  addPlan(plan: PlannedChange, values: PlannedValue[]): void;
  /** Newest first. */
  plans(account: string): PlannedChange[];
  plan(account: string, id: string): PlannedChange | null;
  plannedValues(plan: string): PlannedValue[];
  removePlan(account: string, id: string): boolean;
  waitingAt(hostname: string): WaitingValue[];
  /** Planned values still waiting whose window ended at or before `at`. */
  endedBefore(at: number, limit: number): WaitingValue[];
  settle(
    value: Pick<PlannedValue, 'plan' | 'hostname' | 'signal'>,
    outcome: { state: 'done' | 'missed'; at: number; observation: number | null },
  ): void;
  addEvent(event: Omit<ExpectationEvent, 'n'>): void;
  /** Newest first, without hostnames that opted out. */
  events(account: string, limit: number): ExpectationEvent[];
  isQueueing(): boolean;
  toQueue(limit: number): ExpectationEvent[];
  queued(n: number): void;
  notice(account: string, n: number, way: Way, at: number): void;
  due(way: Way, before: number, notSince: number, limit: number): string[];
  gather(account: string, way: Way, before: number, mail: string, at: number): void;
  /** The events of a mail, by hostname, oldest first, without hostnames that have opted out since. */
  eventsIn(mail: string): ExpectationEvent[];
  /** Moves a hostname's next probe forward to `at`, unless it is due earlier. */
  lookBy(hostname: string, at: number): void;
  /** Deletes events and settled plans at or before `until`. */
  forget(until: number): void;
}

/** The interval of probes while a window is open, in ms. */
export const PLAN_EVERY = 10 * MINUTE;
/** How long a plan still waits for a known answer after its window ends, in ms. */
export const PLAN_GRACE = HOUR;
/** The answers of one observation as changes record them: the last known values. */
export interface Answered {
  hostname: string;
  observation: number;
  /** When it was observed, and the current time, in ms. */
  observed_at: number;
  now: number;
  baseline: DomainBaseline;
  isKnown(signal: TrackedName): boolean;
  /** Whether the answer is just another answer of a rotating set. */
  isTurn(signal: TrackedName): boolean;
}

/**
 * Compares an observation with all expectations and plans. Returns when a plan needs the next observation, in ms; null
 * if none does.
 */
export function settleExpectations(table: ExpectationTable, answered: Answered, originOf?: OriginOf): number | null {
  const { hostname, observed_at: at, now } = answered;
  const expected = new Map(table.ofHostname(hostname).map((one) => [`${one.account} ${one.signal}`, one]));
  const looks: number[] = [];
  for (const plan of table.waitingAt(hostname)) {
    if (plan.from_at > at) {
      looks.push(plan.from_at);
      continue;
    }
    const key = `${plan.account} ${plan.signal}`;
    const outcome = settlePlan(table, plan, answered, originOf);
    if (outcome === 'done') expected.delete(key);
    if (outcome === 'waiting')
      looks.push(plan.until_at > now ? Math.min(plan.until_at, now + PLAN_EVERY) : now + PLAN_EVERY);
  }
  for (const expectation of expected.values()) settleOne(table, expectation, answered, originOf);
  return looks.length === 0 ? null : Math.min(...looks);
}

function settlePlan(
  table: ExpectationTable,
  plan: WaitingValue,
  { hostname, observation, observed_at, now, baseline, isKnown }: Answered,
  originOf: OriginOf | undefined,
): PlannedValue['state'] {
  const { account, signal, rule } = plan;
  const seen = isKnown(signal) ? (baseline[signal]?.values ?? []) : null;
  const told = { account, hostname, signal, at: now, expected: rule, seen, observation, plan: plan.plan };
  if (seen !== null && isMet(signal, rule, seen, originOf) === true) {
    table.settle(plan, { state: 'done', at: now, observation });
    table.put({ account, hostname, signal, rule, set_at: now, state: 'expected', since: now, observation, seen });
    table.addEvent({ ...told, kind: 'done_as_planned' });
    return 'done';
  }
  if (observed_at < plan.until_at || (seen === null && now < plan.until_at + PLAN_GRACE)) return 'waiting';
  table.settle(plan, { state: 'missed', at: now, observation });
  table.addEvent({ ...told, kind: 'plan_missed' });
  return 'missed';
}

/** Compares an answer with one expectation, and stores a changed state. */
export function settleOne(
  table: ExpectationTable,
  before: Expectation,
  { hostname, observation, now, baseline, isKnown, isTurn }: Answered,
  originOf: OriginOf | undefined,
): void {
  const { account, signal, rule } = before;
  if (!isKnown(signal)) return;
  const seen = baseline[signal]?.values ?? [];
  const isExpected = isMet(signal, rule, seen, originOf);
  if (isExpected === null) {
    // While an expectation is unknown, plain changes are alerted instead.
    if (before.state !== 'unknown') {
      table.put({ ...before, state: 'unknown', since: null, observation: null, seen: null });
    }
    return;
  }
  const state = isExpected ? 'expected' : 'unexpected';
  const isSame = before.state === state && (isExpected || isTurn(signal) || sameList(before.seen, seen));
  if (isSame) return;
  table.put({ ...before, state, since: now, observation, seen });
  const told = { account, hostname, signal, at: now, expected: rule, seen, observation, plan: null };
  if (!isExpected) table.addEvent({ ...told, kind: 'unexpected' });
  else if (before.state === 'unexpected') table.addEvent({ ...told, kind: 'as_expected' });
}

function sameList(a: readonly string[] | null, b: readonly string[]): boolean {
  return a !== null && a.length === b.length && a.every((value, index) => value === b[index]);
}

/** Ends plans whose window is over and for which no answer became known. `now` in ms. */
export function missPlans(table: ExpectationTable, now: number): void {
  for (const { account, hostname, signal, rule, plan } of table.endedBefore(now - PLAN_GRACE, 100)) {
    table.settle({ plan, hostname, signal }, { state: 'missed', at: now, observation: null });
    table.addEvent({
      ...{ account, hostname, signal, kind: 'plan_missed', at: now, expected: rule },
      ...{ seen: null, observation: null, plan },
    });
  }
}

const SEVERITY = { unexpected: 'error', plan_missed: 'warning', as_expected: 'info', done_as_planned: 'info' } as const;

/** An event as a message, before it is formatted for a receiver. */
export function eventMessage(event: ExpectationEvent): AlertMessage {
  const { account, hostname, signal, kind, at } = event;
  return {
    // A missed plan is not an incident itself: if the new values are not expected, that is one.
    ...(kind === 'plan_missed'
      ? {}
      : { incident: { key: sha256(`${account} ${hostname} ${signal}`), isOver: kind !== 'unexpected' } }),
    title: `${hostname} ${HAPPENED[kind]}`,
    severity: SEVERITY[kind],
    items: [{ hostname, line: eventLine(event), at }],
  };
}

/** An event in one line: `example.com A is not as expected: 192.0.2.9 instead of 192.0.2.1`. */
export function eventLine({ hostname, signal, kind, expected, seen }: ExpectationEvent): string {
  const name = `${hostname} ${signal.replace(/^WWW_/, 'www ')}`;
  const answer = seen === null ? 'nothing known' : listed(seen) || 'no records';
  const wanted = ruleText(expected);
  switch (kind) {
    case 'unexpected':
      return `${name} is not as expected: ${answer} instead of ${wanted}`;
    case 'as_expected':
      return `${name} is as expected again: ${answer}`;
    case 'done_as_planned':
      return `${name} changed as planned: ${answer}`;
    case 'plan_missed':
      return `${name} did not change as planned: ${answer} instead of ${wanted}`;
  }
}
