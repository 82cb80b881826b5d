import { isoTime, type Span } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import { normalized } from '../shared/combining-marks.ts';
import { Fault } from '../shared/fault.ts';
import { isLine } from '../shared/shown-text.ts';
import type { HostReader } from './accounts/watching.ts';
import { hostnameOfField, parseHostname } from './hostname.ts';
import { requireOwn } from './nodes.ts';

type Records = AppContext['store']['records'];

/**
 * A watched host. Throws `invalid_request`, `not_found` for one that opted out, and `not_watched` for any other. An
 * operator can still read hosts that an owner opted out.
 */
export function requireHost(
  { optOutOf, find }: Pick<Records, 'optOutOf' | 'find'>,
  text: string,
  reader: 'anyone' | 'operator' = 'anyone',
) {
  const { hostname } = parseHostname(text);
  const optOut = optOutOf(hostname);
  const isHidden = optOut !== null && !(reader === 'operator' && optOut.made_by.startsWith('account:'));
  if (isHidden) throw new Fault('not_found', `nothing is shown about ${hostname}: it opted out`);
  const host = find(hostname);
  if (host !== null) return host;
  const message = `${hostname} is not under watch; GET /v1/domains?q= finds those that are, and an account may watch its own`;
  throw new Fault('not_watched', message);
}

/** The stored form of a watched hostname. Throws `invalid_request`, `other_node`, `not_found`, or `not_watched`. */
export function requireWatched(app: AppContext, text: string): string {
  const { records } = app.store;
  const name = hostnameOfField(text, 'hostname');
  const { hostname } = name;
  requireOwn(app, name, 'hostname');
  if (records.optOutOf(hostname) !== null) {
    throw new Fault('not_found', `there is nothing of ${hostname} here`, { field: 'hostname' });
  }
  if (records.find(hostname) !== null) return hostname;
  const message = `${hostname} is not under watch; put it into one of your groups first`;
  throw new Fault('not_watched', message, { field: 'hostname' });
}

/** Parses the hostnames of groups, and puts them under watch. */
export function hostReader(app: AppContext): HostReader {
  const {
    store: { records },
    clock: { now },
  } = app;
  return {
    read(text) {
      const name = parseHostname(text);
      const { hostname } = name;
      requireOwn(app, name);
      const isOptedOut = records.optOutOf(hostname) !== null;
      const isPaused = records.isPausedByOperator(hostname);
      return { hostname, leftAlone: isOptedOut ? 'opted_out' : isPaused ? 'paused' : null };
    },
    watch: (hostname) => records.watchForGroup(parseHostname(hostname), now()),
  };
}

/**
 * The fault for a watched host without any observation, or without one at `asOf` because its `first` was later. Times
 * in ms.
 */
export function notObserved(hostname: string, asOf?: number, first?: number, field = 'as_of'): Fault {
  if (asOf === undefined || first === undefined) {
    return new Fault('not_observed', `${hostname} is under watch but was not observed yet; ask again in a few minutes`);
  }
  const [asked, first_observed_at] = [asOf, first].map((ms) => isoTime(ms));
  return new Fault(
    'not_observed',
    `${field}: ${hostname} was not observed by ${asked}; its first observation is from ${first_observed_at}; ask for that time or later`,
    { field, first_observed_at },
  );
}

/** The last millisecond of a requested time, written as `text`. Throws `invalid_request` for a time in the future. */
export function asOfEnd({ from, until }: Span, text: string, now: number, field = 'as_of'): number {
  if (from <= now) return until - 1;
  const message = `${field}: ${JSON.stringify(text.slice(0, 60))} is in the future; it is now ${isoTime(now)}. Ask for that or earlier`;
  throw new Fault('invalid_request', message, { field });
}

/** The longest reason, in UTF-16 units. */
export const REASON_MAX = 1_000;

/** The reason of an opt-out, in NFC. Throws `invalid_request` naming `field` unless it is one line. */
export function optOutReason(text: string, field: string): string {
  const reason = normalized(text).trim();
  if (reason !== '' && reason.length <= REASON_MAX && isLine(reason)) return reason;
  throw new Fault('invalid_request', `${field} must be one line of 1 to ${REASON_MAX} characters`, { field: 'reason' });
}
