import { z } from '@hono/zod-openapi';
import { requireHost } from '../../../src/records/require-host.ts';
import { timeSeriesPoint } from '../../../src/records/time-series.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { domainParam, spanQuery } from './params.ts';
import { CERTIFICATE_STATUSES, DomainName, Status } from './record-schemas.ts';

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
            count: z.int().min(0).nullable().openapi({ description: 'Number of values; null when unknown.' }),
            ttl: z.int().nullable(),
            rtt_ms: z.int().nullable(),
          }),
        )
        .openapi({ description: 'By type. With `type`, only that one.' }),
    })
    .openapi('SeriesPoint'),
  { domain: DomainName },
);

const spec = {
  operationId: 'readSeries',
  tags: ['Domains'],
  summary: 'A domain as a time series: status, number of values, TTL and round-trip time of each observation',
  request: {
    params: domainParam,
    query: spanQuery,
  },
  responses: { 200: ok(Series, 'One point per observation, oldest first.'), ...faults() },
};

export const readSeries = ({ records }: Pick<Store, 'records'>) =>
  operation(spec, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { type, since, until, limit, cursor } = c.req.valid('query');
    const [at, seq] = readCursor(PointCursor, cursor);
    const after = at === undefined || seq === undefined ? undefined : { at, seq };
    const found = records.observationPage(host.id, { since, until, after }, limit + 1);
    const { rows, next } = pageOf(found, limit, (last) => cursorOf([Date.parse(last.record.observed_at), last.seq]));
    return {
      domain: host.hostname,
      items: rows.map((row) => timeSeriesPoint(row, type)),
      total: records.observationsBetween(host.id, { since, until }),
      next_cursor: next,
    };
  });
