import type { AppContext } from '../server/context.ts';
import { normalized } from '../shared/combining-marks.ts';
import { Busy, Fault } from '../shared/fault.ts';
import { newId } from '../shared/new-id.ts';
import { lineProblems } from '../shared/shown-text.ts';
import { makeAlert } from './accounts/change-alert.ts';
import {
  afterCheck,
  CHECKS_DAILY,
  type CheckResult,
  LOOKS_DAILY,
  NOTE_MAX,
  newProof,
  type OptState,
  type OwnerEventKind,
  type OwnerProof,
  PROOFS_MAX,
} from './accounts/owner.ts';
import { looksRow, type OwnedRow, optRow, proofRow } from './accounts/owner-row.ts';
import { facetsOf } from './facets.ts';
import { type Hostname, hostnameOfField } from './hostname.ts';
import { requireOwn } from './nodes.ts';
import { requireHost } from './require-host.ts';

/** An account's proofs of names, and what a proven owner may do. All times in ms. */

const pathOf = (hostname: string): string => hostname.split('.').reverse().join('.');

/** The proof of an account, in force or not. Throws `invalid_request`, `not_found`. */
export function requireProof({ store }: AppContext, account: string, text: string): OwnerProof {
  const { hostname } = hostnameOfField(text, 'hostname');
  const proof = store.records.owners.get(account, hostname);
  if (proof !== null) return proof;
  const message = `your account has not begun to prove ${hostname}; /account/names lists what it has`;
  throw new Fault('not_found', message, { field: 'hostname' });
}

/**
 * A name that the account has proven itself the owner of, with its path, registrable domain and proof. Throws
 * `invalid_request`, and `conflict` for a name that is not proven.
 */
export function requireOwned({ store }: AppContext, account: string, text: string) {
  const { hostname, registrable_domain } = hostnameOfField(text, 'hostname');
  const place = { name: hostname, path: pathOf(hostname), registrable: registrable_domain ?? '' };
  const proof = store.records.owners.covering(account, place.path, place.registrable);
  if (proof !== null) return { ...place, proof };
  const message = `${hostname} is not proven to be yours; prove it, or ${registrable_domain ?? 'a name below it'}, at /account/names first`;
  throw new Fault('conflict', message, { field: 'hostname', reason: 'not_proven' });
}

/**
 * The account's proof of a name; begins one if there is none. `random` returns n secure random bytes. Throws
 * `invalid_request`, also for a public suffix, `other_node`, and `conflict` when the account has too many proofs.
 */
export function beginProof(
  app: AppContext,
  account: string,
  host: Hostname,
  random: (n: number) => Uint8Array,
): OwnerProof {
  const {
    store: { records },
    clock,
  } = app;
  requireOwn(app, host, 'hostname');
  return records.transact(() => {
    const begun = records.owners.get(account, host.hostname);
    if (begun !== null) return begun;
    if (records.owners.list(account).length >= PROOFS_MAX) {
      throw new Fault('conflict', `the account has ${PROOFS_MAX} names, which is the maximum; give one up first`);
    }
    const proof = newProof(account, host, Buffer.from(random(32)).toString('base64url'), clock.now());
    records.owners.save(proof);
    return proof;
  });
}

/** Counts a check requested by an account. Throws `conflict` for a revoked proof, `unavailable`, `rate_limited`. */
export function countCheck(
  { store: { records }, clock }: AppContext,
  { account, name, revoked_for }: OwnerProof,
): void {
  if (revoked_for !== null) {
    throw new Fault('conflict', `the operator revoked the proof of ${name}: ${revoked_for}; write to the operator`);
  }
  if (clock.fault() !== null)
    throw new Busy('the clock of this server is wrong, so nothing is checked; try again later');
  if (records.owners.use('check', account, clock.now(), CHECKS_DAILY) !== null) return;
  throw new Fault('rate_limited', `${CHECKS_DAILY} checks were made for the account today (UTC); go on tomorrow`);
}

/** The result of a check. */
export interface Checked {
  proof: OwnerProof;
  event: OwnerEventKind | null;
  /** The mail alert that is made with a proven name if no alert of the account covers it; else null. */
  alert: string | null;
}

/**
 * Records a check and what follows from it: the mail, the alert, earlier probes. Null when the proof was given up,
 * restarted or revoked while the check ran. `made_by` is `account:…` or `job`.
 */
