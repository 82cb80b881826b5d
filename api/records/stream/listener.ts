import type { Delta } from '../../../src/records/delta.ts';

/** How much may wait for a listener that does not read, in bytes; beyond it he is dropped. */
export const BUFFER_MAX = 256 * 1024;

/** What a listener asked for. */
export interface Wanted {
  /** A hostname, and its id. */
  host?: { id: number; hostname: string } | undefined;
  signal?: string | undefined;
}

/** What a listener needs of the feed. */
interface Source {
  /** The next events of the past for a listener, or null once he hears the present. */
  past(listener: Listener): Uint8Array | null;
  leave(listener: Listener): void;
}

/**
 * One listener of the stream. What he is behind is read from the database as he
 * reads on; what happens is handed to him as bytes that all listeners share.
 */
export class Listener {
  readonly wanted: Wanted;
  /** The number of the last change that he was told, or that he need not be. */
  position: number;
  /** How many heartbeats he was there for. */
  beats = 0;
  readonly #source: Source;
  readonly #dropped: () => void;
  #queue: Uint8Array[];
  #bytes = 0;
  #isEnded = false;
  #wake: (() => void) | null = null;

  /** `first` is what is said at once; `dropped` is called when he reads too slowly. */
  constructor(source: Source, wanted: Wanted, position: number, first: Uint8Array, dropped: () => void) {
    this.#source = source;
    this.wanted = wanted;
    this.position = position;
    this.#queue = [first];
    this.#dropped = dropped;
  }

  wants({ seq, domain, signal }: Delta): boolean {
    const { wanted } = this;
    return (
      seq > this.position &&
      (wanted.host === undefined || wanted.host.hostname === domain) &&
      (wanted.signal === undefined || wanted.signal === signal)
    );
  }

  /** Whether he has read all that he was given. */
  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  push(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    this.#queue.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > BUFFER_MAX) {
      this.end(lastWord('too_slow', 'more changes waited for this listener than are kept for one'));
      this.#dropped();
    } else this.#awake();
  }

  /** Ends with a last word, in the place of all that still waits: it can be read again. */
  end(word: Uint8Array): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#queue = [word];
    this.#source.leave(this);
    this.#awake();
  }

  /** The stream, as it is read. */
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
          this.#queue = [];
          this.#source.leave(this);
          this.#awake();
        },
      },
      // Nothing is made ready before it is asked for.
      { highWaterMark: 0 },
    );
  }

  #next(): Uint8Array | null {
    const first = this.#queue.shift();
    if (first !== undefined) {
      this.#bytes = Math.max(0, this.#bytes - first.length);
      return first;
    }
    if (this.#isEnded) return null;
    // While it looks, the feed may have said its last word.
    return this.#source.past(this) ?? this.#queue.shift() ?? null;
  }

  #awake(): void {
    this.#wake?.();
    this.#wake = null;
  }
}

/** The event that a stream ends with when the server ends it. It has no id: a client comes back to where it was. */
export function lastWord(reason: string, message: string): Uint8Array {
  const data = JSON.stringify({ reason, message: `${message}; come back with Last-Event-ID, and nothing is missed` });
  return Buffer.from(`event: end\ndata: ${data}\n\n`);
}
