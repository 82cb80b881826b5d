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
import type { RecordsContext } from '../route.ts';

/** How many changes, and how many observations, are read at once. */
const CHANGES = 500;
const OBSERVATIONS = 20;

const CSV = 'text/csv; charset=utf-8; header=present';

/**
 * The files that accounts may take, by key or by session: streamed, so that
 * memory is the same however much there is.
 */
export function exportFiles({ store }: Pick<AppContext, 'store'>) {
  const { records, doorKeys } = store;

  /** All observations of a host that there are now, read in parts. Ends by an error when the host opts out meanwhile. */
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
  const observed = (name: string): WatchedHost => {
    const host = requireHost(records, name);
    if (host.seq === null) throw notObserved(host.hostname);
    return host;
  };

  return {
    /** Changes of a time, in ms, oldest first. */
    changes(c: RecordsContext, query: { since?: number | undefined; until?: number | undefined }): Response {
      // What comes in meanwhile is of the next export.
      const newest = records.newestDelta();
      return sendParts(c, 'changes.csv', CSV, function* () {
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
          `there is no such export; the observations of a domain are at /v1/exports/domains/<domain>.csv`,
        );
      }
      const host = observed(file.slice(0, -'.csv'.length));
      return sendParts(c, `${host.hostname}.csv`, CSV, function* () {
        yield csvLine(OBSERVATION_COLUMNS);
        for (const observation of chainOf(host)) yield observationCells(observation).map(csvLine).join('');
      });
    },
    /** Throws as `observations`. */
    evidence(c: RecordsContext, name: string): Response {
      const host = observed(name);
      return sendParts(c, `${host.hostname}.evidence.json`, 'application/json', () =>
        evidenceText(host.hostname, chainOf(host), doorKeys()),
      );
    },
  };
}

/** How much is gathered before it is sent, in characters. */
const PART = 64 * 1024;

/** Sends a file to be kept, made a part at a time as it is taken; other requests come between two parts. */
function sendParts(c: RecordsContext, name: string, type: string, make: () => Iterator<string>): Response {
  const headers = {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const parts = make();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await setImmediate();
        let text = '';
        while (text.length < PART) {
          const { value, done } = parts.next();
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
