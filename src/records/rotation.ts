import ipaddr from 'ipaddr.js';
import { entriesOf } from '../proof/narrow.ts';
import type { SignalType } from '../proof/records/signal.ts';
import {
  type Baseline,
  changeOf,
  compareWithBaseline,
  type DomainBaseline,
  type SeenChange,
  sameValues,
} from './delta.ts';
import type { TrackedName, TrackedValues } from './tracked-values.ts';

/**
 * Rotating answers (protocol 5.9). The addresses of a pool that rotates are learned as a set of values, networks or
 * autonomous systems, and a change is reported when the set changes. The result depends only on the observations.
 */

/** How many of the last answers are compared. A set is learned from them, and ends when they are all equal. */
export const WINDOW = 16;
/** A signal counts as rotating after this many different answers, and this many returns to values answered before. */
const ANSWERS = 3;
const RETURNS = { value: 3, network: 8, origin: 8 } as const;
/** The most values in an answer from which a set is learned. */
export const ANSWER_MAX = 64;
/** The kinds of members, and the most members of each kind. A set that exceeds them is converted to the next kind. */
const LEVELS = ['value', 'network', 'origin'] as const;
type Level = (typeof LEVELS)[number];
export const MEMBERS_MAX = { value: 32, network: 64, origin: 256 } as const;
/** A member leaves the set after this many answers without it, times the number of members, and at least `WINDOW`. */
const PATIENCE = 8;

const ROTATING: ReadonlySet<TrackedName> = new Set<SignalType>(['A', 'AAAA', 'WWW_A', 'WWW_AAAA']);

/** The state of a signal's rotation. */
export interface Rotation {
  /** The last answers with addresses, oldest first. */
  answers: string[][];
  /** Null until the set is learned. */
  set: { of: Level; answers: number; members: Record<string, number> } | null;
}
/** Without signals whose last answers are all equal. */
export type Rotations = Partial<Record<TrackedName, Rotation>>;

/** The autonomous system that originates a network; null when unknown. */
export type OriginOf = (network: string) => number | null;

/**
 * Compares a probe with the baseline and the learned sets. `updates` and `rotations` hold only what changed; a rotation
 * that ended is null.
 */
export function compareAnswers(
  { baseline, rotations }: { baseline: DomainBaseline; rotations: Rotations },
  now: TrackedValues,
  originOf: OriginOf,
): { updates: DomainBaseline; changes: SeenChange[]; rotations: Partial<Record<TrackedName, Rotation | null>> } {
  const { updates, changes } = compareWithBaseline(baseline, now);
  const found: Partial<Record<TrackedName, Rotation | null>> = {};
  const seen: SeenChange[] = [];
  for (const signal of entriesOf(now)
    .map(([name]) => name)
    .sort()) {
    const raw = changes.find((change) => change.signal === signal);
    const [answer, old] = [now[signal], baseline[signal]];
    if (!ROTATING.has(signal) || answer === null || answer === undefined || old === undefined) {
      if (raw !== undefined) seen.push({ ...raw, rotation: null });
      continue;
    }
    const before = rotations[signal];
    const next = updates[signal] ?? old;
    const step = followAnswer(before, answer, { old, next }, originOf);
    if (raw !== undefined) seen.push({ ...raw, rotation: step.isSet ? 'answer' : null });
    if (step.isSet && !sameValues(step.before, step.after)) {
      seen.push({ ...changeOf(signal, step.before, step.after), rotation: 'set' });
    }
    if (step.rotation !== before) found[signal] = step.rotation ?? null;
  }
  return { updates, changes: seen, rotations: found };
}

interface Step {
  rotation: Rotation | undefined;
  /** Whether the signal had a set before or has one now, and the values that lists show before and after. */
  isSet: boolean;
  before: string[];
  after: string[];
}

