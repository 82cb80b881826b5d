import type { SchemaElement } from 'hyparquet';
import type { ObservationRow } from './observation-row.ts';

interface Column {
  name: string;
  element: Omit<SchemaElement, 'name' | 'repetition_type'>;
  nullable?: true;
  /** Random bytes, which nothing makes shorter. */
  random?: true;
  /** Equal values are not gathered: those of one name are beside each other, and compress as they are. */
  plain?: true;
  /** Looked up: pages have their smallest and largest value, and files a Bloom filter. */
  key?: true;
}

/** A table of the archive: its columns in their order, which is that of the file. */
export interface ArchiveTable<Row> {
  columns: (Column & { name: keyof Row & string })[];
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
const INT = { type: 'INT64' } as const;
const COUNT = { type: 'INT32' } as const;
/** Adjusted to UTC: without that, engines take it for a local time. */
const TIME = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;
const bytes = (type_length: number) => ({ type: 'FIXED_LEN_BYTE_ARRAY', type_length }) as const;

/** No column is called `at`, which DuckDB reserves. */
export const OBSERVATIONS: ArchiveTable<ObservationRow> = {
  columns: [
    { name: 'path', element: TEXT, key: true },
    { name: 'seq', element: INT },
    { name: 'domain', element: TEXT },
    { name: 'observed_at', element: TIME },
    { name: 'signed_at', element: TIME, nullable: true },
    { name: 'kid', element: TEXT, nullable: true },
    { name: 'signed_by', element: TEXT, nullable: true },
    { name: 'record_fields', element: COUNT, nullable: true },
    { name: 'prev', element: bytes(32), nullable: true, random: true },
    { name: 'receipt', element: TEXT, nullable: true, plain: true },
    { name: 'receipt_hash', element: TEXT, nullable: true, plain: true },
    { name: 'record_root', element: bytes(32), nullable: true, random: true },
    { name: 'signature', element: bytes(68), nullable: true, random: true },
    { name: 'circumstances', element: TEXT, plain: true },
    { name: 'body', element: TEXT, plain: true },
  ],
};
