import { Fault } from '../../../src/fault.ts';
import type { Delta } from '../../../src/records/delta.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Piece, Wanted } from './listener.ts';
import { Listener, lastWord } from './listener.ts';

export interface FeedTimes {
  /** How often the database is asked for something new, in ms. */
  poll: number;
  /** How often every listener hears that the stream is alive, in ms (wire.md, section 5). */
  beat: number;
  /** After how many heartbeats a stream ends and is to be opened anew: the key is looked at, and metered, again. */
  beats: number;
}

const TIMES: FeedTimes = { poll: 250, beat: 15_000, beats: 240 };

/** How many listeners one process serves. */
const LISTENERS_MAX = 10_000;
/** How many changes are read at once. */
const BATCH = 200;

/** How many bytes of changes are handed over at once, about: a fraction of what may wait for a listener. */
const PIECE = 32 * 1024;

/** What is said first: when a client that lost the connection should come back, in ms. */
const FIRST = Buffer.from('retry: 3000\n\n');
const BEAT = Buffer.from(':\n\n');
const STOPPING = lastWord('stopping', 'this server is stopping');

/**
 * The changes as they are entered, by whatever process: one reader of the
 * database for all listeners, and each change made into bytes once.
 */
export class ChangeFeed {
  readonly #records: Pick<Store['records'], 'deltas' | 'newestDelta'>;
  readonly #times: FeedTimes;
  readonly #failed: (error: unknown) => void;
  /** Those who are open, and among them those who hear the present. */
  readonly #open = new Set<Listener>();
  readonly #live = new Set<Listener>();
  /** The number of the newest change that those were told. */
  #told = 0;
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

  /** Opens a stream of what comes after a number. Throws `unavailable` at the end of the process, or for one too many. */
  listen(wanted: Wanted, after: number, dropped: () => void): Listener {
    if (this.#isClosed) throw new Fault('unavailable', 'the stream ends: this process is stopping');
    if (this.#open.size >= LISTENERS_MAX) {
      throw new Fault('unavailable', `the stream has its ${LISTENERS_MAX} listeners; try again later`);
    }
    return new Listener(this, wanted, after, FIRST, dropped);
  }

  /** The number of the newest change that there is. */
  newest(): number {
    return this.#records.newestDelta();
  }

  /** What a listener has missed, a part at a time; after the last part it joins those that hear changes live. */
  past(listener: Listener): Piece | null {
    if (this.#isClosed) {
      listener.end(STOPPING);
      return null;
    }
    this.#open.add(listener);
    this.#startBeat();
    if (this.#live.has(listener)) return null;
    const { host, signal } = listener.wanted;
    const newest = this.#records.newestDelta();
    const found = this.#records.deltas(
      { host: host?.id, signal },
      { order: 'oldest', cursor: listener.position, limit: BATCH },
    );
    const last = found.at(-1)?.seq ?? 0;
    if (found.length < BATCH) {
      // With this, everything up to `newest`, and up to the last one found, is told.
      listener.position = Math.max(listener.position, newest, last);
      if (this.#live.size === 0) this.#told = newest;
      this.#live.add(listener);
      this.#startPoll(this.#times.poll);
    }
    return found.length === 0 ? null : { bytes: Buffer.concat(found.map(frameOf)), seq: last };
  }

  fallBehind(listener: Listener): void {
    this.#live.delete(listener);
    this.#restIfAlone();
  }

  leave(listener: Listener): void {
    this.#open.delete(listener);
    this.#live.delete(listener);
    this.#restIfAlone();
    if (this.#open.size === 0) {
      clearInterval(this.#beat);
      this.#beat = undefined;
    }
  }

  /** Ends every stream, with a word. */
  close(): void {
    this.#isClosed = true;
    for (const listener of [...this.#open]) listener.end(STOPPING);
  }

  /** Nobody hears the present: it need not be looked for. */
  #restIfAlone(): void {
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
        isBehind = this.#tell();
      } catch (error) {
        this.#failed(error);
      }
      if (this.#live.size > 0) this.#startPoll(isBehind ? 0 : this.#times.poll);
    }, wait);
  }

  /** Tells a part of what is new; whether there is more. */
  #tell(): boolean {
    const newest = this.#records.newestDelta();
    if (newest <= this.#told) return false;
    const found = this.#records.deltas({}, { order: 'oldest', cursor: this.#told, limit: BATCH });
    const first = found[0]?.seq ?? 0;
    // Who wants the same is handed the same bytes: one piece and one write in the place of one for each change.
    const shared = new Map<string, Told[]>();
    for (const listener of [...this.#live]) {
      const { wanted, position } = listener;
      // Who joined since was told some of these already.
      const name = `${wanted.host?.id} ${wanted.signal} ${Math.max(position, first - 1)}`;
      let pieces = shared.get(name);
      if (pieces === undefined) {
        pieces = piecesOf(found.filter((delta) => delta.seq > position && listener.wants(delta)));
        shared.set(name, pieces);
      }
      for (const { bytes, seq } of pieces) {
        // Who has fallen behind meanwhile reads the rest from the database, and nothing is left out.
        if (this.#live.has(listener)) listener.push(bytes, seq);
      }
    }
    const last = found.at(-1)?.seq ?? 0;
    this.#told = found.length < BATCH ? Math.max(newest, last) : last;
    return found.length === BATCH;
  }

  #startBeat(): void {
    this.#beat ??= setInterval(() => {
      for (const listener of [...this.#open]) {
        if (listener.beats >= this.#times.beats) listener.end(lastWord('time_is_up', 'a stream lasts an hour'));
        else listener.beat(BEAT);
      }
    }, this.#times.beat);
  }
}

/** Changes as bytes, and the number of the last one among them. */
interface Told {
  bytes: Uint8Array;
  seq: number;
}

/** Changes in pieces, none of them much larger than `PIECE`. */
function piecesOf(deltas: Delta[]): Told[] {
  const pieces: Told[] = [];
  let frames: Uint8Array[] = [];
  let length = 0;
  for (const [index, delta] of deltas.entries()) {
    const frame = frameOf(delta);
    frames.push(frame);
    length += frame.length;
    if (length < PIECE && index < deltas.length - 1) continue;
    pieces.push({ bytes: Buffer.concat(frames), seq: delta.seq });
    [frames, length] = [[], 0];
  }
  return pieces;
}

/** A change as an event (HTML, "Server-sent events"). JSON has no line break in it. */
function frameOf(delta: Delta): Uint8Array {
  return Buffer.from(`id: ${delta.seq}\ndata: ${JSON.stringify(deltaRow(delta))}\n\n`);
}
