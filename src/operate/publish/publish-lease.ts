import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { SECOND } from '../../proof/time.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { type Bucket, requireConditions } from '../../shared/storage/bucket.ts';
import { isDead, PROCESS } from '../../shared/workers/process-name.ts';

/** The name of the object that identifies a tree at a target and its current publisher. */
export const LEASE_FILE = '.broadsheet.json';

const LeaseRecord = z.object({
  broadsheet: z.literal(1),
  /** The paper, or `log`, and the key that it was first signed with: no desk publishes over the tree of another. */
  tree: z.string(),
  key: z.string(),
  /** The id of the last publication. A database that remembers another one compares every object. */
  publication: z.string(),
  /** The publisher at work; null when it is done. */
  holder: z.object({ id: z.string(), name: z.string(), beat: z.number() }).nullable(),
});
type LeaseRecord = z.infer<typeof LeaseRecord>;

export interface LeaseTimes {
  /** How long a lease lasts without being renewed, in ms. After a crash another publisher takes over. */
  lasts: number;
  /** How often a waiting publisher checks the lease, in ms. */
  poll: number;
}
const TIMES: LeaseTimes = { lasts: 30 * SECOND, poll: SECOND };

/** The store counts as broken after it refused this many conditional writes in a row with an ETag just read. */
const REFUSED_MAX = 30;

/** The target that one tree is published to. */
interface Target {
  bucket: Bucket;
  /** The prefix of the tree's keys. */
  prefix: string;
  tree: string;
  key: string;
}

export interface LeaseRequest extends Target {
  /** Keys under the prefix that belong to other trees. */
  excludes: readonly string[];
  /** The publisher's name, which others see in the lease. */
  name?: string;
  times?: LeaseTimes | undefined;
  /** Called before each further check while another publisher is at work. */
  waiting(holder: string): void;
  /** Whether to publish to a target that has objects and no lease. */
  takesOver: boolean;
  signal?: AbortSignal | undefined;
}

/** The lease at a target; null without one. Throws `conflict` when the target holds another tree. */
export async function readLease({ bucket, prefix, tree, key }: Target) {
  const found = await bucket.get(prefix + LEASE_FILE);
  if (found === null) return null;
  const location = `${bucket.name}: ${prefix}${LEASE_FILE}`;
  const record = parseRecord(found.bytes);
  if (record === null) {
    const message = `${location} cannot be read as that of a publication; remove it, and publish again with --repair`;
    throw new Fault('conflict', message);
  }
  if (record.tree !== tree || record.key !== key) {
    const message = `${location} says that another desk publishes ${record.tree} there, with the key ${record.key} and not ${key}; publish to another place, or empty this one first`;
    throw new Fault('conflict', message);
  }
  return { record, etag: found.etag, age: found.age };
}

function parseRecord(bytes: Uint8Array): LeaseRecord | null {
  try {
    return LeaseRecord.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return null;
  }
}

/**
 * The lease of a tree at a target, which one publisher holds by compare-and-swap. Ages are measured by the store's
 * clock or a monotonic one, never by a wall clock.
 */
export class PublishLease {
  /** The previous publication at the target; null for a new one. */
  readonly before: string | null;
  /** Aborts what is in flight when the lease is lost. */
  readonly signal: AbortSignal;
  readonly #request: LeaseRequest;
  readonly #lasts: number;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #record: LeaseRecord;
  #etag: string;
  /** When the last successful write of the lease began, in ms of the monotonic clock. */
  #renewedAt: number;
  #renewal: Promise<void> = Promise.resolve();

