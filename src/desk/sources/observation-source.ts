import { askedFor, type CitedObservation, fieldsOf } from '../../proof/records/cited-observation.ts';
import { changesBetween } from './observation-changes.ts';
import type { ObservationFound } from './observation-worker.ts';
import type { Reading, SourceReader } from './source-reader.ts';
import type { TextPool } from './text-pool.ts';

/** What every observation has in it; the answer says then whether it is one. */
const MARK = 'domain-observation/v1';

/** What came of an answer that claims to be a signed observation, with all requests that it took. */
export interface Observed {
  found: ObservationFound | { unread: string };
  exchanges: Reading['exchanges'];
}

/**
 * Verifies an answer that claims to be a signed observation, by the keys that its service lists: the site that answered,
 * if its address is that of an observation (`/t/…`, `/v1/domains/…`), else the host in the name of the key, which counts
 * under this name alone. Where the address asks for a time, the newest observation of the hostname is read too, from
 * `/t/…`, which everybody may ask. Null for any other answer.
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
  // A site that lists keys of its own under the name of another service must not pass for that.
  const signer = asked === null || asked.domain !== null ? null : claim.signer;
  const host = signer?.replace(/\/door$/, '') ?? null;
  const named = host === null ? null : URL.parse(`${protocol}//${host}`);
  if (host !== null && named?.host !== host) {
    return { found: { fault: 'the name of its key is not that of a host' }, exchanges: reading.exchanges };
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
 * What the hostname of an observation answers differently since `first` was read. At an address with a day that is not
 * over, what is read now is not that.
 */
export function observedChanges(
  { observation, newer }: Exclude<ObservationFound, { fault: string }>,
  first: CitedObservation | null,
): string[] {
  const before = first ?? observation;
  const after = newer ?? observation;
  return before.receipt === after.receipt ? [] : changesBetween(fieldsOf(before), fieldsOf(after));
}
