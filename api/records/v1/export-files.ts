import { setImmediate } from 'node:timers/promises';
import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { csvLine } from '../../../src/records/csv.ts';
import { evidenceText } from '../../../src/records/evidence.ts';
import {
  CHANGE_COLUMNS,
  changeCells,
  OBSERVATION_COLUMNS,
  observationCells,
} from '../../../src/records/export-rows.ts';
import type { Observation } from '../../../src/records/observation.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import type { WatchedHost } from '../../../src/store/records-hostnames.ts';
import { logProver } from '../../../src/transparency/log-proof.ts';
import type { RecordsContext } from '../context.ts';

/** Changes, and observations, per read. */
const CHANGES = 500;
const OBSERVATIONS = 20;

const CSV = 'text/csv; charset=utf-8; header=present';

export type ExportFiles = ReturnType<typeof exportFiles>;

/**
 * The files that accounts may download, by key or by session. They are streamed, so memory use does not grow with their
 * size.
 */
export function exportFiles({ store }: Pick<AppContext, 'store'>) {
  const { records, doorKeys } = store;
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
          yield found
            .filter(({ seq }) => seq <= newest)
            .map((delta) => csvLine(changeCells(delta)))
            .join('');
          cursor = found.at(-1)?.seq ?? newest;
          if (found.length < CHANGES || cursor >= newest) return;
        }
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
        for (const observation of chainOf(host)) yield observationCells(observation).map(csvLine).join('');
      });
    },
    /** Throws like `observations`. */
    evidence(c: RecordsContext, name: string): Response {
      const host = requireObserved(name);
      return sendChunks(c, `${host.hostname}.evidence.json`, 'application/json', () =>
        evidenceText(host.hostname, chainOf(host), doorKeys(), logProof),
      );
    },
  };
}

/** Characters that are gathered into one chunk. */
const CHUNK = 64 * 1024;

/** Sends a download, produced chunk by chunk as the client reads. Other requests run between two chunks. */
function sendChunks(c: RecordsContext, name: string, type: string, make: () => Iterator<string>): Response {
  const headers = {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const lines = make();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await setImmediate();
        let text = '';
        while (text.length < CHUNK) {
          const { value, done } = lines.next();
          if (done) {
            if (text !== '') controller.enqueue(Buffer.from(text));
            return controller.close();
          }
          text += value;
        }
        controller.enqueue(Buffer.from(text));
      },
    },
    { highWaterMark: 0 },
  );
  return c.body(body, 200, headers);
}
