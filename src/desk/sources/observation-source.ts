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
 * if its address is that of an observation (`/t/…`, `/v1/domains/…`), else the host in the name of the key. Where the
 * address asks for a time, the newest observation of the hostname is read too, from `/t/…`, which everybody may ask.
 * Null for any other answer.
 */
export async function observeSource(
  reading: Extract<Reading, { outcome: 'read' }>,
  instrument: string,
  { read, texts }: { read: SourceReader; texts: TextPool },
): Promise<Observed | null> {
  const { plain: bytes, url } = reading;
  const claim = bytes.includes(MARK) ? await texts.claim({ bytes }) : null;
  if (claim === null) return null;
  const asked = askedFor(instrument);
  const { origin, protocol } = new URL(url);
  const named = URL.parse(`${protocol}//${claim.signer?.replace(/\/door$/, '')}`)?.origin ?? origin;
  const service = asked === null || asked.domain !== null ? origin : named;
  const keys = await read(`${service}/.well-known/records-keys.json`);
  const exchanges = [...reading.exchanges, ...keys.exchanges];
  if (keys.outcome === 'unread') return { found: { unread: `the keys of ${service}: ${keys.reason}` }, exchanges };
  const isDated = asked !== null && asked.domain !== null && asked.until !== null;
  const current = isDated ? await read(`${service}/t/${asked.domain}`) : null;
  if (current !== null) exchanges.push(...current.exchanges);
  const found = await texts.observe({
    ...{ bytes, instrument },
    keys: keys.outcome === 'read' ? keys.plain : new Uint8Array(),
    current: current?.outcome === 'read' ? current.plain : null,
  });
  return { found, exchanges };
}

/**
 * What the hostname of an observation answers differently: at an address with a time, since then; at one without, since
 * `first` was read.
 */
export function observedChanges(
  instrument: string,
  { observation, newer }: Exclude<ObservationFound, { fault: string }>,
  first: CitedObservation | null,
): string[] {
  const before = askedFor(instrument)?.until === null && first !== null ? first : observation;
  const after = newer ?? observation;
  return before.receipt === after.receipt ? [] : changesBetween(fieldsOf(before), fieldsOf(after));
}
