import type { Delta } from '../../../src/records/delta.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import { Busy } from '../../../src/shared/fault.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Chunk, type Filter, finalEvent, Listener } from './listener.ts';

interface FeedTimes {
  /** How often the database is polled, in ms. */
  poll: number;
  /** How often heartbeats are sent, in ms (protocol 5.9). */
  beat: number;
  /** Heartbeats after which a stream ends. The client reconnects, so that its key is checked and metered again. */
  beats: number;
}

const TIMES: FeedTimes = { poll: 250, beat: 15_000, beats: 240 };

const LISTENERS_MAX = 10_000;
const BATCH = 200;

/** The first line of every stream: how long clients wait before they reconnect, in ms. */
const FIRST = Buffer.from('retry: 3000\n\n');
const BEAT = Buffer.from(':\n\n');
const STOPPING = finalEvent('stopping', 'this server is stopping');

/** The changes of every process: one poll of the database for all listeners, and each change is encoded once. */
export class ChangeFeed {
  readonly #records: Pick<Store['records'], 'deltas' | 'newestDelta'>;
  readonly #times: FeedTimes;
  readonly #failed: (error: unknown) => void;
  /** Open listeners, and those of them that have caught up. */
  readonly #open = new Set<Listener>();
  readonly #live = new Set<Listener>();
  #sent = 0;
  #poll: NodeJS.Timeout | undefined;
  #beat: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    records: Pick<Store['records'], 'deltas' | 'newestDelta'>,
    failed: (error: unknown) => void,
    times: FeedTimes = TIMES,
  ) {
    this.#records = records;
    this.#failed = failed;
    this.#times = times;
  }

  get listeners(): number {
    return this.#open.size;
  }

  /** Opens a stream of the changes after a number. Throws `unavailable` when the process is stopping or full. */
  listen(filter: Filter, after: number, dropped: () => void): Listener {
    if (this.#isClosed) throw new Busy('this process is stopping; open the stream again');
    if (this.#open.size >= LISTENERS_MAX) {
      throw new Busy(`this process serves ${LISTENERS_MAX} streams, which is its limit; try again later`);
    }
    return new Listener(this, filter, after, FIRST, dropped);
  }

  newest(): number {
    return this.#records.newestDelta();
  }

  /** The next batch of changes that a listener missed. After the last batch the listener is live. */
  missed(listener: Listener): Chunk | null {
    if (this.#isClosed) {
      listener.end(STOPPING);
      return null;
    }
    this.#open.add(listener);
    this.#startBeat();
    if (this.#live.has(listener)) return null;
    const { host, signal, rotating } = listener.filter;
    const newest = this.#records.newestDelta();
    const found = this.#records.deltas(
      { host: host?.id, signal, rotating },
      { order: 'oldest', cursor: listener.position, limit: BATCH },
    );
    const last = found.at(-1)?.seq ?? 0;
    if (found.length < BATCH) {
      // This batch reaches both `newest` and the last change found.
      listener.position = Math.max(listener.position, newest, last);
      if (this.#live.size === 0) this.#sent = newest;
      this.#live.add(listener);
      this.#startPoll(this.#times.poll);
    }
    return chunkOf(found);
  }

  fallBehind(listener: Listener): void {
    this.#live.delete(listener);
    this.#stopPollIfIdle();
  }

  leave(listener: Listener): void {
    this.#open.delete(listener);
    this.#live.delete(listener);
    this.#stopPollIfIdle();
    if (this.#open.size === 0) {
      clearInterval(this.#beat);
      this.#beat = undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of [...this.#open]) listener.end(STOPPING);
  }

  #stopPollIfIdle(): void {
    if (this.#live.size > 0) return;
    clearTimeout(this.#poll);
    this.#poll = undefined;
  }

  #startPoll(wait: number): void {
    if (this.#poll !== undefined) return;
    this.#poll = setTimeout(() => {
      this.#poll = undefined;
      let isBehind = false;
      try {
        isBehind = this.#broadcast();
      } catch (error) {
        this.#failed(error);
      }
      if (this.#live.size > 0) this.#startPoll(isBehind ? 0 : this.#times.poll);
    }, wait);
  }

  /** Pushes a batch of new changes to live listeners. Returns whether there are more. */
  #broadcast(): boolean {
    const newest = this.#records.newestDelta();
    if (newest <= this.#sent) return false;
    const found = this.#records.deltas({ rotating: 'both' }, { order: 'oldest', cursor: this.#sent, limit: BATCH });
    const first = found[0]?.seq ?? 0;
    // Listeners with the same filter share the bytes: one write for all of them, instead of one per change.
    const shared = new Map<string, { bytes: Uint8Array; seq: number } | null>();
    for (const listener of [...this.#live]) {
      const { filter, position } = listener;
      // Listeners that joined since have some of these already.
      const name = `${filter.host?.id} ${filter.signal} ${filter.rotating} ${Math.max(position, first - 1)}`;
      let chunk = shared.get(name);
      if (chunk === undefined) {
        chunk = chunkOf(found.filter((delta) => delta.seq > position && listener.wants(delta)));
        shared.set(name, chunk);
      }
      if (chunk !== null) listener.push(chunk.bytes, chunk.seq);
    }
    const last = found.at(-1)?.seq ?? 0;
    this.#sent = found.length < BATCH ? Math.max(newest, last) : last;
    return found.length === BATCH;
  }

  #startBeat(): void {
    this.#beat ??= setInterval(() => {
      for (const listener of [...this.#open]) {
        if (listener.beats >= this.#times.beats) listener.end(finalEvent('time_is_up', 'a stream lasts an hour'));
        else listener.beat(BEAT);
      }
    }, this.#times.beat);
  }
}

/** Changes as bytes, with the number of the last one; null for none. */
function chunkOf(deltas: Delta[]): { bytes: Uint8Array; seq: number } | null {
  const last = deltas.at(-1);
  return last === undefined ? null : { bytes: Buffer.concat(deltas.map(frameOf)), seq: last.seq };
}

/** A change as an event (HTML, "Server-sent events"). JSON contains no line breaks. */
function frameOf(delta: Delta): Uint8Array {
  return Buffer.from(`id: ${delta.seq}\ndata: ${JSON.stringify(deltaRow(delta))}\n\n`);
}
