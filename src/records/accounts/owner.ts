import { DAY, HOUR } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import type { Hostname } from '../hostname.ts';

/** Where a name shows its proof: in a TXT record, or in a file on its web server. */
export const PROOF_WAYS = ['txt', 'file'] as const;
type ProofWay = (typeof PROOF_WAYS)[number];

/** What one way said: the proof, certainly none, or nothing certain. `detail` is a word that stays the same. */
export interface WayResult {
  outcome: 'found' | 'absent' | 'unknown';
  detail: string;
}
export type CheckResult = Record<ProofWay, WayResult>;

/** An account's proof that a name is its own, in force or not. Times in ms. */
export interface OwnerProof {
  account: string;
  name: string;
  /** The labels from the right, `com.example`. */
  path: string;
  registrable: string;
  token: string;
  made_at: number;
  way: ProofWay | null;
  /** Since when it is in force; null while it is not. */
  proven_at: number | null;
  found_at: number | null;
  checked_at: number | null;
  result: CheckResult | null;
  missing_at: number | null;
  due_at: number | null;
  revoked_at: number | null;
  revoked_for: string | null;
}

export const OWNER_EVENTS = [
  'proven',
  'missing',
  'ended',
  'withdrawn',
  'revoked',
  'allowed',
  'opted_out',
  'opted_in',
] as const;
export type OwnerEventKind = (typeof OWNER_EVENTS)[number];

/** What happened to a name of an account, and who did it: `account:…`, `cli` or `job`. */
export interface OwnerEvent {
  account: string;
  name: string;
  event: OwnerEventKind;
  at: number;
  made_by: string;
}

/** What an owner may do a limited number of times per UTC day: look at a hostname, have an account's names checked. */
type Use = 'look' | 'check';

export interface OwnerTable {
  get(account: string, name: string): OwnerProof | null;
  /** By name. */
  list(account: string): OwnerProof[];
  all(): OwnerProof[];
  save(proof: OwnerProof): void;
  /** Removes a proof with its notes. */
  remove(account: string, name: string): boolean;
  /** The proof in force of an account that covers a name; the nearest of several. */
  covering(account: string, path: string, registrable: string): OwnerProof | null;
  isProven(account: string, path: string, registrable: string): boolean;
  /** Proofs due for a check, which are due again at a time if their check does not end. */
  leaseDue(now: number, until: number, limit: number): OwnerProof[];
  /** Makes proofs due at a time if they are due after a horizon, because the clock was set back. */
  pullForward(now: number, horizon: number): void;
  /** The number of proofs in force. */
  count(): number;
  /** Whether a hostname, by its id, is probed for a proven owner. */
  isOwned(host: number): boolean;
  /** Has the hostnames of an account probed at once that a new proof of a name covers. */
  hasten(account: string, name: string, at: number): void;
  /** Records what happened, and the mail that tells of it. */
  note(event: OwnerEvent & { mail?: string | null }): void;
  /** Newest first. */
  events(name: string, account: string): OwnerEvent[];
  eventOfMail(mail: string): OwnerEvent | null;
  /** Counts one use unless there were `most` on that day; returns the day and how many are left, or null. */
  use(what: Use, subject: string, now: number, most: number): { day: string; left: number } | null;
  giveBack(what: Use, subject: string, day: string): void;
  used(what: Use, subject: string, now: number): number;
  /** Deletes the counts of all days before `day`. */
  forgetUses(day: string): void;
  putNote(note: { delta: number; account: string; name: string; note: string; at: number }): void;
  removeNote(account: string, delta: number): boolean;
  /** An account's notes, those on the newest changes first. */
  notes(
    account: string,
  ): { delta: number; name: string; note: string; at: number; hostname: string; isShown: boolean }[];
  optedOutBy(name: string): { account: string; at: number }[];
  addOptOut(row: { name: string; account: string; path: string; registrable: string; at: number }): void;
  removeOptOut(name: string, account: string): boolean;
}

/** The label before a name that has the TXT record, and the path of the file. */
export const TXT_LABEL = '_broadsheet';
export const FILE_PATH = '/.well-known/broadsheet-verification';

/** What the TXT record, or a line of the file, says. */
export const proofText = (token: string): string => `broadsheet-verification=${token}`;

/** The most names of an account, and checks that it may ask for on a UTC day. */
export const PROOFS_MAX = 100;
export const CHECKS_DAILY = 100;
/** Looks at once on a UTC day, for each hostname, over all accounts. */
export const LOOKS_DAILY = 5;

/** How often a proof is checked again, how soon after one that learned nothing, and how long one may be missing. */
export const RECHECK_EVERY = 30 * DAY;
const RETRY_AFTER = DAY;
export const MISSING_FOR = 7 * DAY;
/** One round of the scanner for names of proven owners, in ms: the most between two probes of one. */
export const OWNER_ROUND = HOUR;

/**
 * A proof after a check, and what it means. Only a certain answer ends a proof: two that lack it, a week apart, at the
 * place where it was found last, with none in between that has it. `now` is in ms.
 */
export function afterCheck(
  proof: OwnerProof,
  result: CheckResult,
  now: number,
): { proof: OwnerProof; event: 'proven' | 'missing' | 'ended' | null } {
  const checked = { ...proof, checked_at: now, result };
  const way = PROOF_WAYS.find((one) => result[one].outcome === 'found');
  if (way !== undefined) {
    const proven_at = proof.proven_at ?? now;
    return {
      proof: { ...checked, way, proven_at, found_at: now, missing_at: null, due_at: now + RECHECK_EVERY },
      event: proof.proven_at === null ? 'proven' : null,
    };
  }
  if (proof.proven_at === null || proof.way === null) return { proof: checked, event: null };
  if (result[proof.way].outcome === 'unknown') {
    return { proof: { ...checked, due_at: now + RETRY_AFTER }, event: null };
  }
  // A time in the future means the clock was set back, so the week begins again.
  if (proof.missing_at === null || proof.missing_at > now) {
    const event = proof.missing_at === null ? 'missing' : null;
    return { proof: { ...checked, missing_at: now, due_at: now + MISSING_FOR }, event };
  }
  const ends_at = proof.missing_at + MISSING_FOR;
  if (now < ends_at) return { proof: { ...checked, due_at: ends_at }, event: null };
  return { proof: { ...checked, proven_at: null, missing_at: null, due_at: null }, event: 'ended' };
}

/** A proof that has not been shown yet. Throws `invalid_request` for a public suffix. */
export function newProof(
  account: string,
  { hostname, registrable_domain }: Pick<Hostname, 'hostname' | 'registrable_domain'>,
  token: string,
  now: number,
): OwnerProof {
  if (registrable_domain === null) {
    const message = `${hostname} is a public suffix: names of many owners are below it, and it cannot be proven; prove a name below it`;
    throw new Fault('invalid_request', message, { field: 'hostname' });
  }
  return {
    ...{ account, name: hostname, path: hostname.split('.').reverse().join('.'), registrable: registrable_domain },
    ...{ token, made_at: now, way: null, proven_at: null, found_at: null, checked_at: null, result: null },
    ...{ missing_at: null, due_at: null, revoked_at: null, revoked_for: null },
  };
}

/** Whether a name is opted out, and by whom; `name` is the opted-out name, which may be above it. */
export interface OptState {
  hostname: string;
  opted_out: boolean;
  by: 'you' | 'another_owner' | 'operator' | null;
  name: string | null;
  at: number | null;
}

/** The longest note, in characters. */
export const NOTE_MAX = 280;
