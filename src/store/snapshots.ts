import type { Store } from './store.ts';
import { openStore } from './store.ts';

/** Connections that are kept open for the next press. */
const IDLE_MAX = 2;

/** The ledger as it was at one moment, whatever is written since. */
export interface Snapshot {
  store: Store;
  /** Holds the last state that was committed, in the place of what was held before. Within a transaction of another connection that is the state before it. */
  hold(): void;
  /** Lets the ledger go on. */
  end(): void;
}

/**
 * Connections that hold the ledger still. A press reads from one: what it prints
 * is one state of the paper, so that no list names a piece whose page is not there yet.
 * Connections are kept for the next press, for opening one takes longer than a small press reads.
 */
export class Snapshots {
  readonly #file: string;
  readonly #idle: Store[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Takes a connection, which holds nothing yet. To be called outside a transaction: it may have to be opened. */
  take(): Snapshot {
    const store = this.#idle.pop() ?? openStore({ file: this.#file });
    let isHeld = false;
    const release = (): void => {
      if (isHeld) store.endReading();
      isHeld = false;
    };
    const hold = (): void => {
      release();
      store.beginReading();
      isHeld = true;
    };
    const end = (): void => {
      release();
      if (this.#idle.length < IDLE_MAX) this.#idle.push(store);
      else store.close();
    };
    return { store, hold, end };
  }

  close(): void {
    for (const store of this.#idle.splice(0)) store.close();
  }
}
