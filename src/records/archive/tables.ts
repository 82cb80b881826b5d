import type { SchemaElement } from 'hyparquet';
import type { ObservationRow } from './observation-row.ts';

/** A change, as query engines see it: `before` and `after` are JSON arrays of values. Times in ms. */
export interface DeltaRow {
  seq: number;
  changed_at: number;
  path: string;
  domain: string;
  signal: string;
  kind: string;
  before: string;
  after: string;
  observation_seq: number;
  rotation: string | null;
}

/** A value seen at a name in one month, as query engines see it. Times in ms. */
export interface SightingRow {
  path: string;
  domain: string;
  signal: string;
  value: string;
  first_seen: number;
  last_seen: number;
  /** The number of observations that showed it. */
  count: number;
}

interface Column {
  name: string;
  element: Omit<SchemaElement, 'name' | 'repetition_type'>;
  nullable?: true;
  /** Random bytes, which do not compress. */
  random?: true;
  /** No dictionary: equal values of a name are adjacent, so they compress well as they are. */
  plain?: true;
  /** Used for look-ups: its pages have minima and maxima, and the file has a Bloom filter. */
  key?: true;
}

/** A table of the archive, with its columns in file order. */
export interface ArchiveTable<Row> {
  columns: (Column & { name: keyof Row & string })[];
}

export const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
export const INT = { type: 'INT64' } as const;
const COUNT = { type: 'INT32' } as const;
/** `isAdjustedToUTC`: otherwise engines read it as local time. */
export const TIME = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;
const bytes = (type_length: number) => ({ type: 'FIXED_LEN_BYTE_ARRAY', type_length }) as const;

/** No column is named `at`: it is a reserved word in DuckDB. */
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

/** Sorted by number. */
export const DELTAS: ArchiveTable<DeltaRow> = {
  columns: [
    { name: 'seq', element: INT },
    { name: 'changed_at', element: TIME },
    { name: 'path', element: TEXT, key: true },
    { name: 'domain', element: TEXT },
    { name: 'signal', element: TEXT },
    { name: 'kind', element: TEXT },
    { name: 'before', element: TEXT, plain: true },
    { name: 'after', element: TEXT, plain: true },
    { name: 'observation_seq', element: INT },
    { name: 'rotation', element: TEXT, nullable: true },
  ],
};

/** Sorted by path, or by value. */
export const SIGHTINGS: ArchiveTable<SightingRow> = {
  columns: [
    { name: 'path', element: TEXT, key: true },
    { name: 'domain', element: TEXT },
    { name: 'signal', element: TEXT },
    { name: 'value', element: TEXT, key: true },
    { name: 'first_seen', element: TIME },
    { name: 'last_seen', element: TIME },
    { name: 'count', element: COUNT },
  ],
};

/** The number and the times (ms) of a row. */
export interface Extent {
  seq: number;
  first_at: number;
  last_at: number;
}

/** A table, and how to compute the manifest's ranges from its rows. */
export interface Shape<Row extends { path: string }> {
  table: ArchiveTable<Row>;
  extent(row: Row): Extent;
}
export const OBSERVED: Shape<ObservationRow> = {
  table: OBSERVATIONS,
  extent: ({ seq, observed_at }) => ({ seq, first_at: observed_at, last_at: observed_at }),
};
export const CHANGES: Shape<DeltaRow> = {
  table: DELTAS,
  extent: ({ seq, changed_at }) => ({ seq, first_at: changed_at, last_at: changed_at }),
};
export const SEEN: Shape<SightingRow> = {
  table: SIGHTINGS,
  extent: ({ first_seen, last_seen }) => ({ seq: 0, first_at: first_seen, last_at: last_seen }),
};
