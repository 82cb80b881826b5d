import type { Settings } from '../../env.ts';
import type { AppContext } from '../context.ts';
import type { Finding } from './finding.ts';
import { checked, fault, holds, open } from './finding.ts';

/** How long whatever is at an address may take to answer, in ms. */
const PATIENCE = 5_000;
/** Names under which this machine alone can be meant. */
const THIS_MACHINE = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** A public address, the port that should be behind it, and the settings that say them. */
interface Address {
  name: string;
  setting: 'ORIGIN' | 'DATA_ORIGIN';
  origin: string;
  portSetting: 'PORT' | 'RECORDS_PORT';
  port: number;
  assumed: boolean;
  /** Where a server last served it. */
  served: string | null;
}

/** Compares the addresses that pages, feeds and mails are given with the ports that are listened on. */
export async function checkAddresses(settings: Settings, app: AppContext | null): Promise<Finding[]> {
  const { origin, dataOrigin, port, recordsPort, host, assumed, services } = settings;
  const served = (service: 'desk' | 'records') => app?.store.served.origin(service) ?? null;
  const desk: Address = {
    name: 'address of the desk',
    ...{ setting: 'ORIGIN', origin, portSetting: 'PORT', port, assumed: assumed.origin, served: served('desk') },
  };
  const records: Address = {
    name: 'address of the records',
    ...{ setting: 'DATA_ORIGIN', origin: dataOrigin, portSetting: 'RECORDS_PORT', port: recordsPort },
    ...{ assumed: assumed.dataOrigin, served: served('records') },
  };
  const wanted = [...(services.desk ? [desk] : []), ...(services.records ? [records] : [])];
  return Promise.all(wanted.map((address) => checked(address.name, () => check(address, host))));
}

async function check({ setting, origin, portSetting, port, assumed, served }: Address, host: string) {
  if (assumed && served !== null) return holds(`${served}, where it was last served`);
  if (assumed && port === 0) {
    return open(`${portSetting} is 0 and ${setting} is not set: it is told when the server has started`);
  }
  const { hostname, port: named, protocol } = new URL(origin);
  const portOf = Number(named || (protocol === 'https:' ? 443 : 80));
  if (THIS_MACHINE.test(hostname) && port !== 0 && portOf !== port) {
    const said = `${setting} is ${origin}, and port ${port} is listened on`;
    const answer = await ask(origin);
    if (answer === 'ours') return holds(`${said}; ${origin} leads to this program`);
    // In a container another port of this name may well lead here; nothing inside can tell.
    if (answer === 'other' || !isLoopback(host)) return open(`${said}: right only where something leads from there`);
    return fault(
      `${said}, so links in pages, feeds and mails lead nowhere`,
      `take ${setting} out, so that it follows ${portSetting}, or set it to the address that readers use`,
    );
  }
  if (served !== null && served !== origin) {
    return open(`${origin}, but it was last served as ${served}: start the server anew to serve it there`);
  }
  return holds(origin);
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

/** What answers at an address, if anything does. */
function ask(origin: string): Promise<'ours' | 'other' | null> {
  return fetch(`${origin}/`, { signal: AbortSignal.timeout(PATIENCE), redirect: 'manual' }).then(
    ({ headers }) => (headers.has('x-request-id') ? 'ours' : 'other'),
    () => null,
  );
}
