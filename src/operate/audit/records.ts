import canonicalize from 'canonicalize';
import { type TimeCorrection, trueTime } from '../../proof/clock-note.ts';
import { verifyNode } from '../../proof/ed25519.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import { disclosuresOf, type Observation, recordRoot } from '../../proof/records/observation.ts';
import { signalsOf } from '../../proof/records/record.ts';
import { checkReceipt } from '../../proof/records/verify/document-faults.ts';
import { type CheckedReceipt, linkRules, receiptRules } from '../../proof/records/verify/observation-rules.ts';
import { compareWithBaseline, type DomainBaseline, type SeenChange } from '../../records/delta.ts';
import { facetsOf } from '../../records/facets.ts';
import { summaryOf } from '../../records/record.ts';
import { compareAnswers, type OriginOf, type Rotations, withRotations } from '../../records/rotation.ts';
import { Sightings, trackedIn } from '../../records/value-history.ts';
import type { AppContext } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { caught, Fault } from '../../shared/fault.ts';
import { pushAll } from '../../shared/push-all.ts';
import { isLine } from '../../shared/shown-text.ts';
import type { Progress } from '../../shared/terminal/progress.ts';

/** Checks observations and what is derived from them. Appends to `faults`. Returns their number. */
export function auditRecords(
  { store }: Pick<AppContext, 'store'>,
  faults: string[],
  progress: Progress['step'] = () => {},
): number {
  const { records } = store;
  const total = records.observationTotals().count;
  const damaged = new Set(records.damagedObservations().map(({ seq }) => seq));
  let count = 0;
  pushAll(faults, records.tableFaults());
  for (const host of records.everyHost()) {
    const { hostname } = host;
    const found = caught(Fault, () => auditStoredHost(store, host, damaged));
    // A record that cannot be read stops the audit of its host, not that of the others.
    const audit =
      found instanceof Fault
        ? {
            faults: [`${hostname}: ${found.message}`],
            observations: records.observationCount(host.id) ?? 0,
            unmarked: [],
          }
        : found;
    pushAll(faults, audit.faults);
    if (audit.faults.length > 0 && audit.unmarked.length > 0) {
      faults.push(
        `${hostname}: an older version cut values at U+0000; if nothing else is wrong here, run \`${CLI} audit --accept-damage ${audit.unmarked.join(' ')} --reason TEXT\``,
      );
    }
    const { state } = records.find(hostname) ?? {};
    const isCovered = records.optOutOf(hostname) !== null;
    if (isCovered !== (state === 'opted_out')) {
      faults.push(`${hostname}: its state is ${state}, though ${isCovered ? 'an' : 'no'} opt-out covers it`);
    }
    count += audit.observations;
    progress('audit', count, total, hostname);
  }
  if (count !== total) faults.push('observations: some belong to no hostname');
  return count;
}

/**
 * Audits one host from its rows in the database, as far as they go. `damaged` are the observations marked as damaged.
 */
export function auditStoredHost(
  store: AppContext['store'],
  host: { id: number; hostname: string },
  damaged: ReadonlySet<number>,
): HostAudit {
  const part = store.records.archive.isArchived(host.id) ? 'end' : 'whole';
  return new StoredHostAudit(store, host, damaged, part).end();
}

/** Audits one host from its observations in the archive, oldest first, and then from its rows in the database. */
export class StoredHostAudit {
  readonly #store: AppContext['store'];
  readonly #host: { id: number; hostname: string };
  readonly #audit: HostAuditor;
  #last = 0;

  constructor(
    store: AppContext['store'],
    host: { id: number; hostname: string },
    damaged: ReadonlySet<number>,
    part: AuditedHost['part'] = 'whole',
  ) {
    this.#store = store;
    this.#host = host;
    const { records, desk } = store;
    const rules = {
      hostname: host.hostname,
      part,
      changesOf: (seq: number) => records.changesOf(host.id, seq),
      rotationStart: records.rotationStart(),
      originsAt: records.originsAt,
      isDamaged: (seq: number) => damaged.has(seq),
    };
    this.#audit = new HostAuditor(rules, desk.verifyingKeys('records'), desk.corrections('records', ''));
  }

  /** Returns what does not hold of an observation. */
  add(observation: Observation): string[] {
    this.#last = observation.seq;
    return this.#audit.add(observation);
  }