  private constructor(
    request: LeaseRequest,
    taken: { before: string | null; record: LeaseRecord; etag: string; at: number },
  ) {
    this.#request = request;
    this.#lasts = (request.times ?? TIMES).lasts;
    this.before = taken.before;
    this.#record = taken.record;
    this.#etag = taken.etag;
    this.#renewedAt = taken.at;
    this.signal = AbortSignal.any([this.#lost.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    this.#timer = setInterval(() => {
      this.#renewal = this.#renewal.then(() => this.#renew());
    }, this.#lasts / 6);
    this.#timer.unref();
  }

  /** Waits until no other publisher is at work, and takes the lease. */
  static async acquire(request: LeaseRequest): Promise<PublishLease> {
    const { bucket, prefix, tree, key, name = `${PROCESS}:publish`, waiting, takesOver, signal } = request;
    const { lasts, poll } = request.times ?? TIMES;
    const id = randomUUID();
    const record: LeaseRecord = { broadsheet: 1, tree, key, publication: randomUUID(), holder: { id, name, beat: 0 } };
    let before: string | null = null;
    let refused = 0;
    let watched: { etag: string | undefined; since: number } = { etag: undefined, since: 0 };
    for (;;) {
      signal?.throwIfAborted();
      const found = await readLease(request);
      const holder = found?.record.holder ?? null;
      // The store wrote the lease, and the response was lost.
      if (found !== null && holder?.id === id)
        return new PublishLease(request, { before, record, etag: found.etag, at: performance.now() - found.age });
      if (found?.etag !== watched.etag) watched = { etag: found?.etag, since: performance.now() };
      const silence = Math.max(found?.age ?? 0, performance.now() - watched.since);
      if (holder !== null && silence < lasts && !isDead(holder.name)) {
        waiting(holder.name);
        await sleep(poll, undefined, { signal });
        continue;
      }
      if (found === null && !takesOver) await requireEmpty(request);
      before = found?.record.publication ?? null;
      const at = performance.now();
      const onlyIf = found === null ? 'absent' : { etag: found.etag };
      const etag = await bucket.put(prefix + LEASE_FILE, textOf(record), { headers: HEADERS, onlyIf });
      if (etag !== null) {
        const written = { key: prefix + LEASE_FILE, bytes: textOf(record), headers: HEADERS };
        if (found === null) await requireConditions(bucket, written);
        return new PublishLease(request, { before, record, etag, at });
      }
      if (++refused === REFUSED_MAX) {
        const message = `${bucket.name} does not show what was written: ${prefix}${LEASE_FILE} is never the object that was read before; give the address of the store itself, without a cache between`;
        throw new Fault('unavailable', message);
      }
      await sleep(Math.random() * poll, undefined, { signal });
    }
  }

  get publication(): string {
    return this.#record.publication;
  }

  /** Throws when another publisher may have taken the lease, because this process could not renew it in time. */
  assertHeld(): void {
    if (this.#isLate()) this.#lose();
    this.signal.throwIfAborted();
  }

  /** Whether another publisher may have taken the lease. */
  isLost(): boolean {
    return this.#lost.signal.aborted;
  }

  /** Lets others publish, also after a failure: files that were not sent stay queued. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    if (this.isLost() || this.#record.holder === null) return;
    // A lease that cannot be released expires by itself.
    const isOurs = await this.#write({ ...this.#record, holder: null }).catch(() => true);
    if (!isOurs) this.#lose();
  }

  #isLate(): boolean {
    return performance.now() - this.#renewedAt > (this.#lasts * 2) / 3;
  }

  async #renew(): Promise<void> {
    const { holder } = this.#record;
    if (this.signal.aborted || holder === null) return;
    try {
      const at = performance.now();
      if (await this.#write({ ...this.#record, holder: { ...holder, beat: holder.beat + 1 } })) this.#renewedAt = at;
      else this.#lose();
    } catch (error) {
      // The store may answer again before the lease runs out.
      if (this.#isLate()) this.#lose(` (${messageOf(error)})`);
    }
  }

  /** Replaces the record. Returns false when the lease belongs to another publisher by now. */
  async #write(record: LeaseRecord): Promise<boolean> {
    const { bucket, prefix } = this.#request;
    const put = (etag: string) =>
      bucket.put(prefix + LEASE_FILE, textOf(record), { headers: HEADERS, onlyIf: { etag } });
    let etag = await put(this.#etag);
    if (etag === null) {
      // The store may have written it, and the response was lost.
      const found = await readLease(this.#request);
      if (JSON.stringify(found?.record) === JSON.stringify(record)) etag = found?.etag ?? null;
      else if (found?.record.holder?.id === this.#record.holder?.id) etag = found && (await put(found.etag));
    }
    if (etag === null) return false;
    this.#etag = etag;
    this.#record = record;
    return true;
  }

  #lose(why = ''): void {
    const message = `another publisher may have taken over ${this.#request.bucket.name}, because this one could not renew its lease in time${why}; publish again`;
    this.#lost.abort(new Fault('conflict', message));
  }
}

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

function textOf(record: LeaseRecord): Uint8Array {
  return Buffer.from(`${JSON.stringify(record)}\n`);
}

async function requireEmpty({ bucket, prefix, excludes }: LeaseRequest): Promise<void> {
  for await (const { key } of bucket.list(prefix)) {
    if (excludes.some((other) => key.startsWith(other))) continue;
    const message = `${bucket.name} has objects that no publication wrote, such as ${key}; publish to an empty place, or take this one over with --repair, which removes what the paper does not have`;
    throw new Fault('conflict', message);
  }
}
