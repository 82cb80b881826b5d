import { DAY, HOUR } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import type { Hostname } from '../hostname.ts';

/** Where the proof of a name is published: in a TXT record, or in a file on its web server. */
export const PROOF_WAYS = ['txt', 'file'] as const;
type ProofWay = (typeof PROOF_WAYS)[number];

/** The result of checking one place: proof found, certainly absent, or unknown. `detail` is a stable code. */
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
  /** When it came into force; null while it is not in force. */
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

/** What happened to an account's proof of a name, and who caused it: `account:…`, `cli` or `job`. */
export interface OwnerEvent {
  account: string;
  name: string;
  event: OwnerEventKind;
  at: number;
  made_by: string;
}

/** What is limited per UTC day: on-demand looks at a hostname, and checks that an account requests. */
type Use = 'look' | 'check';

export interface OwnerTable {
  get(account: string, name: string): OwnerProof | null;
  /** By name. */
  list(account: string): OwnerProof[];
  all(): OwnerProof[];
  save(proof: OwnerProof): void;
  /** Removes a proof with the account's notes at that name. */
  remove(account: string, name: string): boolean;
  /** The account's proof in force that covers a name; of several, that of the nearest parent. */
  covering(account: string, path: string, registrable: string): OwnerProof | null;
  isProven(account: string, path: string, registrable: string): boolean;
  /** Leases proofs due for a check: they fall due again at `until` unless their check completes. */
  leaseDue(now: number, until: number, limit: number): OwnerProof[];
  /** Makes proofs due at `now` that are due after `horizon`: the clock was set back. */
  pullForward(now: number, horizon: number): void;
  /** The number of proofs in force. */
  count(): number;
  /** Whether a hostname, by its id, is probed for a proven owner. */
  isOwned(host: number): boolean;
  /** Makes the account's hostnames that a new proof of `name` covers due at `at`. */
  hasten(account: string, name: string, at: number): void;
  /** Records an event, with the id of the mail about it. */
  note(event: OwnerEvent & { mail?: string | null }): void;
  /** Newest first. */
  events(name: string, account: string): OwnerEvent[];
  eventOfMail(mail: string): OwnerEvent | null;
  /** Counts one use, unless `most` were counted on that day. Returns the day and how many are left, or null. */
  use(what: Use, subject: string, now: number, most: number): { day: string; left: number } | null;
  giveBack(what: Use, subject: string, day: string): void;
  used(what: Use, subject: string, now: number): number;
  /** Deletes the counts of all days before `day`. */
  forgetUses(day: string): void;
  putNote(note: { delta: number; account: string; name: string; note: string; at: number }): void;
  removeNote(account: string, delta: number): boolean;
  /** An account's notes, by change, newest change first. */
  notes(
    account: string,
  ): { delta: number; name: string; note: string; at: number; hostname: string; isShown: boolean }[];
  optedOutBy(name: string): { account: string; at: number }[];
  addOptOut(row: { name: string; account: string; path: string; registrable: string; at: number }): void;
  removeOptOut(name: string, account: string): boolean;
}

/** The label of the TXT record, below the name, and the path of the file. */
export const TXT_LABEL = '_broadsheet';
export const FILE_PATH = '/.well-known/broadsheet-verification';

/** The text of the TXT record, or of a line of the file. */
export const proofText = (token: string): string => `broadsheet-verification=${token}`;

/** The most names per account, and the most checks that an account may request per UTC day. */
export const PROOFS_MAX = 100;
export const CHECKS_DAILY = 100;
/** On-demand looks per hostname and UTC day, over all accounts. */
export const LOOKS_DAILY = 5;

/**
 * The interval between checks of a proof, the retry after a check that learned nothing, and how long a proof may be
 * missing before it ends.
 */
export const RECHECK_EVERY = 30 * DAY;
const RETRY_AFTER = DAY;
export const MISSING_FOR = 7 * DAY;
/** The longest interval between two probes of a proven owner's hostname, in ms. */
export const OWNER_ROUND = HOUR;

/**
 * Applies a check's result to a proof. Only certain answers end a proof: two checks at the place where it was last
 * found, a week apart, that both lack it, with no check in between that found it. `now` is in ms.
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

/** A new proof, not yet found anywhere. Throws `invalid_request` for a public suffix. */
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

/** Whether a hostname is opted out, and by whom; `name` is the opted-out name, which may be a parent. */
export interface OptState {
  hostname: string;
  opted_out: boolean;
  by: 'you' | 'another_owner' | 'operator' | null;
  name: string | null;
  at: number | null;
}

/** The longest note, in characters. */
export const NOTE_MAX = 280;
