import { domainToUnicode } from 'node:url';
import { entriesOf } from '../../../src/proof/narrow.ts';
import { dayAfter, isoTime, parseSpan } from '../../../src/proof/time.ts';
import type { Delta } from '../../../src/records/delta.ts';
import { issuerName } from '../../../src/records/facets.ts';
import { SIGNAL_MEANINGS } from '../../../src/records/signal-meanings.ts';
import { certificateParts } from '../../../src/records/tracked-values.ts';
import type { ChangeView, DayBar, SignalMeaning } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';

const VALUE_LENGTH = 90;
const VALUES_MAX = 4;

/** A change as pages show it: only the lost and gained values. */
export function changeView({ seq, at, domain, signal, kind, before, after, owner_note }: Delta): ChangeView {
  const lost = before.filter((value) => !after.includes(value));
  const gained = after.filter((value) => !before.includes(value));
  return {
    seq,
    at: isoTime(at),
    domain,
    unicode: domainToUnicode(domain),
    url: `/t/${domain}`,
    compare_url: `/t/${domain}?as_of=${isoTime(at)}&compare=previous`,
    signal: signalLabel(signal),
    kind,
    lost: lost.slice(0, VALUES_MAX).map(shortValue),
    gained: gained.slice(0, VALUES_MAX).map(shortValue),
    more_lost: Math.max(0, lost.length - VALUES_MAX),
    more_gained: Math.max(0, gained.length - VALUES_MAX),
    owner_note: owner_note === undefined ? null : { name: owner_note.name, text: owner_note.text },
  };
}

/** What the signals mean, in the order of the questions. */
export function signalMeanings(): SignalMeaning[] {
  return entriesOf(SIGNAL_MEANINGS).map(([signal, meaning]) => ({ signal: signalLabel(signal), ...meaning }));
}

export function signalLabel(signal: string): string {
  if (signal === 'CERTIFICATE') return 'certificate';
  if (signal === 'TLSA') return '_443 TLSA';
  return signal.replace(/^WWW_/, 'www ');
}

/** A value as pages show it: long ones truncated, a certificate by issuer, expiry and fingerprint. */
export function shortValue(value: string): string {
  const certificate = certificateParts(value);
  if (certificate !== null) {
    const { issuer, not_after, fingerprint256 } = certificate;
    return `${issuerName(issuer)}, until ${not_after.slice(0, 10)} (${fingerprint256.slice(0, 8)}…)`;
  }
  // Splitting by character keeps surrogate pairs whole.
  const characters = [...value];
  return characters.length > VALUE_LENGTH ? `${characters.slice(0, VALUE_LENGTH - 1).join('')}…` : value;
}

/** The day in a path. Throws `invalid_request` for an invalid date, `not_found` for a day in the future. */
export function requireDay(text: string, today: string): string {
  const shown = JSON.stringify(text.slice(0, 40));
  if (text.length !== 10 || parseSpan(text) === null) {
    throw new Fault('invalid_request', `${shown} is not a valid date; write it like ${today}`, {
      field: 'date',
    });
  }
  if (text > today) throw new Fault('not_found', `${text} is in the future; today is ${today} (UTC)`);
  return text;
}

/** The number of changes on each of the last `days` days up to today, oldest first, without gaps. */
export function dayBars({ store }: AppContext, today: string, days: number): DayBar[] {
  const from = dayAfter(today, 1 - days);
  const counts = new Map<string, number>();
  for (const { day, count } of store.records.changesByDay(from, dayAfter(today))) {
    counts.set(day, (counts.get(day) ?? 0) + count);
  }
  return Array.from({ length: days }, (_, index) => dayAfter(from, index)).map((day) => ({
    day,
    count: counts.get(day) ?? 0,
  }));
}
