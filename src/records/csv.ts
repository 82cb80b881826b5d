import type { Observation } from '../proof/records/observation.ts';
import { signalsOf } from '../proof/records/record.ts';
import type { Cell } from '../shared/csv.ts';
import type { Delta } from './delta.ts';
import { certificateText } from './tracked-values.ts';
import { type CatalogHost, catalogRow, deltaRow } from './wire-rows.ts';

export const CHANGE_COLUMNS = [
  'seq',
  'at',
  'domain',
  'signal',
  'kind',
  'before',
  'after',
  'observation_seq',
  'rotation',
] as const;

export function changeCells(delta: Delta): Cell[] {
  const row = { rotation: null, ...deltaRow(delta) };
  return CHANGE_COLUMNS.map((name) => row[name]);
}

export const CATALOG_COLUMNS = [
  'domain',
  'unicode',
  'registrable_domain',
  'state',
  'added_at',
  'observed_at',
  'seq',
] as const;

export function catalogCells(host: CatalogHost): Cell[] {
  const row = catalogRow(host);
  return CATALOG_COLUMNS.map((name) => row[name]);
}

export const OBSERVATION_COLUMNS = ['seq', 'observed_at', 'domain', 'type', 'status', 'ttl', 'rtt_ms', 'value'];

/** An observation as CSV rows: one per value, and one for each type without values. */
export function observationCells({ seq, record }: Observation): Cell[][] {
  const { observed_at, domain, certificate, certificate_status } = record;
  const lines = Object.entries(signalsOf(record)).flatMap(([type, { status, ttl, rtt_ms, values }]) =>
    (values.length === 0 ? [null] : values).map((value) => [type, status, ttl, rtt_ms, value]),
  );
  lines.push(['CERTIFICATE', certificate_status, null, null, certificate && certificateText(certificate)]);
  return lines.map((cells) => [seq, observed_at, domain, ...cells]);
}
