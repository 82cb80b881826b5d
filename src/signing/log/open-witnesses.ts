import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { dependencies } from '../../desk/dependencies.ts';
import { type LogService, parseLeaf } from '../../proof/log/leaf.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { VERSION } from '../../shared/project.ts';
import { logLease } from '../../shared/workers/lease.ts';
import { BATCH_PAUSE } from '../../shared/workers/poll.ts';
import type { Store } from '../../store/store.ts';
import type { CoveredLeaves } from './cosigned-head.ts';
import { assertNotFenced, checkFence, WITNESSES_WAIT } from './log-fence.ts';
import { signHead } from './log-head.ts';
import { type LogKey, openLogKey } from './log-key.ts';
import { ownPolicy, publishLog } from './log-publication.ts';
import { type LogWitnesses, logWitnesses } from './log-witnesses.ts';
import type { SubmitCheckpoint } from './witness-client.ts';

/** The witnesses of a log, over the network. `deadline` is the timeout of a request, in ms. */
export function openWitnesses(
  { store, settings, clock: { now } }: AppContext,
  log: LogService,
  { origin }: LogKey,
  logger: Logger,
  { deadline }: { deadline?: number } = {},
): LogWitnesses {
  const [name, address] =
    log === 'desk' ? ['Broadsheet', settings.origin] : ['Broadsheet-Records', settings.dataOrigin];
  const agent = `${name}/${VERSION} (+${address})`;
  let client: Promise<SubmitCheckpoint> | undefined;
  // Most logs have no witnesses, and loading Node's HTTP takes a tenth of a command's start.
  const submit: SubmitCheckpoint = async (...checkpoint) => {
    client ??= import('./witness-client.ts').then(({ witnessClient }) => witnessClient(agent, { deadline }));
    return (await client)(...checkpoint);
  };
  const covered = (leaves: CoveredLeaves) => markProofsStale(store, log, leaves);
  return logWitnesses({ store, now, submit, covered, logger }, { log, origin });
}

/** Leaves read per batch. */
const BATCH = 1_000;

/**
 * Marks the proofs and facts whose notes are among these leaves as stale, so that they are pressed again. Call it in
 * the transaction in which a covering head meets its quorum.
 */
export function markProofsStale(
  { database: { log: tables }, desk: { markStale } }: Pick<Store, 'database' | 'desk'>,
  log: LogService,
  leaves: CoveredLeaves,
): void {
  if (log !== 'desk') return;
  for (let start = leaves.start; start < leaves.end; start += BATCH) {
    for (const entry of tables.entries(log, start, Math.min(start + BATCH, leaves.end))) {
      const leaf = parseLeaf(entry);
      if (leaf.kind === 'receipt') markStale(leaf.receipt.paper, [dependencies.proof(leaf.receipt.piece)]);
      if (leaf.kind === 'fact') markStale(leaf.fact.paper, [dependencies.factProof(leaf.fact.claim_key)]);
    }
  }
}

/** Asks the witnesses whether this copy of a log may sign, before anything is signed. */
export async function checkLog(app: AppContext, log: LogService, logger: Logger): Promise<void> {
  const policy = ownPolicy(app.settings);
  await checkFence(app, log, async (key) =>
    policy === null ? null : openWitnesses(app, log, key, logger, { deadline: WITNESSES_WAIT }).check(policy),
  );
}

/**
 * Signs a head, asks the witnesses once, and publishes the log, for commands that leave a tree for a CDN. A running
 * server does this itself. Throws `unavailable`.
 */
export async function publishLogOnce(app: AppContext, log: LogService, logger: Logger): Promise<void> {
  // The server with the lease does it.
  if (app.settings.leaseUrl !== null) return;
  const lease = logLease(app, log, () => {});
  if (!lease.isHeld()) return;
  try {
    const key = openLogKey(app, log);
    const policy = ownPolicy(app.settings);
    const witnesses = openWitnesses(app, log, key, logger);
    await checkLog(app, log, logger);
    while (signHead(app, log, key) === 'more') await pause(BATCH_PAUSE);
    assertNotFenced(app.store.database.log, log);
    if (policy !== null) witnesses.ask(policy);
    await witnesses.settled();
    const assertHeld = () => {
      if (!lease.isHeld()) throw new Fault('unavailable', 'another process is publishing this log');
    };
    await publishLog(app, log, key, { isWhole: true, assertHeld });
  } finally {
    lease.release();
  }
}