export function recordCheck(
  app: AppContext,
  { account, name, token }: Pick<OwnerProof, 'account' | 'name' | 'token'>,
  result: CheckResult,
  made_by: string,
): Checked | null {
  const { records } = app.store;
  const { owners } = records;
  return records.transact(() => {
    const before = owners.get(account, name);
    if (before === null || before.token !== token || before.revoked_at !== null) return null;
    const now = app.clock.now();
    const { proof, event } = afterCheck(before, result, now);
    owners.save(proof);
    if (event === null) return { proof, event, alert: null };
    const mail = event === 'proven' ? null : queueMail(app, account, now);
    owners.note({ account, name, event, at: now, made_by, mail });
    if (event === 'proven') owners.hasten(account, name, now);
    return { proof, event, alert: event === 'proven' ? alertOf(app, account, name) : null };
  });
}

/** Queues a mail to an account and returns its id. The text is composed later from the event with that id. */
function queueMail({ store: { records } }: AppContext, account: string, now: number): string | null {
  const email = records.accounts.find(account)?.email;
  if (email === undefined) return null;
  const id = newId();
  records.accountMails.queue({ id, account, email, kind: 'ownership', due_at: now });
  return id;
}

/** Makes an alert for a proven name, unless one covers it. Returns its id. */
function alertOf({ store: { records }, clock }: AppContext, account: string, name: string): string | null {
  if (records.find(name)?.state !== 'watched') return null;
  const groups = new Set(
    records.watchGroups.held(account).flatMap((held) => (held.hostname === name ? [held.watch_group] : [])),
  );
  const isCovered = records.changeAlerts
    .list(account)
    .some(({ hostname, watch_group }) => hostname === name || groups.has(watch_group ?? ''));
  if (isCovered) return null;
  try {
    const fresh = { now: clock.now(), newId, allowsPrivate: false, requireHost: () => name };
    return makeAlert(records, account, { group: '', hostname: name, way: 'instant', url: '' }, fresh).id;
  } catch (error) {
    // The account has as many alerts as it may have.
    if (error instanceof Fault && error.code === 'conflict') return null;
    throw error;
  }
}

/**
 * Gives up a proof, and removes its notes. Opt-outs stay in force. Returns the proof as it was. Throws as
 * `requireProof`.
 */
export function giveUpProof(app: AppContext, account: string, text: string): OwnerProof {
  const { records } = app.store;
  return records.transact(() => {
    const proof = requireProof(app, account, text);
    if (proof.revoked_at !== null) {
      throw new Fault('conflict', `the operator revoked the proof of ${proof.name}, which therefore stays listed`);
    }
    records.owners.remove(account, proof.name);
    if (proof.proven_at !== null) {
      const done = { account, name: proof.name, event: 'withdrawn', made_by: `account:${account}` } as const;
      records.owners.note({ ...done, at: app.clock.now() });
    }
    return proof;
  });
}

/**
 * Ends a proof on behalf of the operator, for a reason. It stays revoked until `allowProof`. Throws `not_found`,
 * `conflict`.
 */
export function revokeProof(app: AppContext, account: string, text: string, reason: string): OwnerProof {
  const { records } = app.store;
  return records.transact(() => {
    const before = requireProof(app, account, text);
    if (before.revoked_at !== null) throw new Fault('conflict', `the proof of ${before.name} was revoked before`);
    const now = app.clock.now();
    const ended = { proven_at: null, missing_at: null, due_at: null, revoked_at: now, revoked_for: reason };
    const proof = { ...before, ...ended };
    records.owners.save(proof);
    const mail = before.proven_at === null ? null : queueMail(app, account, now);
    records.owners.note({ account, name: proof.name, event: 'revoked', at: now, made_by: 'cli', mail });
    return proof;
  });
}

/** Lets an account prove a revoked name again. Throws `not_found`, `conflict`. */
export function allowProof(app: AppContext, account: string, text: string): OwnerProof {
  const { records } = app.store;
  return records.transact(() => {
    const before = requireProof(app, account, text);
    if (before.revoked_at === null) throw new Fault('conflict', `the proof of ${before.name} is not revoked`);
    const proof = { ...before, revoked_at: null, revoked_for: null };
    records.owners.save(proof);
    records.owners.note({ account, name: proof.name, event: 'allowed', at: app.clock.now(), made_by: 'cli' });
    return proof;
  });
}

/** Counts an on-demand look at an owner's hostname. Throws `conflict`, `not_found`, `not_watched`, `rate_limited`. */
export function countLook(
  app: AppContext,
  account: string,
  text: string,
): { hostname: string; day: string; left: number } {
  const { name: hostname } = requireOwned(app, account, text);
  const { records } = app.store;
  const { state } = requireHost(records, hostname);
  if (state !== 'watched') {
    throw new Fault('conflict', `${hostname} is paused; put it into one of your groups, and it is observed again`);
  }
  const now = app.clock.now();
  const use = records.owners.use('look', hostname, now, LOOKS_DAILY);
  if (use !== null) return { hostname, ...use };
  const message = `${hostname} was looked at ${LOOKS_DAILY} times today (UTC) because an owner asked; ask again tomorrow`;
  throw new Fault('rate_limited', message);
}

