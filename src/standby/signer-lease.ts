import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { Busy, Fault, messageOf } from '../fault.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import type { Bucket } from '../publish/bucket.ts';

/** The object by which only one of several servers signs. */
export const LEASE_FILE = 'signer.json';

const Head = z.object({ origin: z.string(), size: z.number().int().min(0), root: z.string() });
/** A head that was signed, or may have been. `root` in base64. */
export type LeasedHead = z.infer<typeof Head>;

const LeaseRecord = z.object({
  broadsheet: z.literal(1),
  /** The server that signs; null when it has stopped. */
  holder: z.object({ id: z.string(), name: z.string() }).nullable(),
  /** Changes with every renewal. */
  beat: z.number().int(),
  heads: z.object({ desk: Head.nullable(), records: Head.nullable() }),
});
type LeaseRecord = z.infer<typeof LeaseRecord>;

export interface SignerLeaseOptions {
  bucket: Bucket;
  key: string;
  /** Who signs, as other servers see it. */
  name: string;
  /** How long it lasts without being renewed, in ms. */
  lasts: number;
  /** Throws, saying why, when this server's logs do not continue a head that was signed before. */
  requireContinued(log: LogService, head: LeasedHead): void;
  /** Called with the reason each time that this server still must not sign. */
  waiting(reason: string): void;
  /** Called each time that the lease was taken or renewed. */
  renewed?(): void;
  /** The monotonic clock, in ms. */
  clock?: () => number;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * The right to sign, which one of several servers has. Nobody compares the clocks of two machines: a server that waits
 * watches, by its own monotonic clock, that the object stays the same for as long as the lease lasts, and replaces it
 * only if it still is the one that it watched. The holder counts from before it sent a renewal, and stops signing when
 * two thirds of the time are over.
 *
 * A process can be stopped between its last look at the clock and its signature. So a head is signed only after the
 * object says that it will be: every later holder finds it there, and signs only what continues it.
 */
export class SignerLease {
  /** Aborted when another server may sign. */
  readonly lost: AbortSignal;
  readonly #options: SignerLeaseOptions;
  readonly #clock: () => number;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly #loss = new AbortController();
  readonly #stopped = new AbortController();
  readonly #id = randomUUID();
  #record: LeaseRecord | null = null;
  #etag = '';
  #renewedAt = Number.NEGATIVE_INFINITY;
  #reason = 'this server does not hold the lease yet';
  /** One request after the other: each replaces the object of the one before. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SignerLeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal, ref: false }));
    this.lost = this.#loss.signal;
  }

  /** Whether this server may sign now. */
  isHeld(): boolean {
    if (this.#record === null || this.lost.aborted) return false;
    if (this.#clock() < this.heldUntil()) return true;
    this.#lose('it could not renew the lease in time');
    return false;
  }

  /** Until when this server may sign unless it renews the lease, in ms of the monotonic clock. */
  heldUntil(): number {
    return this.#renewedAt + (this.#options.lasts * 2) / 3;
  }

  /** Throws `unavailable` with the reason when this server must not sign. */
  assertHeld(): void {
    if (!this.isHeld()) throw new Busy(`nothing is signed here: ${this.#reason}; try again later`);
  }

  /** Waits until this server holds the lease, and renews it from then on. Rejects when `stop` was called. */
  async acquire(): Promise<void> {
    const { lasts } = this.#options;
    const { signal } = this.#stopped;
    let watched = { etag: '', since: 0 };
    for (;;) {
      signal.throwIfAborted();
      try {
        const found = await this.#read();
        const now = this.#clock();
        if (found === null) {
          if (await this.#take(null, { desk: null, records: null })) break;
          continue;
        }
        const { record, etag } = found;
        if (watched.etag !== etag) watched = { etag, since: now };
        const isFree = record.holder === null || record.holder.id === this.#id || now - watched.since >= lasts;
        if (!isFree) this.#wait(`${record.holder?.name} signs`);
        else {
          for (const log of ['desk', 'records'] as const) {
            const head = record.heads[log];
            if (head !== null) this.#options.requireContinued(log, head);
          }
          if (await this.#take(etag, record.heads)) break;
        }
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        this.#wait(messageOf(error));
      }
      await this.#pause(lasts / 20, signal);
    }
    void this.#renewWhileHeld();
  }

  /**
   * Makes known that a head will be signed. Returns whether it may be: every later holder then knows of it.
   */
  announce(log: LogService, head: LeasedHead): Promise<boolean> {
    return this.#replace(({ heads }) => ({ heads: { ...heads, [log]: head } }));
  }

  /** Lets another server sign at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.isHeld()) await this.#replace(() => ({ holder: null })).catch(() => {});
    this.#reason = 'this server stops';
    this.#record = null;
  }

  async #renewWhileHeld(): Promise<void> {
    while (!this.lost.aborted && !this.#stopped.signal.aborted) {
      try {
        await this.#pause(this.#options.lasts / 6, this.#stopped.signal);
        if (this.isHeld()) await this.#replace(() => ({}));
      } catch {
        // The store may answer again before the time is over; `isHeld` tells.
      }
    }
  }

  /** Replaces the object, if it is still the one that this server wrote last. Returns whether it was. */
  #replace(change: (record: LeaseRecord) => Partial<LeaseRecord>): Promise<boolean> {
    const replaced = this.#last.then(async () => {
      if (!this.isHeld() || this.#record === null) return false;
      const { bucket, key } = this.#options;
      const at = this.#clock();
      const record = { ...this.#record, ...change(this.#record), beat: this.#record.beat + 1 };
      let etag = await bucket.put(key, bytesOf(record), { headers: HEADERS, onlyIf: { etag: this.#etag } });
      if (etag === null) {
        // It may be our own, of a request whose response was lost.
        const found = await this.#read();
        if (found?.record.holder?.id === this.#id) {
          this.#etag = found.etag;
          etag = await bucket.put(key, bytesOf(record), { headers: HEADERS, onlyIf: { etag: found.etag } });
        }
      }
      if (etag === null) {
        this.#lose('another server has taken the lease');
        return false;
      }
      this.#record = record;
      this.#etag = etag;
      this.#renewedAt = at;
      this.#options.renewed?.();
      return this.isHeld();
    });
    this.#last = replaced.catch(() => {});
    return replaced;
  }

  async #take(etag: string | null, heads: LeaseRecord['heads']): Promise<boolean> {
    const { bucket, key, name } = this.#options;
    const at = this.#clock();
    const record: LeaseRecord = { broadsheet: 1, holder: { id: this.#id, name }, beat: 0, heads };
    const onlyIf = etag === null ? 'absent' : { etag };
    const taken = await bucket.put(key, bytesOf(record), { headers: HEADERS, onlyIf });
    if (taken === null) return false;
    this.#record = record;
    this.#etag = taken;
    this.#renewedAt = at;
    this.#options.renewed?.();
    return true;
  }

  #read(): ReturnType<typeof readLease> {
    return readLease(this.#options.bucket, this.#options.key);
  }

  #wait(reason: string): void {
    this.#reason = reason;
    this.#options.waiting(reason);
  }

  #lose(reason: string): void {
    if (this.lost.aborted) return;
    this.#reason = reason;
    this.#loss.abort();
  }
}

/** The lease as it is in a bucket; null when there is none. Throws `conflict` for an object of something else. */
export async function readLease(bucket: Bucket, key: string): Promise<{ record: LeaseRecord; etag: string } | null> {
  const found = await bucket.get(key);
  if (found === null) return null;
  try {
    return { record: LeaseRecord.parse(JSON.parse(Buffer.from(found.bytes).toString('utf8'))), etag: found.etag };
  } catch {
    throw new Fault('conflict', `${bucket.name}: ${key} is not the lease of a Broadsheet; name another place`);
  }
}

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };
const bytesOf = (record: LeaseRecord) => Buffer.from(`${JSON.stringify(record)}\n`);
