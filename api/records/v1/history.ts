import { z } from '@hono/zod-openapi';
import { readsOf } from '../../../src/records/archive/reads.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { historyOf } from '../../../src/records/value-history.ts';
import { historyRow, timeSeriesPoint } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import { listOf, longCursor, longCursorShape, readLongCursor } from '../list.ts';
import { operation } from '../route.ts';
import { domainParam, spanQuery } from './params.ts';
import { CERTIFICATE_STATUSES, DomainName, Status } from './record-schemas.ts';

const ValueCursor = longCursorShape(z.string().max(40));

export const History = listOf(
  'History',
  z
    .object({
      signal: z.string(),
      value: z.string(),
      first_seen: z.iso.datetime(),
      last_seen: z.iso.datetime(),
      count: z.int().min(1).describe('How many observations had it.'),
    })
    .openapi('Sighting'),
  { domain: DomainName },
);

const historySpec = {
  operationId: 'listHistory',
  tags: ['Domains'],
  summary: 'Every value ever observed at a domain, with when it was first and last seen and how often',
  description: '`since` and `until` keep the values whose first-to-last interval overlaps the given span.',
  request: {
    params: domainParam,
    query: spanQuery,
  },
  responses: { 200: ok(History, 'By type and value.') },
};

const STEP = 500;

export const listHistory = (app: AppContext) => {
  const { store } = app;
  const observations = readsOf(app);
  return operation(historySpec, async (c) => {
    const host = requireHost(store.records, c.req.valid('param').domain);
    const history = await historyOf(store, host.id, () => observations.all(host));
    const { type: signal, since, until, limit, cursor } = c.req.valid('query');
    const query = { signal, since, until };
    const after = (signal: string, value: string) =>
      history.page({ signal }, STEP, { signal, value }).map((row) => row.value);
    const [last, value] = cursor === undefined ? [] : readLongCursor(ValueCursor, cursor, after);
    const from = last === undefined || value === undefined ? undefined : { signal: last, value };
    const found = history.page(query, limit + 1, from);
    const { rows, next } = pageOf(found, limit, (row) => longCursor(row.signal, row.value));
    return {
      domain: host.hostname,
      items: rows.map(historyRow),
      total: history.count(query),
      next_cursor: next,
    };
  });
};

const PointCursor = z.tuple([z.int(), z.int().min(1)]);

const Series = listOf(
  'Series',
  z
    .object({
      seq: z.int().min(1),
      observed_at: z.iso.datetime(),
      signals: z
        .record(
          z.string(),
          z.object({
            status: z.union([Status, z.enum(CERTIFICATE_STATUSES)]),
            count: z.int().min(0).nullable().describe('Number of values; null when unknown.'),
            ttl: z.int().nullable(),
            rtt_ms: z.int().nullable(),
          }),
        )
        .describe('By type. With `type`, only that one.'),
    })
    .openapi('SeriesPoint'),
  { domain: DomainName },
);

const seriesSpec = {
  operationId: 'readSeries',
  tags: ['Domains'],
  summary: 'A domain as a time series: status, number of values, TTL and round-trip time of each observation',
  request: {
    params: domainParam,
    query: spanQuery,
  },
  responses: { 200: ok(Series, 'One point per observation, oldest first.') },
};

export const readSeries = (app: AppContext) => {
  const { records } = app.store;
  const observations = readsOf(app);
  return operation(seriesSpec, async (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { type, since, until, limit, cursor } = c.req.valid('query');
    const [at, seq] = readCursor(PointCursor, cursor);
    const after = at === undefined || seq === undefined ? undefined : { at, seq };
    const found = await observations.page(host, { since, until, after }, limit + 1);
    const { rows, next } = pageOf(found, limit, (last) => cursorOf([Date.parse(last.record.observed_at), last.seq]));
    return {
      domain: host.hostname,
      items: rows.map((row) => timeSeriesPoint(row, type)),
      total: await observations.countBetween(host, { since, until }),
      next_cursor: next,
    };
  });
};
