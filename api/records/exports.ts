import { setImmediate } from 'node:timers/promises';
import { createRoute, z } from '@hono/zod-openapi';
import { Fault } from '../../src/fault.ts';
import { csvLine } from '../../src/records/csv.ts';
import { evidenceText } from '../../src/records/evidence.ts';
import { CHANGE_COLUMNS, changeCells, OBSERVATION_COLUMNS, observationCells } from '../../src/records/export-rows.ts';
import { hostNamed, notObserved } from '../../src/records/named.ts';
import type { Observation } from '../../src/records/observation.ts';
import type { WatchedHost } from '../../src/store/records-hostnames.ts';
import { faults } from '../openapi/answers.ts';
import type { RecordsContext, RecordsDoors } from './doors.ts';
import { open } from './doors.ts';
import { domainParam, sinceParam, untilParam } from './params.ts';

/** How many changes, and how many observations, are read at once. */
const CHANGES = 500;
const OBSERVATIONS = 20;

const CSV = 'text/csv; charset=utf-8; header=present';

const csv = (description: string) => ({ description, content: { 'text/csv': { schema: z.string() } } });

const changes = createRoute({
  method: 'get',
  path: '/v1/exports/changes.csv',
  operationId: 'exportChanges',
  tags: ['Exports'],
  summary: 'The change wire as CSV, oldest first',
  description: `Columns: ${CHANGE_COLUMNS.join(', ')}; lists of values are JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe.`,
  request: { query: z.object({ since: sinceParam, until: untilParam }) },
  responses: { 200: csv('RFC 4180, with a header.'), ...faults() },
});

const observations = createRoute({
  method: 'get',
  path: '/v1/exports/domains/{file}',
  operationId: 'exportDomain',
  tags: ['Exports'],
  summary: 'Every observation of a domain as CSV, oldest first',
  description: `A line for each value, and one for a type without any. Columns: ${OBSERVATION_COLUMNS.join(', ')}. A cell that a spreadsheet would take for a formula begins with an apostrophe.`,
  request: {
    params: z.object({
      file: z.string().openapi({
        param: { name: 'file', in: 'path' },
        description: 'A hostname and `.csv`.',
        example: 'example.com.csv',
      }),
    }),
  },
  responses: { 200: csv('RFC 4180, with a header.'), ...faults() },
});

const evidence = createRoute({
  method: 'get',
  path: '/v1/exports/domains/{domain}/evidence.json',
  operationId: 'exportEvidence',
  tags: ['Exports'],
  summary: 'Every signed observation of a domain with the keys that sign: to be verified offline',
  description: '`broadsheet verify` and the page /verify check it: records, signatures, and the chain.',
  request: { params: domainParam },
  responses: {
    200: {
      description: 'The whole chain, oldest first.',
      content: {
        'application/json': {
          schema: z
            .object({
              evidence: z.literal('domain-evidence/v1'),
              domain: z.string(),
              records: z.array(z.looseObject({ preview: z.literal(false), seq: z.int(), receipt: z.string() })),
              keys: z.array(z.looseObject({ kid: z.string(), vkey: z.string() })),
            })
            .openapi('Evidence'),
        },
      },
    },
    ...faults(),
  },
});

/** Exports, for accounts: streamed, so that memory is the same however much there is. */
export function exportDoors(doors: RecordsDoors): void {
  const { records, doorKeys } = doors.shop.store;

  open(doors, 'export', changes, (c) => {
    const { since, until } = c.req.valid('query');
    const query = { since, until };
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
  });

  /** All observations of a host that there are now, read in parts. Ends by an error when the host opts out meanwhile. */
  const chainOf = function* ({ id, hostname, seq: newest }: WatchedHost): Generator<Observation, void> {
    for (let after: { at: number; seq: number } | undefined; ; ) {
      hostNamed(records, hostname);
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
    const host = hostNamed(records, name);
    if (host.seq === null) throw notObserved(host.hostname);
    return host;
  };

  open(doors, 'export', observations, (c) => {
    const { file } = c.req.valid('param');
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
  });

  open(doors, 'export', evidence, (c) => {
    const host = observed(c.req.valid('param').domain);
    return sendParts(c, `${host.hostname}.evidence.json`, 'application/json', () =>
      evidenceText(host.hostname, chainOf(host), doorKeys()),
    );
  });
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
