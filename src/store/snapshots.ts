import { openStore, type Store } from './store.ts';

/** The most idle connections in the pool. */
const IDLE_MAX = 2;
/** How much of the database a connection keeps in memory, in KiB: what one load of pieces needs, read in order. */
const CACHE = 4_096;

/**
 * A pool of connections with snapshots of the ledger. A press reads from one, so that it renders one state of the paper
 * and no list names a piece whose page does not exist yet. They are pooled because opening a connection takes longer
 * than the reads of a small press.
 */
export function snapshotPool(file: string) {
  const idle: Store[] = [];
  return {
    /**
     * Takes a connection, which has no snapshot yet. `refresh` moves its view to the last committed state, without any
     * transaction that is still open on another connection; `end` releases it. Call it outside a transaction, because
     * it may open a connection.
     */
    take() {
      const store = idle.pop() ?? openStore({ file, cache: CACHE });
      let isHeld = false;
      const release = (): void => {
        if (isHeld) store.database.endReading();
        isHeld = false;
      };
      const refresh = (): void => {
        release();
        store.database.beginReading();
        isHeld = true;
      };
      const end = (): void => {
        release();
        if (idle.length < IDLE_MAX) idle.push(store);
        else store.database.close();
      };
      return { store, refresh, end };
    },
    close(): void {
      for (const store of idle.splice(0)) store.database.close();
    },
  };
}
