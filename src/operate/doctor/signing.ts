import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { plural } from '../../shared/plural.ts';
import { assertNotFenced } from '../../signing/log/log-fence.ts';
import { logStatus } from '../../signing/log/log-status.ts';
import { readSignerLease, watchSignerLease } from '../../signing/signer.ts';
import { type Finding, type Found, fault, holds, open, runChecks } from './finding.ts';

/** Checks the transparency logs of the services that this process runs. `app` is null when there is no database yet. */
export function checkLogs(settings: Settings, app: AppContext | null): Promise<Finding[]> {
  return runChecks(LOG_SERVICES.map((log) => [`log of the ${log}`, () => checkLog(app, log), settings.services[log]]));
}

function checkLog(app: AppContext | null, log: LogService): Found {
  if (app === null) return open('there is none yet; the first start creates it');
  const { origin, leaves, head, cosigned, witnesses, quorum_answers } = logStatus(app, log);
  assertNotFenced(app.store.database.log, log);
  const known = `${origin} with ${plural(leaves, 'leaf', 'leaves')}`;
  if (witnesses === null) return open(`${known}, and no witnesses: LOG_POLICY is not set`);
  const silent = witnesses.filter((witness) => witness.fault !== null);
  const said = silent.map(({ name, fault, fault_at }) => `witness ${name} since ${fault_at}: ${fault}`).join('. ');
  if (!quorum_answers) {
    return fault(
      `${known}: too few witnesses answer for the quorum. ${said}`,
      'docs/witnesses.md says what to do about each, and a restart asks them all at once',
    );
  }
  const far = cosigned === null ? 'none of it witnessed yet' : `${cosigned.size} of ${head?.size ?? 0} witnessed`;
  return holds(`${known}, ${far}${said === '' ? '' : `. ${said}`}`);
}

/** Says who holds the lease of LEASE_URL, and whether the holder renews it. Changes nothing there. */
export async function checkLease(settings: Settings, app: AppContext | null): Promise<Found> {
  if (settings.leaseUrl === null) return open('LEASE_URL is not set: this server has no standby');
  const { name, holder, isHere, isFresh, copyFault } = await readSignerLease(settings, settings.leaseUrl, app);
  if (holder === null) {
    if (copyFault !== null)
      return fault(`${name}: no server holds it, and one of this machine may not: ${copyFault}`, COPY);
    return open(`${name}: no server holds it; the next one to start takes it`);
  }
  const since = holder.since === null ? '' : ` since ${holder.since}`;
  if (isHere) return holds(`${name}: ${holder.name} holds it${since}, on this machine`);
  if (!(isFresh ?? (await watchSignerLease(settings, settings.leaseUrl)))) {
    return fault(
      `${name}: ${holder.name} took it${since} and no longer renews it: nobody signs`,
      copyFault === null ? 'start that server, or a standby, which takes over' : COPY,
    );
  }
  return holds(`${name}: ${holder.name} holds it${since}; a server of this machine stands by, and signs nothing`);
}

const COPY = 'restore the newest copy of the database (docs/machine-gone.md)';
