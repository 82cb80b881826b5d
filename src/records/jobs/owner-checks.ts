import type { Logger } from 'pino';
import { DAY, dayOf, MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Busy, Fault } from '../../shared/fault.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { BATCH_PAUSE, hourly, poll } from '../../shared/workers/poll.ts';
import { FILE_PATH, type OwnerProof, proofText, RECHECK_EVERY, TXT_LABEL } from '../accounts/owner.ts';
import { type Checked, countCheck, recordCheck } from '../owners.ts';
import { type NameProver, nameProver } from '../probe/name-proof.ts';

/** How often the job looks for due proofs, and how long it leases them for, in ms. */
const POLL_EVERY = MINUTE / 2;
const LEASE_TIME = 10 * MINUTE;
const AT_ONCE = 8;

async function check(app: AppContext, prove: NameProver, proof: OwnerProof, by: string): Promise<Checked | null> {
  const { name, token } = proof;
  const result = await prove(name, { record: `${TXT_LABEL}.${name}`, path: FILE_PATH, text: proofText(token) });
  const checked = recordCheck(app, proof, result, by);
  const outcomes = Object.values(result).map(({ outcome }) => outcome);
  const outcome = (['found', 'unknown'] as const).find((one) => outcomes.includes(one)) ?? 'absent';
  measurements.emit('ownerCheck', { outcome });
  return checked;
}

/**
 * Checks a proof at an account's request. Throws `conflict` for a proof that was revoked, or given up meanwhile,
 * `rate_limited`, and `unavailable` while another check for the account runs.
 */
export function askedCheck(app: AppContext, prove: NameProver = nameProver(app.settings)) {
  // One check at a time per account; else an account could make this server contact any number of hosts at once.
  const underWay = new Set<string>();
  return async (proof: OwnerProof): Promise<Checked> => {
    const { account, name } = proof;
    if (underWay.has(account)) throw new Busy('a name of this account is being checked; try again when that is done');
    countCheck(app, proof);
    underWay.add(account);
    try {
      const checked = await check(app, prove, proof, `account:${account}`);
      if (checked !== null) return checked;
      throw new Fault('conflict', `${name} was given up or revoked while it was checked; nothing was recorded`);
    } finally {
      underWay.delete(account);
    }
  };
}

/**
 * Checks proofs again when they are due, alongside other servers of the database. A check that was interrupted runs
 * again when its lease ends. Returns a function that stops it.
 */
export function startOwnerChecks(
  app: AppContext,
  logger: Logger,
  prove: NameProver = nameProver(app.settings),
): () => Promise<void> {
  const { owners } = app.store.records;
  const sweep = hourly(app, (now) => owners.forgetUses(dayOf(now - 2 * DAY)));
  const round = async (): Promise<number> => {
    // With a wrong clock it is unknown what is due, and whether a proof has been missing for a week.
    if (app.clock.fault() !== null) return POLL_EVERY;
    const now = app.clock.now();
    sweep(now);
    owners.pullForward(now, now + 2 * RECHECK_EVERY);
    const due = owners.leaseDue(now, now + LEASE_TIME, AT_ONCE);
    await Promise.all(
      due.map(async (proof) => {
        const checked = await check(app, prove, proof, 'job');
        const event = checked?.event ?? null;
        if (event !== null) logger.info({ name: proof.name, event }, 'a proof of a name was checked');
      }),
    );
    return due.length === AT_ONCE ? BATCH_PAUSE : POLL_EVERY;
  };
  return poll(round, { job: 'proofs of names', logger, failed: 'checking proofs of names failed; retrying' });
}
