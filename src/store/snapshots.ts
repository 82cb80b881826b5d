import { openStore, type Store } from './store.ts';

/** The most idle connections in the pool. */
const IDLE_MAX = 2;
/** Each connection's page cache, in KiB. Enough for one load of pieces, read in order. */
const CACHE = 4_096;

/**
 * A pool of connections with snapshots of the ledger. A press reads from one, so that it renders a single state of the
 * paper, and no list shows a piece whose page does not exist yet. Pooled because opening a connection takes longer than
 * the reads of a small press.
 */
export function snapshotPool(file: string) {
  const idle: Store[] = [];
  return {
    /**
     * Takes a connection without a snapshot. `refresh` moves its snapshot to the last committed state, without any open
     * transactions of other connections; `end` releases the connection. Call it outside a transaction, because it may
     * open a connection.
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
