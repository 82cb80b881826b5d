import { parseNote } from '../../proof/note.ts';
import type { Preview } from '../../proof/records/preview.ts';
import { parseObservation } from '../../proof/records/receipt.ts';
import { isoTime } from '../../proof/time.ts';
import { pathOf } from '../hostname.ts';
import { type ArchiveTable, INT, TEXT, TIME } from './tables.ts';

/** An observation in a public dump: its preview (protocol 5.6) as columns. Times in ms. */
export interface DumpRow {
  path: string;
  domain: string;
  unicode: string;
  registrable_domain: string | null;
  seq: number;
  /** The signed time. */
  observed_at: number;
  /** JSON: the values of the NS records. */
  nameservers: string;
  /** JSON: the number of values by type. */
  summary: string;
  receipt: string;
  /** JSON: the disclosed fields as they were signed, each with its path to the Merkle root. */
  disclosures: string;
}

export const DUMP: ArchiveTable<DumpRow> = {
  columns: [
    { name: 'path', element: TEXT, key: true },
    { name: 'domain', element: TEXT },
    { name: 'unicode', element: TEXT },
    { name: 'registrable_domain', element: TEXT, nullable: true },
    { name: 'seq', element: INT },
    { name: 'observed_at', element: TIME },
    { name: 'nameservers', element: TEXT },
    { name: 'summary', element: TEXT },
    { name: 'receipt', element: TEXT, plain: true },
    { name: 'disclosures', element: TEXT, plain: true },
  ],
};

export function dumpRow(preview: Preview): DumpRow {
  const { domain, unicode, registrable_domain, seq, observed_at, nameservers, summary, receipt, disclosures } = preview;
  return {
    ...{ path: pathOf(domain), domain, unicode, registrable_domain, seq, observed_at: Date.parse(observed_at) },
    ...{ nameservers: JSON.stringify(nameservers), summary: JSON.stringify(summary) },
    ...{ receipt, disclosures: JSON.stringify(disclosures) },
  };
}

/** The preview of a row, without its unsigned prose. Throws for a malformed row. */
export function previewIn(row: DumpRow): unknown {
  const { domain, unicode, registrable_domain, seq, observed_at, nameservers, summary, receipt, disclosures } = row;
  const shown = JSON.parse(disclosures);
  const { record_fields = 0 } = parseObservation(parseNote(receipt)?.text ?? '') ?? {};
  return {
    ...{ preview: true, signed: false, notice: '', domain, unicode, registrable_domain, seq, receipt },
    ...{ observed_at: isoTime(observed_at), nameservers: JSON.parse(nameservers), summary: JSON.parse(summary) },
    ...{ disclosures: shown, held_back: { fields: record_fields - shown.length, how: '' } },
  };
}
