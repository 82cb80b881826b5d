import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { SECOND } from '../../proof/time.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import type { Bucket } from '../../shared/storage/bucket.ts';
import { requireConditions } from '../../shared/storage/conditions.ts';

/** The name of the object that identifies a tree at a target and its current publisher. */
export const CLAIM_FILE = '.broadsheet.json';

const ClaimRecord = z.object({
  broadsheet: z.literal(1),
  /** The paper, or `log`, and the key that it was first signed with: no desk publishes over the tree of another. */
  tree: z.string(),
  key: z.string(),
  /** Changes with each publication. A database that remembers another one compares every object. */
  publication: z.string(),
  /** The publisher at work; null when it is done. */
  holder: z.object({ id: z.string(), name: z.string(), beat: z.number() }).nullable(),
});
export type ClaimRecord = z.infer<typeof ClaimRecord>;

/** How long a claim lasts without being renewed, in ms. After a crash another publisher takes over. */
export interface ClaimTimes {
  lasts: number;
  /** How often a waiting publisher looks again. */
  poll: number;
}
export const CLAIM_TIMES: ClaimTimes = { lasts: 30 * SECOND, poll: SECOND };

/** After this many consecutive refusals of a value just read, the store counts as broken. */
const REFUSED_MAX = 30;

interface ClaimRequest {
  bucket: Bucket;
  /** Where the tree's keys begin, and which keys there belong to other trees. */
  prefix: string;
  excludes: readonly string[];
  tree: string;
  key: string;
  /** Who publishes, as other publishers see it. */
  name: string;
  times?: ClaimTimes;
  /** Whether a publisher is known to be dead, so that others need not wait for its claim to expire. */
  isDead(holder: string): boolean;
  /** Called when another publisher is at work, before each look. */
  waiting(holder: string): void;
  /** Whether to publish into a place that has objects and no claim. */
  takesOver: boolean;
  signal?: AbortSignal | undefined;
}

/** The claim at a target; null without one. Throws `conflict` when the place holds another tree. */
export async function readClaim(
  bucket: Bucket,
  { prefix, tree, key }: Pick<ClaimRequest, 'prefix' | 'tree' | 'key'>,
): Promise<{ record: ClaimRecord; etag: string; age: number } | null> {
  const found = await bucket.get(prefix + CLAIM_FILE);
  if (found === null) return null;
  const place = `${bucket.name}: ${prefix}${CLAIM_FILE}`;
  const record = parseRecord(found.bytes);
  if (record === null) {
    const message = `${place} cannot be read as that of a publication; remove it, and publish again with --repair`;
    throw new Fault('conflict', message);
  }
  if (record.tree !== tree || record.key !== key) {
    const message = `${place} says that another desk publishes ${record.tree} there, with the key ${record.key} and not ${key}; publish to another place, or empty this one first`;
    throw new Fault('conflict', message);
  }
  return { record, etag: found.etag, age: found.age };
}

function parseRecord(bytes: Uint8Array): ClaimRecord | null {
  try {
    return ClaimRecord.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return null;
  }
}

/** The publisher at work; null without one that renewed its claim in time. `watched`: observed for so long, in ms. */
function holderOf(found: { record: ClaimRecord; age: number }, watched: number, { lasts }: ClaimTimes): string | null {
  const isFresh = Math.max(found.age, watched) < lasts;
  return found.record.holder !== null && isFresh ? found.record.holder.name : null;
}

/** Held by one publisher, by compare-and-swap. Ages are by the store's clock or a monotonic one, never a wall clock. */
export class Claim {
  /** The previous publication at the target; null for a new one. */
  readonly before: string | null;
  readonly publication: string;
  /** Aborts what is in flight when the claim is lost. */
  readonly signal: AbortSignal;
  readonly #request: ClaimRequest;
  readonly #times: ClaimTimes;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #record: ClaimRecord;
  #etag: string;
  /** When this process last began to write the claim with success, in ms of the monotonic clock. */
  #renewedAt: number;
  #renewal: Promise<void> = Promise.resolve();

