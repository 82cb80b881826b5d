import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { checkpointText, parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { logTree } from '../../proof/log/tree.ts';
import { signNote } from '../../proof/signing.ts';
import type { AppContext } from '../../server/context.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';
import { addNodes, hasRoot } from '../../shared/transparency/log-tree.ts';
import type { Store } from '../../store/store.ts';
import { type Clock, TOLERANCE } from '../clock/clock-guard.ts';
import type { SignerRight } from '../signer.ts';
import { rewrittenLine } from './log-fence.ts';
import { type LogKey, openLogKey } from './log-key.ts';

/** The result of one step towards the next head. */
type HeadStep =
  /** Nodes were stored; there are more leaves than one transaction takes. */
  | 'more'
  /** A head was signed. */
  | 'signed'
  /** The newest head covers every leaf, or this copy must not sign. */
  | 'none';

/** A head that is still to be signed. */
interface NextHead {
  size: number;
  root: Uint8Array;
}

/** Takes one step towards a head over all leaves, in one transaction. Call it again after `more`. */
export function signHead(
  { store, clock: { now } }: { store: Pick<Store, 'database'>; clock: Pick<Clock, 'now'> },
  log: LogService,
  key: LogKey,
  upTo?: number,
): HeadStep {
  const { origin, signer } = key;
  return store.database.transact(() => {
    const next = nextHead(store.database.log, log, key, upTo);
    if (typeof next === 'string') return next;
    const checkpoint = signNote(checkpointText({ origin, ...next }), signer);
    const before = store.database.log.newestHead(log, origin)?.signed_at ?? 0;
    // Never earlier than the previous head, even if the clock was set back, unless that head dates from a clock that
    // ran ahead and was corrected.
    const isAhead = before - now() > TOLERANCE && store.database.clockCorrections() > 0;
    const signed_at = isAhead ? now() : Math.max(now(), before);
    store.database.log.addHead(log, { origin, size: next.size, signed_at, checkpoint });
    return 'signed';
  });
}

/** Like `signHead`, but first announces the head to all servers that may sign later. */
export async function signAnnounced(
  app: {
    store: Pick<Store, 'database'>;
    signer: SignerRight;
    clock: Clock;
  },
  log: LogService,
  key: LogKey,
): Promise<HeadStep> {
  if (app.clock.fault() !== null) return 'none';
  const next = app.store.database.transact(() => nextHead(app.store.database.log, log, key));
  if (typeof next === 'string') return next;
  const head = { origin: key.origin, size: next.size, root: Buffer.from(next.root).toString('base64') };
  return (await app.signer.announce(log, head)) ? signHead(app, log, key, next.size) : 'none';
}

function nextHead(
  tables: LogTables,
  log: LogService,
  { origin }: LogKey,
  size = tables.size(log),
): NextHead | 'more' | 'none' {
  if (!tables.isFilled(log) || tables.fence(log) !== null) return 'none';
  const last = tables.newestHead(log, origin);
  if (size <= (last?.size ?? 0)) return 'none';
  if (!addNodes(tables, log, size)) return 'more';
  const read = tables.tiles(log);
  const before = last === null ? null : parseCheckpoint(last.checkpoint);
  if (before !== null && !hasRoot(read, before)) {
    tables.setFence(log, rewrittenLine(log, before));
    return 'none';
  }
  return { size, root: logTree(size, read).root() };
}

/** Signs heads over everything in the logs, so that no other server takes over without it. */
export async function signLastHeads(app: AppContext): Promise<void> {
  for (const log of LOG_SERVICES) {
    if (!app.settings.services[log] || app.store.database.log.size(log) === 0) continue;
    const key = openLogKey(app, log);
    while ((await signAnnounced(app, log, key)) === 'more');
  }
}
