import { Fault } from '../fault.ts';
import { isoTime } from '../time.ts';
import { parseHostname } from './hostname.ts';

/** What finding a hostname reads. */
export interface HostTables<Host> {
  optOutOf(hostname: string): object | null;
  find(hostname: string): Host | null;
}

/**
 * The host under watch that a text names. Throws `invalid_request` for what is
 * no hostname, `not_found` for one that opted out, `not_watched` for any other
 * that is not under watch (wire.md, section 5).
 */
export function requireHost<Host>({ optOutOf, find }: HostTables<Host>, text: string): Host {
  const { hostname } = parseHostname(text);
  if (optOutOf(hostname) !== null) throw new Fault('not_found', `nothing is shown of ${hostname}: it opted out`);
  const host = find(hostname);
  if (host !== null) return host;
  throw new Fault(
    'not_watched',
    `${hostname} is not under watch; GET /v1/domains?q= finds those that are, and an account may watch its own`,
  );
}

/**
 * The fault of a host that is under watch and of which there is no observation:
 * none yet, or none at or before `as_of`, where the first one is later.
 */
export function notObserved(hostname: string, asOf?: number, first?: number): Fault {
  if (asOf === undefined || first === undefined) {
    return new Fault('not_observed', `${hostname} is under watch and was not observed yet; ask again in some minutes`);
  }
  const [asked, first_observed_at] = [asOf, first].map((ms) => isoTime(ms));
  return new Fault(
    'not_observed',
    `as_of: ${hostname} was not observed by ${asked}; its first observation is of ${first_observed_at}, ask for that time or later`,
    { field: 'as_of', first_observed_at },
  );
}