  private constructor(
    request: ClaimRequest,
    taken: { before: string | null; record: ClaimRecord; etag: string; at: number },
  ) {
    this.#request = request;
    this.#times = request.times ?? CLAIM_TIMES;
    this.before = taken.before;
    this.publication = taken.record.publication;
    this.#record = taken.record;
    this.#etag = taken.etag;
    this.#renewedAt = taken.at;
    this.signal = AbortSignal.any([this.#lost.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    this.#timer = setInterval(() => {
      this.#renewal = this.#renewal.then(() => this.#renew());
    }, this.#times.lasts / 6);
    this.#timer.unref();
  }

  /** Waits until no other publisher is at work, and takes the claim. */
  static async take(request: ClaimRequest): Promise<Claim> {
    const { bucket, prefix, tree, key, name, waiting, takesOver, signal } = request;
    const times = request.times ?? CLAIM_TIMES;
    const id = randomUUID();
    const record: ClaimRecord = { broadsheet: 1, tree, key, publication: randomUUID(), holder: { id, name, beat: 0 } };
    let before: string | null = null;
    let refused = 0;
    let watched: { etag: string | undefined; since: number } = { etag: undefined, since: 0 };
    for (;;) {
      signal?.throwIfAborted();
      const found = await readClaim(bucket, request);
      // The store took the claim, and the response was lost.
      if (found?.record.holder?.id === id)
        return new Claim(request, { before, record, etag: found.etag, at: performance.now() - found.age });
      if (found?.etag !== watched.etag) watched = { etag: found?.etag, since: performance.now() };
      const holder = found === null ? null : holderOf(found, performance.now() - watched.since, times);
      if (holder !== null && !request.isDead(holder)) {
        waiting(holder);
        await sleep(times.poll, undefined, { signal });
        continue;
      }
      if (found === null && !takesOver) await requireEmpty(request);
      before = found?.record.publication ?? null;
      const at = performance.now();
      const onlyIf = found === null ? 'absent' : { etag: found.etag };
      const etag = await bucket.put(prefix + CLAIM_FILE, textOf(record), { headers: HEADERS, onlyIf });
      if (etag !== null) {
        if (found === null) {
          const written = { key: prefix + CLAIM_FILE, bytes: textOf(record), headers: HEADERS };
          await requireConditions(bucket, written);
        }
        return new Claim(request, { before, record, etag, at });
      }
      if (++refused === REFUSED_MAX) {
        const message = `${bucket.name} does not show what was written: ${prefix}${CLAIM_FILE} is never the object that was read before; give the address of the store itself, without a cache between`;
        throw new Fault('unavailable', message);
      }
      await sleep(Math.random() * times.poll, undefined, { signal });
    }
  }

  /** Throws when another publisher may have taken the claim, because this process could not renew it in time. */
  assertHeld(): void {
    if (performance.now() - this.#renewedAt > (this.#times.lasts * 2) / 3) this.#lose();
    this.signal.throwIfAborted();
  }

  /** Whether another publisher may have taken the claim. */
  isLost(): boolean {
    return this.#lost.signal.aborted;
  }

  /** Lets others publish. After a failure too: what was not sent stays queued. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    if (this.#lost.signal.aborted || this.#record.holder === null) return;
    // One that cannot be released runs out by itself.
    const isOurs = await this.#write({ ...this.#record, holder: null }).catch(() => true);
    if (!isOurs) this.#lose();
  }

  async #renew(): Promise<void> {
    const { holder } = this.#record;
    if (this.signal.aborted || holder === null) return;
    try {
      const at = performance.now();
      const record = { ...this.#record, holder: { ...holder, beat: holder.beat + 1 } };
      if (await this.#write(record)) this.#renewedAt = at;
      else this.#lose();
    } catch (error) {
      // The store may answer again before the claim runs out.
      if (performance.now() - this.#renewedAt > (this.#times.lasts * 2) / 3) this.#lose(error);
    }
  }

  async #write(record: ClaimRecord): Promise<boolean> {
    const { bucket, prefix } = this.#request;
    const put = (etag: string) =>
      bucket.put(prefix + CLAIM_FILE, textOf(record), { headers: HEADERS, onlyIf: { etag } });
    let etag = await put(this.#etag);
    if (etag === null) {
      const found = await readClaim(bucket, this.#request);
      if (found === null || found.record.holder?.id !== this.#record.holder?.id)
        return isReleased(found?.record, record);
      etag = found.record.holder?.beat === record.holder?.beat ? found.etag : await put(found.etag);
    }
    if (etag === null) return false;
    this.#etag = etag;
    this.#record = record;
    return true;
  }

  #lose(error?: unknown): void {
    const why = error === undefined ? '' : ` (${messageOf(error)})`;
    this.#lost.abort(
      new Fault(
        'conflict',
        `another publisher may have taken over ${this.#request.bucket.name}, because this one could not renew its claim in time${why}; publish again`,
      ),
    );
  }
}

/** Whether the record of a release is there: the store wrote it, and the response was lost. */
function isReleased(found: ClaimRecord | undefined, written: ClaimRecord): boolean {
  return written.holder === null && found?.holder === null && found.publication === written.publication;
}

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

function textOf(record: ClaimRecord): Uint8Array {
  return Buffer.from(`${JSON.stringify(record)}\n`);
}

async function requireEmpty({ bucket, prefix, excludes }: ClaimRequest): Promise<void> {
  for await (const { key } of bucket.list(prefix)) {
    if (excludes.some((other) => key.startsWith(other))) continue;
    const message = `${bucket.name} has objects that no publication wrote, such as ${key}; publish to an empty place, or take this one over with --repair, which removes what the paper does not have`;
    throw new Fault('conflict', message);
  }
}
