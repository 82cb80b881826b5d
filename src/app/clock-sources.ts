import type { Settings } from '../env.ts';
import { timeOfMailServer, timeOfWebServer } from '../net/outside-time.ts';
import { parseAddress } from '../publish/address.ts';
import { SECOND } from '../time.ts';
import type { OutsideTime } from './clock-guard.ts';
import { ownPolicy } from './log-publication.ts';
import { serversOf } from './log-witnesses.ts';

/** How long a start waits for the time of others, in ms. */
const SOURCES_WAIT = 2 * SECOND;

/** Asks the machines that the settings name for the time: object storage, witnesses, and the mail server. */
export async function askOutside(settings: Settings, now: () => number, wait = SOURCES_WAIT): Promise<OutsideTime[]> {
  const signal = AbortSignal.timeout(wait);
  const asked = [...sourcesOf(settings)].map(async ({ name, ask }) => {
    const [sent, time] = [now(), await ask(signal)];
    // The clock may be set while we wait; the earlier reading is judged.
    return time === null ? [] : [{ name: `${name} (${new Date(time).toISOString()})`, ahead: sent - time }];
  });
  return (await Promise.all(asked)).flat();
}

interface Source {
  name: string;
  ask(signal: AbortSignal): Promise<number | null>;
}

function* sourcesOf(settings: Settings): Iterable<Source> {
  const { publishUrl, leaseUrl, smtpUrl, objectStorage } = settings;
  const endpoints = [publishUrl, leaseUrl].flatMap((url) => {
    const address = url === null ? null : parseAddress(url, objectStorage);
    return address === null || typeof address === 'string' || address.kind !== 's3' ? [] : [address.endpoint];
  });
  const witnesses = serversOf(ownPolicy(settings) ?? { witnesses: [], logs: [], groups: [], quorum: null });
  for (const endpoint of new Set(endpoints)) {
    yield { name: `the object storage at ${endpoint}`, ask: (signal) => timeOfWebServer(endpoint, signal) };
  }
  for (const { address } of witnesses) {
    yield { name: `the witness at ${address}`, ask: (signal) => timeOfWebServer(address, signal) };
  }
  if (smtpUrl !== undefined) {
    const { host } = new URL(smtpUrl);
    yield { name: `the mail server ${host}`, ask: (signal) => timeOfMailServer(smtpUrl, signal) };
  }
}
