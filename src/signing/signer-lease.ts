import { randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { LogService } from '../proof/log/leaf.ts';
import { SECOND } from '../proof/time.ts';
import { Busy, caught, Fault, messageOf, Unreachable } from '../shared/fault.ts';
import { type Bucket, requireConditions } from '../shared/storage/bucket.ts';

/** The object that ensures that only one of several servers signs. */
export const LEASE_FILE = 'signer.json';

const Head = z.object({ origin: z.string(), size: z.number().int().min(0), root: z.string() });
/** A head that was signed, or may have been. `root` is in base64. */
export type LeasedHead = z.infer<typeof Head>;
export type LeasedHeads = Readonly<Record<LogService, LeasedHead | null>>;

const LeaseRecord = z.object({
  broadsheet: z.literal(1),
  /** The first signing key of the desk that this lease belongs to; null before there is one. */
  desk: z.string().nullable().default(null),
  /** The server that signs; null when it has stopped. */
  holder: z
    .object({
      id: z.string(),
      name: z.string(),
      /** When the server acquired the lease, by its own clock; for display only. Older versions did not write it. */
      since: z.iso.datetime().optional(),
    })
    .nullable(),
  /** Changes with every write, so that no two versions have the same bytes and thus the same ETag. */
  beat: z.number().int(),
  /** The range of names that a node signs for under this lease; null for an undivided service. */
  range: z.string().nullable().default(null),
  /** The node that took over this node's range. This node must never sign again. */
  ceded: z.object({ to: z.string(), at: z.iso.datetime() }).nullable().default(null),
  heads: z.object({ desk: Head.nullable(), records: Head.nullable() }),
});
export type LeaseRecord = z.infer<typeof LeaseRecord>;

/** What to do where another node took this node's names. */
export const CEDED_CURE = 'give this machine another RECORDS_NODE, with an empty DATA_DIR';

/** Says which node took this node's names, and when. */
export function cededWords({ to, at }: NonNullable<LeaseRecord['ceded']>): string {
  return `node ${to} took the names of this node on ${at}, so nothing is signed here any more`;
}

/**
 * `lease`: not asked yet; `holder`: another server holds it; `newer_copy`: this copy lacks a signed head; `store`: the
 * storage fails; `restart`: the lease was lost; `stop`: the server is stopping.
 */
export type WaitingFor = 'lease' | 'holder' | 'newer_copy' | 'store' | 'restart' | 'stop';

export interface LeaseState {
  isHeld: boolean;
  /** Null while this server holds the lease. */
  waitingFor: WaitingFor | null;
  /** The reason in words, with names of machines; null while it is held. */
  reason: string | null;
  /** The start of this state, in ms of the wall clock. */
  since: number;
  /** How long this server may sign without renewing it, in ms. */
  left: number;
  /** How many times this server acquired or lost the lease. */
  transitions: number;
  /** The heads signed so far, as far as this server knows; null until it has read the lease. */
  heads: LeasedHeads | null;
}

/** A node's claim to its range of names. */
export interface LeaseClaim {
  readonly range: string;
  /** Another node that may sign for part of the range; null when there is none. Throws `conflict`. */
  obstacle(signal: AbortSignal): Promise<string | null>;
}

export interface SignerLeaseOptions {
  bucket: Bucket;
  key: string;
  /** The name of this server as other servers show it. */
  name: string;
  /** How long the lease lasts unless renewed, in ms. */
  lasts: number;
  /** The first signing key of this desk; null before there is one. */
  desk(): string | null;
  /** Throws, with the reason, when this server's logs do not continue the heads signed so far. */
  requireContinued(heads: LeasedHeads): void;
  /** A node's range of names, which no other node may sign for. */
  claim?: LeaseClaim | null | undefined;
  /** Called with the reason whenever this server still may not sign. */
  waiting(reason: string): void;
  /** Called after the lease was acquired or renewed. */
  renewed?(): void;
  /**
   * Called before another server may take over, to announce the last heads. If it fails, the lease is left to expire.
   */
  releasing?(): Promise<void>;
  /** The monotonic clock, in ms. */
  clock?: () => number;
  /** A clock that keeps running while the machine sleeps, in ms. */
  uptime?: () => number;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** The timeout of a request, in ms: a sixth of the lease's duration, within these bounds. */
const PATIENCE_MIN = SECOND / 2;
const PATIENCE_MAX = 5 * SECOND;
/** After this many consecutive refusals of a value just read, the store counts as broken. */
const REFUSED_MAX = 5;

/**
 * The right to sign, which only one of several servers has. Clocks of different machines are never compared: a waiting
 * server observes, by its own monotonic clock, that the object stays unchanged for the duration of the lease, and then
 * replaces it by compare-and-swap. The holder counts from before it sent a renewal, and stops signing after two thirds
 * of the duration, including time asleep.
 *
 * A process can be suspended between its last reading of the clock and its signature. Therefore a head is only signed
 * after the object announces it: every later holder finds it there, and only signs heads that continue it.
 */
export class SignerLease {
  /** Aborted when another server may sign; the reason is a fault that explains it. */
  readonly lost: AbortSignal;
  readonly #options: SignerLeaseOptions;
  readonly #clock: () => number;
  readonly #uptime: () => number;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly #patience: number;
  readonly #loss = new AbortController();
  readonly #stopped = new AbortController();
  readonly #id = randomUUID();
  #acquiring: Promise<void> | null = null;
  #record: LeaseRecord | null = null;
  #etag = '';
  #beat = 0;
  /** When the last successful renewal was sent. */
  #renewed: Moment = { clock: Number.NEGATIVE_INFINITY, uptime: Number.NEGATIVE_INFINITY };
  /** Why the last renewal failed; null when it worked. */
  #failure: string | null = null;
  #reason = 'this server does not hold the lease yet';
  #waitingFor: WaitingFor = 'lease';
  #since = Date.now();
  #transitions = 0;
  /** The heads as last read, before this server held the lease. */
  #heads: LeaseRecord['heads'] | null = null;
  /** Requests run one at a time: each replaces the object written by the previous one. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SignerLeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#uptime = options.uptime ?? (() => uptime() * SECOND);
    this.#pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal, ref: false }));
    this.#patience = Math.min(PATIENCE_MAX, Math.max(PATIENCE_MIN, options.lasts / 6));
    this.lost = this.#loss.signal;
  }

  /** Whether this server may sign now. */
  isHeld(): boolean {
    if (this.#record === null || this.lost.aborted) return false;
    if (this.heldFor() > 0) return true;
    const why = this.#failure === null ? '' : ` (${this.#failure})`;
    this.#lose(`it could not renew the lease in time${why}`);
    return false;
  }

  /** How long this server may sign unless it renews the lease, in ms. */
  heldFor(): number {
    const { clock, uptime } = this.#renewed;
    return (this.#options.lasts * 2) / 3 - Math.max(this.#clock() - clock, this.#uptime() - uptime);
  }

  state(): LeaseState {
    const isHeld = this.isHeld();
    return {
      isHeld,
      waitingFor: isHeld ? null : this.#waitingFor,
      reason: isHeld ? null : this.#reason,
      since: this.#since,
      left: isHeld ? Math.max(0, this.heldFor()) : 0,
      transitions: this.#transitions,
      heads: this.#record?.heads ?? this.#heads,
    };
  }

  /** Throws `unavailable` with the reason when this server must not sign. */
  assertHeld(): void {
    if (!this.isHeld()) throw new Busy(`nothing is signed here: ${this.#reason}; try again later`);
  }

  /**
   * Waits for the lease, then keeps renewing it. Rejects when stopped, and with `conflict` when the object is something
   * else.
   */
  acquire(): Promise<void> {
    this.#acquiring = this.#acquire();
    return this.#acquiring;
  }

  /** Announces that a head will be signed. Returns whether it may be: every later holder then knows of it. */
  announce(log: LogService, head: LeasedHead): Promise<boolean> {
    return this.#replace(({ heads }) => ({ heads: { ...heads, [log]: head } }));
  }

  /** Releases the lease, so that another server may sign immediately. */
  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    // A pending request may still give this server the lease.
    await this.#acquiring?.catch(() => {});
    await this.#last;
    try {
      await this.#options.releasing?.();
      this.#end();
      if (this.#acquiring !== null) await this.#release();
    } catch {
      // The lease expires by itself.
    } finally {
      this.#end();
    }
  }

  async #acquire(): Promise<void> {
    const { lasts } = this.#options;
    const { signal } = this.#stopped;
    let watched = { etag: '', since: 0 };
    let refused = 0;
    for (let isFirst = true; ; isFirst = false) {
      signal.throwIfAborted();
      try {
        const found = await this.#read();
        const now = this.#clock();
        // If the object was removed, a server may still hold the lease that it contained.
        const wasThere = watched.etag !== '';
        const etag = found?.etag ?? (wasThere ? 'none' : '');
        if (watched.etag !== etag) watched = { etag, since: now };
        const isSilent = etag !== '' && now - watched.since >= lasts;
        if (found !== null) this.#requireOurs(found.record);
        this.#heads = found?.record.heads ?? null;
        const holder = found === null ? null : found.record.holder;
        const isFree = isSilent || (etag !== 'none' && (holder === null || holder.id === this.#id));
        if (!isFree) {
          this.#wait(
            'holder',
            holder === null ? 'the lease was removed; it is made again' : `${holder.name} signs${sinceText(holder)}`,
          );
        } else if (this.#isContinued(found)) {
          const obstacle = await this.#obstacle();
          if (obstacle === null && (await this.#take(found))) break;
          this.#wait('holder', obstacle ?? refusal(this.#options, ++refused));
        }
      } catch (error) {
        if (!(error instanceof Fault) || (isFirst && error.code === 'conflict')) throw error;
        this.#wait('store', messageOf(error));
      }
      await this.#pause(lasts / 20, signal);
    }
    void this.#renewWhileHeld();
  }

  async #renewWhileHeld(): Promise<void> {
    const { lasts } = this.#options;
    let rest = lasts / 6;
    while (!this.lost.aborted && !this.#stopped.signal.aborted) {
      try {
        await this.#pause(rest, this.#stopped.signal);
        rest = lasts / 6;
        if (this.isHeld()) await this.#replace(() => ({}));
      } catch {
        // The store may recover before the lease expires; `isHeld` decides.
        rest = lasts / 20;
      }
    }
  }

  /** Replaces the object if it is still the one that this server wrote last. Returns whether it was. */
  #replace(change: (record: LeaseRecord) => Partial<LeaseRecord>): Promise<boolean> {
    const replaced = this.#last.then(async () => {
      if (!this.isHeld() || this.#record === null) return false;
      const at = this.#moment();
      const before = this.#record;
      const record = { ...before, desk: this.#options.desk(), ...change(before), beat: ++this.#beat };
      let expected = this.#etag;
      for (let refused = 1; ; refused++) {
        const etag = await this.#put(record, { etag: expected });
        if (etag !== null) {
          this.#hold(record, etag, at);
          return this.isHeld();
        }
        // The object there may be our own, from a request whose response was lost.
        const found = await this.#read();
        if (found?.record.holder?.id !== this.#id) {
          this.#lose('another server has taken the lease');
          return false;
        }
        if (refused === REFUSED_MAX) throw new Fault('unavailable', refusal(this.#options, refused));
        expected = found.etag;
      }
    });
    this.#last = replaced.catch((error: unknown) => {
      this.#failure = messageOf(error);
    });
    return replaced;
  }

  /** Whether this copy continues every head signed so far. */
  #isContinued(found: { record: LeaseRecord } | null): boolean {
    const fault = found && caught(Fault, () => this.#options.requireContinued(found.record.heads));
    if (fault instanceof Fault) this.#wait('newer_copy', fault.message);
    return !(fault instanceof Fault);
  }

  async #take(found: { record: LeaseRecord; etag: string } | null): Promise<boolean> {
    const { bucket, key, name, desk } = this.#options;
    const at = this.#moment();
    const record: LeaseRecord = {
      broadsheet: 1,
      desk: desk(),
      holder: { id: this.#id, name, since: new Date().toISOString() },
      beat: ++this.#beat,
      heads: found?.record.heads ?? { desk: null, records: null },
      range: this.#options.claim?.range ?? null,
      ceded: null,
    };
    const etag = await this.#put(record, found === null ? 'absent' : { etag: found.etag });
    if (etag === null) return false;
    const written = { key, bytes: bytesOf(record), headers: HEADERS };
    await this.#asked((signal) => requireConditions(bucket, { ...written, signal }));
    // Of two nodes that wrote their ranges at the same moment, at least one sees the other here.
    if ((await this.#obstacle()) !== null) {
      await this.#put({ ...record, holder: null, range: null, beat: ++this.#beat }, { etag });
      return false;
    }
    this.#hold(record, etag, at);
    return true;
  }

  #obstacle(): Promise<string | null> {
    const { claim } = this.#options;
    return claim ? this.#asked((signal) => claim.obstacle(signal)) : Promise.resolve(null);
  }

  /** Throws `conflict` when the lease belongs to another desk, or its range was taken over by another node. */
  #requireOurs({ desk, ceded }: LeaseRecord): void {
    const { bucket, key } = this.#options;
    if (ceded !== null) {
      throw new Fault('conflict', `${bucket.name}: ${cededWords(ceded)}; ${CEDED_CURE}`);
    }
    const ours = this.#options.desk();
    if (desk === null || desk === ours) return;
    const here = ours === null ? 'this database has no key yet' : `that of this database is ${ours}`;
    const message = `${bucket.name}: ${key} is the lease of a desk whose first signing key is ${desk}, and ${here}; restore a copy of that desk, or give this one a LEASE_URL of its own`;
    throw new Fault('conflict', message);
  }

  async #release(): Promise<void> {
    const found = await this.#read();
    if (found?.record.holder?.id !== this.#id) return;
    await this.#put({ ...found.record, holder: null, beat: ++this.#beat }, { etag: found.etag });
  }

  #hold(record: LeaseRecord, etag: string, at: Moment): void {
    if (this.#record === null) this.#turn();
    this.#record = record;
    this.#etag = etag;
    this.#renewed = at;
    this.#failure = null;
    if (!this.#stopped.signal.aborted) this.#options.renewed?.();
  }

  #end(): void {
    this.#reason = 'this server stops';
    this.#waitingFor = 'stop';
    if (this.#record !== null) this.#turn();
    this.#record = null;
  }

  #turn(): void {
    this.#transitions++;
    this.#since = Date.now();
  }

  #moment(): Moment {
    return { clock: this.#clock(), uptime: this.#uptime() };
  }

  #read(): ReturnType<typeof readLease> {
    const { bucket, key } = this.#options;
    return this.#asked((signal) => readLease(bucket, key, signal));
  }

  #put(record: LeaseRecord, onlyIf: 'absent' | { etag: string }): Promise<string | null> {
    const { bucket, key } = this.#options;
    return this.#asked((signal) => bucket.put(key, bytesOf(record), { headers: HEADERS, onlyIf, signal }));
  }

  /**
   * Gives up a request early enough to try another one before the lease expires. The abandoned one may still be carried
   * out.
   */
  async #asked<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const given = new AbortController();
    const wait = () => this.#pause(this.#patience / 2, given.signal);
    // Waits twice for half the time: if this process itself was suspended, an answer that has arrived is read in
    // between.
    const silence = wait()
      .then(wait)
      .then(() => {
        throw new Unreachable(`${this.#options.bucket.name} has not answered in time; check the store and the network`);
      });
    try {
      return await Promise.race([ask(given.signal), silence]);
    } finally {
      given.abort();
    }
  }

  #wait(waitingFor: WaitingFor, reason: string): void {
    if (waitingFor !== this.#waitingFor) this.#since = Date.now();
    this.#waitingFor = waitingFor;
    this.#reason = reason;
    this.#options.waiting(reason);
  }

  #lose(reason: string): void {
    if (this.lost.aborted) return;
    this.#reason = reason;
    this.#waitingFor = 'restart';
    this.#turn();
    this.#loss.abort(new Fault('unavailable', reason));
  }
}

