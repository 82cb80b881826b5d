import type { Settings } from '../../env.ts';
import { readSignerLease } from '../signer.ts';
import type { Finding } from './finding.ts';
import { holds, open } from './finding.ts';

/** Says who holds the lease of LEASE_URL. Changes nothing there. */
export async function checkLease(settings: Settings): Promise<Omit<Finding, 'name'>> {
  if (settings.leaseUrl === null) return open('LEASE_URL is not set: this server has no standby');
  const { name, holder, isHere } = await readSignerLease(settings, settings.leaseUrl);
  if (holder === null) return open(`${name}: no server holds it; the next one to start takes it`);
  return holds(`${name}: ${holder} holds it${isHere ? ', on this machine' : ''}`);
}