  /** Audits what is newer in the database, and what the database derived of all. */
  end(): HostAudit {
    const { records } = this.#store;
    const { id, hostname } = this.#host;
    const faults: string[] = [];
    for (const observation of records.observationsOf(id))
      if (observation.seq > this.#last) faults.push(...this.#audit.add(observation));
    const known = records.find(hostname);
    const audit = this.#audit.end({
      isShown: known?.state !== 'opted_out',
      seq: known?.seq ?? null,
      baseline: records.baseline(id),
      sightings: records.history(id, {}, Number.MAX_SAFE_INTEGER),
      facets: records.facetsOf(id),
      rotations: records.rotations(id),
    });
    return { ...audit, faults: [...faults, ...audit.faults] };
  }
}

/** The longest reason, in characters. */
const REASON_MAX = 1_000;

/**
 * Accepts observations that an old version cut at U+0000, all or none. Throws `invalid_request` for the reason,
 * `not_found`, and `conflict` for damage of another kind.
 */
export function acceptDamage({ store, clock }: AppContext, seqs: readonly number[], reason: string): void {
  if (reason.trim() === '' || reason.length > REASON_MAX || !isLine(reason)) {
    throw new Fault('invalid_request', `--reason must be one line of 1 to ${REASON_MAX} characters; say what happened`);
  }
  const { records } = store;
  const hostOf = (seq: number) => {
    const host = records.hostOfObservation(seq);
    if (host === null) throw new Fault('not_found', `there is no observation ${seq}; take a number from the audit`);
    return host;
  };
  records.transact(() => {
    const damaged = new Set(records.damagedObservations().map(({ seq }) => seq));
    const asked = new Set(seqs);
    for (const [first = 0, ...more] of Map.groupBy(asked, (seq) => hostOf(seq).id).values()) {
      const own = [first, ...more];
      const host = hostOf(first);
      const before = auditStoredHost(store, host, new Set());
      const whole = own.find((seq) => !before.unmarked.includes(seq));
      if (whole !== undefined) {
        const message = `observation ${whole} holds no U+0000, so no version cut it; only such damage can be accepted`;
        throw new Fault('conflict', message);
      }
      const { faults, unmarked } = auditStoredHost(store, host, new Set([...damaged, ...asked]));
      if (unmarked.length > 0) {
        const all = [...own, ...unmarked].join(' ');
        const message = `${host.hostname} has other observations with U+0000; accept them together: ${all}`;
        throw new Fault('conflict', message);
      }
      const [fault] = faults;
      if (fault !== undefined) throw new Fault('conflict', `this is not what a cut at U+0000 leaves: ${fault}`);
    }
    for (const seq of asked) if (!damaged.has(seq)) records.markDamaged({ seq, at: clock.now(), reason });
  });
}

interface AuditedHost {
  hostname: string;
  /** `whole`: all observations. `end`: only the newest, so that rows derived from archived ones cannot be compared. */
  part: 'whole' | 'end';
  changesOf(observation_seq: number): SeenChange[];
  /** Rotation is learned from the observations after this one. */
  rotationStart: number;
  originsAt(observation_seq: number): OriginOf;
  /** Whether an observation is marked as damaged by a version that cut values at U+0000. */
  isDamaged(observation_seq: number): boolean;
}

/** What the database derived of a host. */
interface DerivedOfHost {
  /** False for a host that opted out, which is not in any list. */
  isShown: boolean;
  seq: number | null;
  baseline: DomainBaseline;
  sightings: { signal: string; value: string; first_seen: number; last_seen: number; count: number }[];
  facets: { kind: string; name: string }[];
  rotations: Rotations;
}

export interface HostAudit {
  faults: string[];
  observations: number;
  /** The numbers of the observations that hold U+0000 and are not marked as damaged. */
  unmarked: number[];
}

/**
 * Rebuilds the receipt of an observation from its record. `before` is the host's previous receipt: null for the first
 * observation; `checked` itself when the previous one is not known.
 */
export function observationFaults(
  hostname: string,
  { seq, record, seed, receipt_hash }: Observation,
  checked: CheckedReceipt,
  before: CheckedReceipt | null,
): string[] {
  const faults = receiptRules(checked);
  const fault = (text: string): void => void faults.push(`seq ${seq}: ${text}`);
  if (before !== checked) faults.push(...linkRules(before, checked));
  const { receipt } = checked;
  if (receipt !== null) {
    const disclosures = disclosuresOf(record, seed);
    if (receipt.seq !== seq) fault(`the receipt says seq ${receipt.seq}`);
    if (receipt.domain !== hostname) fault(`the receipt is of another domain, ${receipt.domain}`);
    if (receipt.observed_at !== record.observed_at) fault(`the receipt says observed_at ${receipt.observed_at}`);
    if (receipt.record_fields !== disclosures.length) fault(`the record has ${disclosures.length} fields`);
    if (receipt.record_root !== recordRoot(disclosures)) fault('record_root is not the root of what is stored');
  }
  if (checked.hash !== receipt_hash) fault("receipt_hash is not the hash of the receipt's signed text");
  if (differ(record.summary, summaryOf(signalsOf(record)))) fault('the summary does not fit the signals');
  return faults;
}