/** A point in time on two clocks, in ms. */
interface Moment {
  clock: number;
  uptime: number;
}

const sinceText = ({ since }: { since?: string | undefined }): string =>
  since === undefined ? '' : `, since ${since}`;

/** Why a conditional write was refused, given how many times in a row. */
function refusal({ bucket, key }: SignerLeaseOptions, times: number): string {
  if (times < REFUSED_MAX) return 'another server took the lease first';
  return `${bucket.name} does not show what was written: ${key} always differs from the object just read; give the address of the storage itself, without a cache in between`;
}

/** Reads the lease in a bucket; null when there is none. Throws `conflict` when the object is something else. */
export async function readLease(
  bucket: Bucket,
  key: string,
  signal?: AbortSignal,
): Promise<{ record: LeaseRecord; etag: string; age: number } | null> {
  const found = await bucket.get(key, undefined, signal);
  if (found === null) return null;
  try {
    return {
      record: LeaseRecord.parse(JSON.parse(Buffer.from(found.bytes).toString('utf8'))),
      etag: found.etag,
      age: found.age,
    };
  } catch {
    throw new Fault('conflict', `${bucket.name}: ${key} is not the lease of a Broadsheet; name another place`);
  }
}

export const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };
export const bytesOf = (record: LeaseRecord) => Buffer.from(`${JSON.stringify(record)}\n`);
