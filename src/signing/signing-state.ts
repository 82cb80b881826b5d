import type { LogService } from '../proof/log/leaf.ts';
import { isoTime } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';

/** The reasons as public responses state them. They name no machine; the log does. */
const MESSAGES = {
  lease: 'this server has asked for the lease, and waits for the answer',
  holder: 'another server of this desk holds the lease and signs; this one stands by',
  newer_copy: 'the lease is free, and this copy of the database lacks what was signed last; it waits for a newer one',
  store: 'the place of the lease cannot be read or written; doctor says why',
  restart: 'another server may hold the lease now; this one stops',
  stop: 'this server stops',
  clock: 'the clock of this server is wrong; clock_fault and doctor say what to do',
  archive: 'observations wait until the manifest of the archive can be read; doctor says why it cannot',
  fenced: 'this copy of the log is not the newest one; log status says what to do',
} as const;

/** Whether a server signs for a service, and if not, why. `since` is in ISO 8601, where known. */
interface SigningState {
  signs: boolean;
  why: keyof typeof MESSAGES | null;
  message: string | null;
  since: string | null;
}

export const SIGNING_REASONS = Object.keys(MESSAGES) as (keyof typeof MESSAGES)[];

const SIGNS: SigningState = { signs: true, why: null, message: null, since: null };

/** The first known reason why nothing is signed here. */
export function signingState(
  { signer, store, clock }: Pick<AppContext, 'signer' | 'store' | 'clock'>,
  log: LogService,
): SigningState {
  const lease = signer.state();
  if (lease !== null && lease.waitingFor !== null) return refused(lease.waitingFor, isoTime(lease.since));
  if (clock.fault() !== null) return refused('clock', null);
  if (store.database.log.fence(log) !== null) return refused('fenced', null);
  return log === 'records' && !signer.knowsArchive ? refused('archive', null) : SIGNS;
}

function refused(why: keyof typeof MESSAGES, since: string | null): SigningState {
  return { signs: false, why, message: MESSAGES[why], since };
}

/** How many signed leaves this copy lacks, according to the lease; null without a lease. */
export function leavesBehind({ signer, store }: Pick<AppContext, 'signer' | 'store'>, log: LogService): number | null {
  const heads = signer.state()?.heads ?? null;
  return heads === null ? null : Math.max(0, (heads[log]?.size ?? 0) - store.database.log.size(log));
}
