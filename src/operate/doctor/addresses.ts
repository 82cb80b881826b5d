import { isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { isLoopbackHost } from '../../shared/public-address.ts';
import { type Finding, fault, holds, open, runChecks } from './finding.ts';

/** Hosts that always mean this machine, with or without the brackets that IPv6 has in an address. */
const THIS_MACHINE = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** The timeout of a request to an address, in ms. */
const PATIENCE = 5_000;

/** A public address, the port that it should lead to, and the names of both settings. */
interface Address {
  setting: 'ORIGIN' | 'DATA_ORIGIN';
  origin: string;
  portSetting: 'PORT' | 'RECORDS_PORT';
  port: number;
  assumed: boolean;
  /** The address at which a server last served; null if none did. */
  served: string | null;
}

/** Compares the addresses in pages, feeds and mails with the ports that the server listens on. */
export function checkAddresses(settings: Settings, app: AppContext | null): Promise<Finding[]> {
  const { origin, dataOrigin, port, recordsPort, host, assumed, services } = settings;
  const served = (service: 'desk' | 'records') => app?.store.database.served.origin(service) ?? null;
  const desk: Address = {
    ...{ setting: 'ORIGIN', origin, assumed: assumed.origin, served: served('desk') },
    ...{ portSetting: 'PORT', port },
  };
  const records: Address = {
    ...{ setting: 'DATA_ORIGIN', origin: dataOrigin, assumed: assumed.dataOrigin, served: served('records') },
    ...{ portSetting: 'RECORDS_PORT', port: recordsPort },
  };
  return runChecks([
    ['address of the desk', () => check(desk, host), services.desk],
    ['address of the records', () => check(records, host), services.records],
  ]);
}

async function check({ setting, origin, portSetting, port, assumed, served }: Address, host: string) {
  if (assumed && served !== null) return holds(`${served}, where it was last served`);
  if (assumed && port === 0) {
    return open(`${portSetting} is 0 and ${setting} is not set: the server prints its address when it starts`);
  }
  const { hostname, port: named, protocol } = new URL(origin);
  const portOf = Number(named || (protocol === 'https:' ? 443 : 80));
  if (THIS_MACHINE.test(hostname) && port !== 0 && portOf !== port) {
    const said = `${setting} is ${origin}, and the server listens on port ${port}`;
    const answer = await programAt(origin);
    if (answer === 'ours') return holds(`${said}; ${origin} leads to this program`);
    // In a container, another port may be forwarded here, which is not visible from inside.
    if (answer === 'other' || !isLoopbackHost(host))
      return open(`${said}: right only if something forwards to that port`);
    return fault(
      `${said}, so links in pages, feeds and mails lead nowhere`,
      `unset ${setting}, so that it follows ${portSetting}, or set it to the address that readers use`,
    );
  }
  if (served !== null && served !== origin) {
    return open(`${origin}, but it was last served as ${served}: restart the server to serve it there`);
  }
  return holds(origin);
}

/** Which program answers at an address; null when none does. */
export function programAt(origin: string): Promise<'ours' | 'other' | null> {
  return fetch(`${origin}/`, { signal: AbortSignal.timeout(PATIENCE), redirect: 'manual' }).then(
    ({ headers }) => (headers.has('x-request-id') ? 'ours' : 'other'),
    () => null,
  );
}

/** Checks that limits by address apply to the callers, not to a proxy in front of the server. */
export function checkProxy(settings: Settings, app: AppContext | null) {
  const { trustedProxies, origin, dataOrigin, host, services } = settings;
  const unknown = app?.store.database.forwarded.list() ?? [];
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