/**
 * Rebuilds everything about one host from its observations, oldest first, and returns the differences.
 *
 * Older versions accepted U+0000, and the database returns the values of such an observation only up to it. Once all
 * such observations of a host are marked, the audit expects exactly that.
 */
class HostAuditor {
  readonly #host: AuditedHost;
  readonly #keys: VerifyingKey[];
  readonly #corrections: readonly TimeCorrection[];
  readonly #sightings = new Sightings();
  readonly #unmarked: number[] = [];
  #before: CheckedReceipt | null = null;
  #baseline: DomainBaseline = {};
  #rotations: Rotations = {};
  #observations = 0;
  #newest: number | null = null;
  #isMarked = false;

  constructor(host: AuditedHost, keys: VerifyingKey[], corrections: readonly TimeCorrection[]) {
    this.#host = host;
    this.#keys = keys;
    this.#corrections = corrections;
  }

  /** Returns what does not hold of an observation. */
  add(observation: Observation): string[] {
    const { hostname, part, rotationStart } = this.#host;
    const { seq, record } = observation;
    const checked = checkReceipt(observation.receipt, this.#keys, verifyNode, this.#corrections);
    const isLinked = this.#before !== null || part === 'whole';
    const faults = observationFaults(hostname, observation, checked, isLinked ? this.#before : checked);
    const tracked = trackedIn(record);
    const known = { baseline: this.#baseline, rotations: this.#rotations };
    const compared =
      seq > rotationStart
        ? compareAnswers(known, tracked, this.#host.originsAt(seq))
        : withoutRotation(compareWithBaseline(this.#baseline, tracked));
    if (part === 'whole' && differ(compared.changes, this.#host.changesOf(seq)))
      faults.push(`seq ${seq}: the deltas are not what changed`);
    this.#baseline = { ...this.#baseline, ...compared.updates };
    this.#rotations = withRotations(this.#rotations, compared.rotations);
    if (Object.values(tracked).some((values) => values?.some((value) => value.includes('\0')))) {
      if (this.#host.isDamaged(seq)) this.#isMarked = true;
      else this.#unmarked.push(seq);
    }
    this.#sightings.add(tracked, trueTime(Date.parse(record.observed_at), seq, this.#corrections));
    this.#before = checked;
    this.#newest = seq;
    this.#observations++;
    return faults.map((text) => `${hostname}: ${text}`);
  }

  end(derived: DerivedOfHost): HostAudit {
    const { hostname, part } = this.#host;
    const [newest, unmarked] = [this.#newest, this.#unmarked];
    const faults: string[] = [];
    if (derived.seq !== newest) faults.push(`seq ${derived.seq} is shown as the newest observation, not ${newest}`);
    if (part === 'whole') {
      if (differ(this.#baseline, derived.baseline)) faults.push('the baseline is not what was observed');
      if (differ(this.#rotations, derived.rotations))
        faults.push('the rotating sets are not those of the observations');
      const stored = this.#isMarked && unmarked.length === 0 ? upToZero : (text: string) => text;
      const history = this.#sightings.all().map((seen) => ({ ...seen, value: stored(seen.value) }));
      if (differ(sorted(history), sorted(derived.sightings))) faults.push('the history is not what was observed');
      const shown = derived.isShown ? facetsOf(this.#baseline) : [];
      const facets = shown.map(({ kind, name }) => ({ kind, name: stored(name) }));
      if (differ(sorted(facets), sorted(derived.facets))) faults.push('the facets are not those of the baseline');
    }
    const named = faults.map((text) => `${hostname}: ${text}`);
    return { faults: named, observations: this.#observations, unmarked };
  }
}

/** The changes that versions recorded before they knew rotating sets. */
function withoutRotation({ updates, changes }: ReturnType<typeof compareWithBaseline>) {
  return { updates, changes: changes.map((change): SeenChange => ({ ...change, rotation: null })), rotations: {} };
}

function upToZero(text: string): string {
  const [head = ''] = text.split('\0', 1);
  return head;
}

function sorted<T>(items: T[]): T[] {
  const keyed = items.map((item) => [canonicalize(item) ?? '', item] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

function differ(a: unknown, b: unknown): boolean {
  return canonicalize(a) !== canonicalize(b);
}