/**
 * The opt-out of a name as an account sees it. If there are several, the operator's comes first, then another owner's.
 */
export function optStateOf({ store: { records } }: AppContext, account: string, hostname: string): OptState {
  const found = records.optOutsOf(hostname);
  const own = `account:${account}`;
  const operators = found.find(({ made_by }) => !made_by.startsWith('account:'));
  const first = operators ?? found.find(({ made_by }) => made_by !== own) ?? found[0];
  if (first === undefined) return { hostname, opted_out: false, by: null, name: null, at: null };
  const by = first === operators ? 'operator' : first.made_by === own ? 'you' : 'another_owner';
  return { hostname, opted_out: true, by, name: first.hostname, at: first.at };
}

/**
 * Opts a name out or in for an owner, with the names below it of the same registrable domain. An opt-in lifts the
 * opt-outs of this account and of accounts that are no longer owners; those of another owner or of the operator stay in
 * force. Throws as `requireOwned`.
 */
export function setOpt(app: AppContext, account: string, text: string, opt: 'in' | 'out'): OptState {
  const { records } = app.store;
  return records.transact(() => {
    const { name, path, registrable } = requireOwned(app, account, text);
    const at = app.clock.now();
    const note = (event: OwnerEventKind) =>
      records.owners.note({ account, name, event, at, made_by: `account:${account}` });
    const before = records.owners.optedOutBy(name);
    if (opt === 'out') {
      if (!before.some((row) => row.account === account)) {
        records.owners.addOptOut({ name, account, path, registrable, at });
        records.hideOwned({ path, registrable }, at);
        note('opted_out');
      }
      return optStateOf(app, account, name);
    }
    const lifted = before.filter(
      (row) => row.account === account || !records.owners.isProven(row.account, path, registrable),
    );
    for (const row of lifted) records.owners.removeOptOut(name, row.account);
    if (lifted.length > 0) {
      for (const { id } of records.showOwned({ path, registrable }, at)) {
        records.setFacets(id, facetsOf(records.baseline(id)), at);
      }
      note('opted_in');
    }
    return optStateOf(app, account, name);
  });
}

/** A shown change at a name that the account owns. Throws `not_found`, `conflict`. */
function requireOwnChange(app: AppContext, account: string, seq: number) {
  const { records } = app.store;
  const [delta] = records.deltas({}, { limit: 1, order: 'oldest', cursor: seq - 1 });
  if (delta === undefined || delta.seq !== seq) {
    throw new Fault('not_found', `there is no change ${seq}; GET /v1/changes lists the changes with their numbers`);
  }
  return { delta, ...requireOwned(app, account, delta.domain) };
}

/**
 * Adds an owner's note to a change, or replaces the one there. `text` is one line of plain text. Throws
 * `invalid_request`, `not_found`, `conflict`.
 */
export function putNote(app: AppContext, account: string, seq: number, text: string): void {
  const note = normalized(text).trim();
  const length = [...note].length;
  if (length > NOTE_MAX) {
    const message = `note has ${length} characters, and at most ${NOTE_MAX} are shown; shorten it`;
    throw new Fault('invalid_request', message, { field: 'note' });
  }
  const [first] = lineProblems('note', note, 2 * NOTE_MAX, true);
  if (first !== undefined) throw new Fault('invalid_request', `note: ${first.message}`, { field: 'note' });
  app.store.records.transact(() => {
    const { delta, proof } = requireOwnChange(app, account, seq);
    app.store.records.owners.putNote({ delta: delta.seq, account, name: proof.name, note, at: app.clock.now() });
  });
}

/** Removes an account's note, even if it is no longer shown. Throws `not_found`. */
export function removeNote({ store: { records } }: AppContext, account: string, seq: number): void {
  if (records.owners.removeNote(account, seq)) return;
  throw new Fault('not_found', `your account has no note on change ${seq}; GET /v1/account/notes lists its notes`);
}

/** The opt-out of a name, as responses show it. */
export const optRowOf = (app: AppContext, account: string, hostname: string) =>
  optRow(optStateOf(app, account, hostname));

export function looksRowOf({ store: { records }, clock }: AppContext, hostname: string) {
  const now = clock.now();
  return looksRow(records.owners.used('look', hostname, now), now);
}

/** A proof with the name's opt-out and remaining looks, as responses and pages show it. */
export function ownedRow(app: AppContext, proof: OwnerProof): OwnedRow {
  const { account, name } = proof;
  return { ...proofRow(proof), opt: optRowOf(app, account, name), looks: looksRowOf(app, name) };
}
