import { setImmediate } from 'node:timers/promises';
import { z } from '@hono/zod-openapi';
import { EvidenceText } from '../../../src/proof/records/evidence.ts';
import type { Observation } from '../../../src/proof/records/observation.ts';
import { readsOf } from '../../../src/records/archive/reads.ts';
import {
  CATALOG_COLUMNS,
  CHANGE_COLUMNS,
  catalogCells,
  changeCells,
  OBSERVATION_COLUMNS,
  observationCells,
} from '../../../src/records/csv.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { type Cell, csvLine } from '../../../src/shared/csv.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { logProver } from '../../../src/shared/transparency/log-tree.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { LogProofBody, ok } from '../../openapi/responses.ts';
import { operation, type RecordsContext } from '../route.ts';
import { FACETS, facetCells, facetColumns, type ListedFacet } from './facets.ts';
import { domainParam, rawParam, sinceParam, untilParam } from './params.ts';

const csvSpec = (operationId: string, summary: string, description: string) => ({
  operationId,
  tags: ['Exports'],
  summary,
  description,
  responses: {
    200: { description: 'RFC 4180, with a header row.', content: { 'text/csv': { schema: z.string() } } },
  },
});
const FORMULAS = 'Cells that a spreadsheet would read as a formula start with an apostrophe.';

const fileParam = z.object({
  file: z.string().openapi({
    param: { name: 'file', in: 'path' },
    description: 'A hostname followed by `.csv`.',
    example: 'example.com.csv',
  }),
});

const Evidence = z
  .object({
    evidence: z.literal('domain-evidence/v1'),
    domain: z.string(),
    records: z.array(
      z.looseObject({ preview: z.literal(false), seq: z.int(), receipt: z.string(), log: LogProofBody }),
    ),
    keys: z.array(z.looseObject({ kid: z.string(), vkey: z.string() })),
  })
  .openapi('Evidence');

export const exportChanges = (files: ExportFiles) =>
  operation(
    {
      ...csvSpec(
        'exportChanges',
        'Every change as CSV, oldest first',
        `Columns: ${CHANGE_COLUMNS.join(', ')}; lists of values are JSON. ${FORMULAS}`,
      ),
      request: { query: z.object({ since: sinceParam, until: untilParam, raw: rawParam }) },
    },
    (c) => {
      const { raw: rotating, ...span } = c.req.valid('query');
      return files.changes(c, { ...span, rotating });
    },
  );

export const exportCatalog = (files: ExportFiles) =>
  operation(csvSpec('exportCatalog', 'The catalog as CSV, by name', `Columns: ${CATALOG_COLUMNS.join(', ')}.`), (c) =>
    files.catalog(c),
  );

export const exportList = (files: ExportFiles, file: string, kind: ListedFacet) => {
  const { id, nouns } = FACETS[kind];
  const columns = facetColumns(kind).join(', ');
  return operation(
    csvSpec(`export${id}s`, `${nouns} as CSV, by number of hostnames`, `Columns: ${columns}. ${FORMULAS}`),
    (c) => files.list(c, file, kind),
  );
};

export const exportDomain = (files: ExportFiles) =>
  operation(
    {
      ...csvSpec(
        'exportDomain',
        'Every observation of a domain as CSV, oldest first',
        `One row per value, and one for each type without values. Columns: ${OBSERVATION_COLUMNS.join(', ')}. ${FORMULAS}`,
      ),
      request: { params: fileParam },
    },
    (c) => files.observations(c, c.req.valid('param').file),
  );

export const exportEvidence = (files: ExportFiles) =>
  operation(
    {
      operationId: 'exportEvidence',
      tags: ['Exports'],
      summary: 'Every signed observation of a domain with the signing keys, for offline verification',
      description:
        'Check it with the command `verify` of Broadsheet or on the page /verify: records, signatures and the chain.',
      request: { params: domainParam },
      responses: { 200: ok(Evidence, 'The whole chain, oldest first.') },
    },
    (c) => files.evidence(c, c.req.valid('param').domain),
  );

const CHANGES = 500;
const HOSTNAMES = 500;
const OBSERVATIONS = 20;

const linesOf = (rows: readonly Cell[][]): string => rows.map(csvLine).join('');

export type ExportFiles = ReturnType<typeof exportFiles>;

/** The files that accounts may download, by key or by session, streamed: memory use does not grow with their size. */
export function exportFiles(app: AppContext) {
  const { store } = app;
  const observations = readsOf(app);
  const { records } = store;
  const { verifyingKeys } = store.desk;
  const logProof = logProver(store.database.log, 'records');

  /** Every observation of a host up to the present one, read in batches. Throws when the host opts out midway. */
  const chainOf = async function* (host: WatchedHost): AsyncGenerator<Observation, void> {
    let count = 0;
    for await (const observation of observations.all(host)) {
      if (count++ % OBSERVATIONS === 0) requireHost(records, host.hostname);
      yield observation;
      if (observation.seq === host.seq) return;
    }
  };
  const requireObserved = (name: string): WatchedHost => {
    const host = requireHost(records, name);
    if (host.seq === null) throw notObserved(host.hostname);
    return host;
  };

  return {
    /** The changes of a span (in ms), oldest first. */
    changes(c: RecordsContext, query: Parameters<typeof records.deltas>[0]): Response {
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
    list(c: RecordsContext, name: string, kind: ListedFacet): Response {
      return sendChunks(c, name, CSV, function* () {
        yield csvLine(facetColumns(kind));
        for (const rows of facetCells(store, kind)) yield linesOf(rows);
      });
    },
    /** `<domain>.csv`. Throws `not_found`, `not_watched`, `invalid_request`. */
    async observations(c: RecordsContext, file: string): Promise<Response> {
      if (!file.endsWith('.csv')) {
        const message = `no such export; the observations of a domain are at /v1/exports/domains/<domain>.csv`;
        throw new Fault('not_found', message);
      }
      const host = requireObserved(file.slice(0, -'.csv'.length));
      const chain = await begun(chainOf(host));
      return sendChunks(c, `${host.hostname}.csv`, CSV, async function* () {
        yield csvLine(OBSERVATION_COLUMNS);
        for await (const observation of chain) yield linesOf(observationCells(observation));
      });
    },
    async evidence(c: RecordsContext, name: string): Promise<Response> {
      const host = requireObserved(name);
      const chain = await begun(chainOf(host));
      return sendChunks(c, `${host.hostname}.evidence.json`, 'application/json', async function* () {
        const clock = store.desk.clockNotes('records', '');
        const text = new EvidenceText(host.hostname, verifyingKeys('records'), logProof, clock);
        yield text.begin;
        for await (const observation of chain) yield text.recordOf(observation);
        yield text.end();
      });
    },
  };
}

/** The media type of CSV with a header row (RFC 4180, section 3). */
export const CSV = 'text/csv; charset=utf-8; header=present';

const CHUNK = 64 * 1024;

/** The same rows after reading the first one, so that an error is reported before the response begins. */
async function begun<T>(rows: AsyncGenerator<T, void>): Promise<AsyncIterable<T>> {
  const first = await rows.next();
  return (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* rows;
  })();
}

/** Sends a download, produced chunk by chunk as the client reads. Other requests run between two chunks. */
function sendChunks(
  c: RecordsContext,
  name: string,
  type: string,
  make: () => Iterator<string> | AsyncIterator<string>,
): Response {
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
          const { value, done } = await lines.next();
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
