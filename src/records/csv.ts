import type { Observation } from '../proof/records/observation.ts';
import { signalsOf } from '../proof/records/record.ts';
import type { Delta } from './delta.ts';
import { certificateText } from './tracked-values.ts';
import { type CatalogHost, catalogRow, deltaRow } from './wire-rows.ts';

/** A cell's value. A list is written as JSON, so that it fits into one cell. */
export type Cell = string | number | null | readonly string[];

/** Text that a spreadsheet would run as a formula (OWASP, "CSV injection"); some read the full-width signs as signs. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** One line of CSV (RFC 4180, protocol 11.2). A formula is prefixed with an apostrophe. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const CHANGE_COLUMNS = ['seq', 'at', 'domain', 'signal', 'kind', 'before', 'after', 'observation_seq'] as const;

export function changeCells(delta: Delta): Cell[] {
  const row = deltaRow(delta);
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

/** An observation as lines of CSV: one per value, and one for each type without values. */
export function observationCells({ seq, record }: Observation): Cell[][] {
  const { observed_at, domain, certificate, certificate_status } = record;
  const lines = Object.entries(signalsOf(record)).flatMap(([type, { status, ttl, rtt_ms, values }]) =>
    (values.length === 0 ? [null] : values).map((value) => [type, status, ttl, rtt_ms, value]),
  );
  lines.push(['CERTIFICATE', certificate_status, null, null, certificate && certificateText(certificate)]);
  return lines.map((cells) => [seq, observed_at, domain, ...cells]);
}