function followAnswer(
  rotation: Rotation | undefined,
  answer: string[],
  { old, next }: { old: Baseline; next: Baseline },
  originOf: OriginOf,
): Step {
  const set = rotation?.set ?? null;
  const shown = set === null ? old.values : Object.keys(set.members);
  const ended: Step = { rotation: undefined, isSet: set !== null, before: shown, after: next.values };
  if (answer.length > ANSWER_MAX || next.values.length === 0) return ended;
  // An empty answer is not part of a rotation: it is either confirmed by the next probe, or was temporary.
  if (answer.length === 0) return { rotation, isSet: set !== null, before: shown, after: shown };
  const seed = old.values.length === 0 ? [] : [old.values];
  const answers = [...(rotation?.answers ?? seed), answer].slice(-WINDOW);
  const isStill = answers.every((other) => sameValues(other, answer));
  if (set === null) {
    const of = isStill ? undefined : LEVELS.find((level) => rotates(answers, level, originOf));
    if (of === undefined) return { ...ended, rotation: isStill ? undefined : { answers, set: null } };
    const learned = withAnswers({ of, answers: 0, members: {} }, answers, originOf);
    return { rotation: { answers, set: learned }, isSet: true, before: shown, after: Object.keys(learned.members) };
  }
  const grown = withAnswers(set, [answer], originOf);
  const patience = Math.max(WINDOW, PATIENCE * Object.keys(grown.members).length);
  const members = Object.fromEntries(
    Object.entries(grown.members).filter(([, last]) => grown.answers - last < patience),
  );
  const keys = keysOf(answer, grown.of, originOf);
  const isOver = isStill && answers.length === WINDOW && Object.keys(members).every((key) => keys.includes(key));
  if (isOver) return ended;
  return { rotation: { answers, set: { ...grown, members } }, isSet: true, before: shown, after: Object.keys(members) };
}

/**
 * Whether answers vary and return. A return is an answer that differs from the previous one and whose members were all
 * seen before.
 */
function rotates(answers: string[][], level: Level, originOf: OriginOf): boolean {
  const different = new Set<string>();
  const known = new Set<string>();
  let returns = 0;
  for (const [index, answer] of answers.entries()) {
    const keys = keysOf(answer, level, originOf);
    const last = answers[index - 1];
    if (last !== undefined && !sameValues(last, answer) && keys.every((key) => known.has(key))) returns++;
    different.add(answer.join(' '));
    for (const key of keys) known.add(key);
  }
  return different.size >= ANSWERS && returns >= RETURNS[level];
}

/**
 * Adds answers to a set. If it then has too many members, it is converted to the next kind or, at the last kind,
 * forgets its oldest.
 */
function withAnswers(set: NonNullable<Rotation['set']>, answers: string[][], originOf: OriginOf): typeof set {
  let { of, answers: count } = set;
  let members = new Map(Object.entries(set.members));
  for (const answer of answers) {
    count++;
    for (const key of keysOf(answer, of, originOf)) members.set(key, count);
    while (members.size > MEMBERS_MAX[of]) {
      const level = LEVELS[LEVELS.indexOf(of) + 1];
      if (level === undefined) {
        const [[oldest = ''] = []] = [...members].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
        members.delete(oldest);
        continue;
      }
      const wider = new Map<string, number>();
      for (const [key, last] of members) {
        const name = keyOf(key, level, originOf);
        wider.set(name, Math.max(last, wider.get(name) ?? 0));
      }
      [of, members] = [level, wider];
    }
  }
  return { of, answers: count, members: Object.fromEntries([...members].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function keysOf(answer: string[], level: Level, originOf: OriginOf): string[] {
  return [...new Set(answer.map((value) => keyOf(value, level, originOf)))];
}

/** The member for an address or a network. */
function keyOf(value: string, level: Level, originOf: OriginOf): string {
  if (level === 'value') return value;
  const network = networkOf(value);
  const origin = level === 'origin' ? originOf(network) : null;
  return origin === null ? network : `AS${origin}`;
}

/** The /24 of an IPv4 address, or the /48 of an IPv6 address. Networks are returned as they are. */
export function networkOf(value: string): string {
  if (value.includes('/')) return value;
  if (!value.includes(':')) return `${value.split('.').slice(0, 3).join('.')}.0/24`;
  const parts = ipaddr.IPv6.parse(value).parts.map((part, index) => (index < 3 ? part : 0));
  return `${new ipaddr.IPv6(parts).toRFC5952String()}/48`;
}

/** Applies updates to the rotations. */
export function withRotations(before: Rotations, updates: Partial<Record<TrackedName, Rotation | null>>): Rotations {
  const all = entriesOf({ ...before, ...updates });
  return Object.fromEntries(all.filter(([, rotation]) => rotation !== null));
}

/**
 * Whether a missing value must be confirmed by the next probe. A rotating signal lacks most of its set's values at any
 * time, so there only an empty answer must be.
 */
export function isUnconfirmed(baseline: DomainBaseline, rotations: Rotations): boolean {
  return entriesOf(baseline).some(([signal, { values, missing }]) =>
    rotations[signal]?.set == null ? missing.length > 0 : missing.length === values.length && missing.length > 0,
  );
}
