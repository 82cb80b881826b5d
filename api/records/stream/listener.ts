import type { Delta } from '../../../src/records/delta.ts';

/** How much is kept for a listener, in bytes; past that it reads from the database when it gets there. */
const BUFFER_MAX = 256 * 1024;

/** For how many heartbeats nothing may be read of what waits. */
const STALLED_BEATS = 2;

/** What a listener asked for. */
export interface Wanted {
  host?: { id: number; hostname: string } | undefined;
  signal?: string | undefined;
}

/** What a listener needs of the feed. */
interface Source {
  /** What comes next in the past for a listener, or null once it hears changes live. */
  past(listener: Listener): Piece | null;
  /** The listener is behind, and is served by `past` again. */
  fallBehind(listener: Listener): void;
  leave(listener: Listener): void;
}

/** A part of the stream, and the number of the last change in it; null for one without a change. */
export interface Piece {
  bytes: Uint8Array;
  seq: number | null;
}

/**
 * One listener of the stream. What it has missed is read from the database as it
 * reads on; live changes are handed to it as bytes that all listeners share.
 */
export class Listener {
  readonly wanted: Wanted;
  /** The number of the last change that it was told, or that it need not be. */
  position: number;
  /** Heartbeats since it came, and since something of what waits was read. */
  beats = 0;
  #stalled = 0;
  readonly #source: Source;
  readonly #dropped: () => void;
  #queue: Piece[] = [];
  #bytes = 0;
  #isEnded = false;
  #wake: (() => void) | null = null;

  /** `first` is what is said at once; `dropped` is called when nothing more is read. */
  constructor(source: Source, wanted: Wanted, position: number, first: Uint8Array, dropped: () => void) {
    this.#source = source;
    this.wanted = wanted;
    this.position = position;
    this.#dropped = dropped;
    this.#add({ bytes: first, seq: null });
  }

  wants({ domain, signal }: Delta): boolean {
    const { host, signal: wanted } = this.wanted;
    return (host === undefined || host.hostname === domain) && (wanted === undefined || wanted === signal);
  }

  /** Hands over a change that it hears live. */
  push(bytes: Uint8Array, seq: number): void {
    if (this.#isEnded || seq <= this.position) return;
    if (this.#queue.length > 0 && this.#bytes + bytes.length > BUFFER_MAX) {
      // What waits is let go: it is read again from the listener's position.
      this.#empty();
      this.#source.fallBehind(this);
    } else this.#add({ bytes, seq });
  }

  /** Says that the stream is alive, or drops the listener when it has long not read what waits. */
  beat(bytes: Uint8Array): void {
    this.beats++;
    if (this.#wake !== null) this.#add({ bytes, seq: null });
    else if (++this.#stalled > STALLED_BEATS) {
      this.end(lastWord('too_slow', 'what waited for this listener was not read'));
      this.#dropped();
    }
  }

  /** Ends with a last word, in the place of all that still waits: it can be read again. */
  end(word: Uint8Array): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#empty();
    this.#source.leave(this);
    this.#add({ bytes: word, seq: null });
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
          this.#empty();
          this.#source.leave(this);
          this.#awake();
        },
      },
      // Nothing is made ready before it is asked for.
      { highWaterMark: 0 },
    );
  }

  #next(): Uint8Array | null {
    this.#stalled = 0;
    // While it looks into the past, the feed may have said its last word.
    const piece = this.#take() ?? (this.#isEnded ? null : this.#source.past(this)) ?? this.#take();
    if (piece === null) return null;
    this.position = Math.max(this.position, piece.seq ?? 0);
    return piece.bytes;
  }

  #empty(): void {
    this.#queue = [];
    this.#bytes = 0;
  }

  #take(): Piece | null {
    const piece = this.#queue.shift() ?? null;
    if (piece !== null) this.#bytes -= piece.bytes.length;
    return piece;
  }

  #add(piece: Piece): void {
    this.#queue.push(piece);
    this.#bytes += piece.bytes.length;
    this.#awake();
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
