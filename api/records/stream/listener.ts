import type { Delta } from '../../../src/records/delta.ts';

/** Bytes that wait for a listener. Beyond that it falls behind, and reads from the database. */
const BUFFER_MAX = 256 * 1024;

/** Heartbeats without a read after which a listener with waiting data is dropped. */
const STALLED_BEATS = 2;

export interface Filter {
  host?: { id: number; hostname: string } | undefined;
  signal?: string | undefined;
  /** Each answer of rotating signals instead of the changes of their sets. */
  rotating?: 'answers' | undefined;
}

interface Source {
  /** The next missed changes; null once the listener is live. */
  missed(listener: Listener): Chunk | null;
  /** The listener is no longer live, and reads from `missed` again. */
  fallBehind(listener: Listener): void;
  leave(listener: Listener): void;
}

/** Bytes of the stream, and the number of the last change in them; null without a change. */
export interface Chunk {
  bytes: Uint8Array;
  seq: number | null;
}

/**
 * Reads missed changes from the database at its own pace; live changes are pushed as bytes that all listeners share.
 */
export class Listener {
  readonly filter: Filter;
  /** The number of the last change that it received or skipped. */
  position: number;
  /** Heartbeats since it connected; `#stalled` counts those since the last read. */
  beats = 0;
  #stalled = 0;
  readonly #source: Source;
  readonly #dropped: () => void;
  #queue: Chunk[] = [];
  #bytes = 0;
  #isEnded = false;
  #wake: (() => void) | null = null;

  /** `first` is sent immediately; `dropped` is called when the listener has stopped reading. */
  constructor(source: Source, filter: Filter, position: number, first: Uint8Array, dropped: () => void) {
    this.#source = source;
    this.filter = filter;
    this.position = position;
    this.#dropped = dropped;
    this.#add({ bytes: first, seq: null });
  }

  wants({ domain, signal, rotation }: Delta): boolean {
    const { host, signal: wanted, rotating } = this.filter;
    if (rotation === (rotating === 'answers' ? 'set' : 'answer')) return false;
    return (host === undefined || host.hostname === domain) && (wanted === undefined || wanted === signal);
  }

  push(bytes: Uint8Array, seq: number): void {
    if (this.#isEnded || seq <= this.position) return;
    if (this.#queue.length > 0 && this.#bytes + bytes.length > BUFFER_MAX) {
      // The queue is discarded; it is read again from the listener's position.
      this.#empty();
      this.#source.fallBehind(this);
    } else this.#add({ bytes, seq });
  }

  /** Sends a heartbeat, or drops a listener that has stopped reading. */
  beat(bytes: Uint8Array): void {
    this.beats++;
    if (this.#wake !== null) this.#add({ bytes, seq: null });
    else if (++this.#stalled > STALLED_BEATS) {
      this.end(finalEvent('too_slow', 'the listener stopped reading'));
      this.#dropped();
    }
  }

  /** Ends the stream with a final event, which replaces the queue: a client reads that again. */
  end(final: Uint8Array): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#empty();
    this.#source.leave(this);
    this.#add({ bytes: final, seq: null });
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          for (;;) {
            const next = this.#next();
            if (next !== null) return controller.enqueue(next);
            if (this.#isEnded) return controller.close();
            await new Promise<void>((resolve) => {
              this.#wake = resolve;
            });
          }
        },
        cancel: () => {
          this.#isEnded = true;
          this.#empty();
          this.#source.leave(this);
          this.#resume();
        },
      },
      // Nothing is produced ahead of a read.
      { highWaterMark: 0 },
    );
  }

  #next(): Uint8Array | null {
    this.#stalled = 0;
    // The feed may end the stream while the listener reads missed changes.
    const chunk = this.#take() ?? (this.#isEnded ? null : this.#source.missed(this)) ?? this.#take();
    if (chunk === null) return null;
    this.position = Math.max(this.position, chunk.seq ?? 0);
    return chunk.bytes;
  }

  #empty(): void {
    this.#queue = [];
    this.#bytes = 0;
  }

  #take(): Chunk | null {
    const chunk = this.#queue.shift() ?? null;
    if (chunk !== null) this.#bytes -= chunk.bytes.length;
    return chunk;
  }

  #add(chunk: Chunk): void {
    this.#queue.push(chunk);
    this.#bytes += chunk.bytes.length;
    this.#resume();
  }

  #resume(): void {
    this.#wake?.();
    this.#wake = null;
  }
}

/** The last event of a stream that the server ends. It has no id, so that a client resumes where it was. */
export function finalEvent(reason: string, message: string): Uint8Array {
  const data = JSON.stringify({ reason, message: `${message}; reconnect with Last-Event-ID to miss nothing` });
  return Buffer.from(`event: end\ndata: ${data}\n\n`);
}
