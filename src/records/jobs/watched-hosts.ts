import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { HostReader } from '../accounts/watching.ts';
import { hostnameOfField, parseHostname } from '../hostname.ts';

/** Returns a reader that parses the hostnames of groups and puts them under watch. */
export function hostReader({ store: { records }, clock: { now } }: AppContext): HostReader {
  return {
    read(text) {
      const { hostname } = parseHostname(text);
      const isOptedOut = records.optOutOf(hostname) !== null;
      const isPaused = records.isPausedByOperator(hostname);
      return { hostname, leftAlone: isOptedOut ? 'opted_out' : isPaused ? 'paused' : null };
    },
    watch: (hostname) => records.watchForGroup(parseHostname(hostname), now()),
  };
}

/** The stored form of a watched hostname. Throws `invalid_request`, `not_found`, or `not_watched`. */
export function requireWatched({ store: { records } }: AppContext, text: string): string {
  const { hostname } = hostnameOfField(text, 'hostname');
  if (records.optOutOf(hostname) !== null) {
    throw new Fault('not_found', `there is nothing of ${hostname} here`, { field: 'hostname' });
  }
  if (records.find(hostname) !== null) return hostname;
  const message = `${hostname} is not under watch; put it into one of your groups first`;
  throw new Fault('not_watched', message, { field: 'hostname' });
}
