import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import type { Cell } from '../../../src/records/csv.ts';
import { csvLine } from '../../../src/records/csv.ts';
import { evidenceText } from '../../../src/records/evidence.ts';
import {
  CATALOG_COLUMNS,
  CHANGE_COLUMNS,
  catalogCells,
  changeCells,
  OBSERVATION_COLUMNS,
  observationCells,
} from '../../../src/records/export-rows.ts';
import type { Observation } from '../../../src/records/observation.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import type { WatchedHost } from '../../../src/store/records-hostnames.ts';
import { logProver } from '../../../src/transparency/log-proof.ts';
import type { RecordsContext } from '../context.ts';
import { CSV, sendChunks } from './download.ts';
import type { ListedFacet } from './facets.ts';
import { facetCells, facetColumns } from './facets.ts';

/** Changes, hostnames and observations per read. */
const CHANGES = 500;
const HOSTNAMES = 500;
const OBSERVATIONS = 20;

const linesOf = (rows: readonly Cell[][]): string => rows.map(csvLine).join('');

export type ExportFiles = ReturnType<typeof exportFiles>;

/**
 * The files that accounts may download, by key or by session. They are streamed, so memory use does not grow with their
 * size.
 */
export function exportFiles({ store }: Pick<AppContext, 'store'>) {
  const { records, verifyingKeys } = store;
  const logProof = logProver(store.log, 'records');

  /** Every observation of a host up to the present one, read in batches. Throws when the host opts out midway. */
  const chainOf = function* ({ id, hostname, seq: newest }: WatchedHost): Generator<Observation, void> {
    for (let after: { at: number; seq: number } | undefined; ; ) {
      requireHost(records, hostname);
      const found = records.observationPage(id, { after }, OBSERVATIONS);
      for (const observation of found) {
        yield observation;
        if (observation.seq === newest) return;
      }
      const last = found.at(-1);
      if (last === undefined) return;
      after = { at: Date.parse(last.record.observed_at), seq: last.seq };
    }
  };
  const requireObserved = (name: string): WatchedHost => {
    const host = requireHost(records, name);
    if (host.seq === null) throw notObserved(host.hostname);
    return host;
  };

  return {
    /** The changes of a span (in ms), oldest first. */
    changes(c: RecordsContext, query: { since?: number | undefined; until?: number | undefined }): Response {
      // Changes that arrive meanwhile belong to the next export.
      const newest = records.newestDelta();
      return sendChunks(c, 'changes.csv', CSV, function* () {
        yield csvLine(CHANGE_COLUMNS);
        for (let cursor = 0; ; ) {
          const found = records.deltas(query, { order: 'oldest', cursor, limit: CHANGES });
          yield linesOf(found.filter(({ seq }) => seq <= newest).map(changeCells));
          cursor = found.at(-1)?.seq ?? newest;
          if (found.length < CHANGES || cursor >= newest) return;
        }
      });
    },
    /** The catalog, by name. */
    catalog(c: RecordsContext): Response {
      return sendChunks(c, 'domains.csv', CSV, function* () {
        yield csvLine(CATALOG_COLUMNS);
        for (let after = ''; ; ) {
          const found = records.list(after, HOSTNAMES);
          yield linesOf(found.map(catalogCells));
          after = found.at(-1)?.hostname ?? '';
          if (found.length < HOSTNAMES) return;
        }
      });
    },
    /** A list by value, the most frequent first. */
    list(c: RecordsContext, name: string, kind: ListedFacet): Response {
      return sendChunks(c, name, CSV, function* () {
        yield csvLine(facetColumns(kind));
        for (const rows of facetCells(store, kind)) yield linesOf(rows);
      });
    },
    /** `<domain>.csv`. Throws `not_found`, `not_watched`, `invalid_request`. */
    observations(c: RecordsContext, file: string): Response {
      if (!file.endsWith('.csv')) {
        throw new Fault(
          'not_found',
          `no such export; the observations of a domain are at /v1/exports/domains/<domain>.csv`,
        );
      }
      const host = requireObserved(file.slice(0, -'.csv'.length));
      return sendChunks(c, `${host.hostname}.csv`, CSV, function* () {
        yield csvLine(OBSERVATION_COLUMNS);
        for (const observation of chainOf(host)) yield linesOf(observationCells(observation));
      });
    },
    /** Throws like `observations`. */
    evidence(c: RecordsContext, name: string): Response {
      const host = requireObserved(name);
      return sendChunks(c, `${host.hostname}.evidence.json`, 'application/json', () =>
        evidenceText(host.hostname, chainOf(host), verifyingKeys('records'), logProof, store.clockNotes('records', '')),
      );
    },
  };
}
