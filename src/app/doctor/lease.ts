import type { Settings } from '../../env.ts';
import type { AppContext } from '../context.ts';
import { readSignerLease, watchSignerLease } from '../signer.ts';
import type { Finding } from './finding.ts';
import { fault, holds, open } from './finding.ts';

/** Says who holds the lease of LEASE_URL, and whether the holder renews it. Changes nothing there. */
export async function checkLease(settings: Settings, app: AppContext | null): Promise<Omit<Finding, 'name'>> {
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
