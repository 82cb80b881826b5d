import { checkpointText, parseCheckpoint } from '../ledger/log/checkpoint.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { logTree } from '../ledger/log/tree.ts';
import { signNote } from '../ledger/signing.ts';
import type { Store } from '../store/store.ts';
import { addNodes } from '../transparency/log-nodes.ts';
import { hasRoot } from '../transparency/log-root.ts';
import { rewrittenLine } from './log-fence.ts';
import type { LogKey } from './log-key.ts';

/** The result of one step towards the next head. */
export type HeadStep =
  /** Nodes were stored; there are more leaves than one transaction takes. */
  | 'more'
  /** A head was signed. */
  | 'signed'
  /** The newest head covers every leaf, or this copy must not sign. */
  | 'none';

/** Takes one step towards a head over all leaves, in one transaction. Call it again after `more`. */
export function signHead(
  { store, now }: { store: Pick<Store, 'transact' | 'log'>; now(): number },
  log: LogService,
  { origin, signer }: LogKey,
): HeadStep {
  const tables = store.log;
  return store.transact(() => {
    if (!tables.isFilled(log) || tables.fence(log) !== null) return 'none';
    const size = tables.size(log);
    const last = tables.newestHead(log, origin);
    if (size <= (last?.size ?? 0)) return 'none';
    if (!addNodes(tables, log, size)) return 'more';
    const read = tables.tiles(log);
    const before = last === null ? null : parseCheckpoint(last.checkpoint);
    if (before !== null && !hasRoot(read, before)) {
      tables.setFence(log, rewrittenLine(log, before));
      return 'none';
    }
    const checkpoint = signNote(checkpointText({ origin, size, root: logTree(size, read).root() }), signer);
    // Never earlier than the head before, even when the clock was set back since.
    tables.addHead(log, { origin, size, signed_at: Math.max(now(), last?.signed_at ?? 0), checkpoint });
    return 'signed';
  });
}
