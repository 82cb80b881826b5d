import { askedFor, type CitedObservation, fieldsOf } from '../../proof/records/cited-observation.ts';
import { changesBetween } from './observation-changes.ts';
import type { ObservationFound } from './observation-worker.ts';
import type { Reading, SourceReader } from './source-reader.ts';
import type { TextPool } from './text-pool.ts';

/** A string that every observation contains. Responses without it need not be parsed. */
const MARK = 'domain-observation/v1';

/** The result of checking a response that claims to be a signed observation, with all requests made. */
export interface Observed {
  found: ObservationFound | { unread: string };
  exchanges: Reading['exchanges'];
}

/**
 * Verifies a response that claims to be a signed observation, with the keys that its service lists. The service is the
 * site that answered if its address is that of an observation (`/t/…`, `/v1/domains/…`), else the host in the name of
 * the key, and then only keys with this name count. If the address asks for a time, also reads the newest observation
 * of the hostname from `/t/…`, which is open to everybody. Returns null for any other response.
 */
export async function observeSource(
  reading: Extract<Reading, { outcome: 'read' }>,
  instrument: string,
  { read, texts }: { read: SourceReader; texts: TextPool },
): Promise<Observed | null> {
  const { plain: bytes, url } = reading;
  const claim = bytes.includes(MARK) ? await texts.claim({ bytes, instrument }) : null;
  if (claim === null) return null;
  const asked = askedFor(instrument);
  const { origin, protocol } = new URL(url);
  // A site must not impersonate another service by listing its own keys under that service's name.
  const signer = asked === null || asked.domain !== null ? null : claim.signer;
  const host = signer?.replace(/\/door$/, '') ?? null;
  const named = host === null ? null : URL.parse(`${protocol}//${host}`);
  if (host !== null && named?.host !== host) {
    return { found: { fault: 'the name of its key has no hostname' }, exchanges: reading.exchanges };
  }
  const service = named?.origin ?? origin;
  const keys = await read(`${service}/.well-known/records-keys.json`);
  const exchanges = [...reading.exchanges, ...keys.exchanges];
  if (keys.outcome === 'unread') return { found: { unread: `the keys of ${service}: ${keys.reason}` }, exchanges };
  const isDated = asked !== null && asked.domain !== null && asked.until !== null;
  const current = isDated ? await read(`${service}/t/${asked.domain}`) : null;
  if (current !== null) exchanges.push(...current.exchanges);
  const found = await texts.observe({
    ...{ bytes, instrument, signer },
    keys: keys.outcome === 'read' ? keys.plain : new Uint8Array(),
    current: current?.outcome === 'read' ? current.plain : null,
  });
  if (current?.outcome === 'unread' && !('fault' in found)) found.unseen = current.reason;
  return { found, exchanges };
}

/**
 * How the observed hostname answers differently since `first` was read. Until the day that an address asks for is over,
 * the address may return newer observations than `first`.
 */
export function observedChanges(
  { observation, newer }: Exclude<ObservationFound, { fault: string }>,
  first: CitedObservation | null,
): string[] {
  const before = first ?? observation;
  const after = newer ?? observation;
  return before.receipt === after.receipt ? [] : changesBetween(fieldsOf(before), fieldsOf(after));
}
