import type { Settings } from '../../env.ts';
import { isoTime } from '../../time.ts';
import type { AppContext } from '../context.ts';
import { fault, holds, open } from './finding.ts';
import { THIS_MACHINE } from './this-machine.ts';

/** Checks that limits by address count the callers, not a proxy in front of them. */
export function checkProxy(settings: Settings, app: AppContext | null) {
  const { trustedProxies, origin, dataOrigin, host, services } = settings;
  const unknown = app?.store.forwarded.list() ?? [];
  const [last] = unknown.toSorted((a, b) => b.at - a.at);
  if (last !== undefined) {
    const who = unknown.map(({ service }) => (service === 'desk' ? 'the desk' : 'the records')).join(' and ');
    return fault(
      `requests to ${who} came from a proxy at ${last.address}, last noted ${isoTime(last.at)}, which TRUSTED_PROXIES does not list: limits by address count the proxy, and all keyless callers share one slot`,
      `set TRUSTED_PROXIES=${last.address}, have the proxy set X-Forwarded-For, and restart the server`,
    );
  }
  if (trustedProxies.length > 0) return holds(`X-Forwarded-For is trusted from ${trustedProxies.join(', ')}`);
  const addresses = [...(services.desk ? [origin] : []), ...(services.records ? [dataOrigin] : [])];
  const elsewhere = addresses.find((address) => !THIS_MACHINE.test(new URL(address).hostname));
  if (elsewhere !== undefined && THIS_MACHINE.test(host)) {
    return open(
      `TRUSTED_PROXIES is not set, and a proxy on this machine leads from ${elsewhere} to ${host}, so that limits by address cannot count its callers: set it to the proxy’s address`,
    );
  }
  return open('TRUSTED_PROXIES is not set: right if callers connect directly');
}
