import { z } from '@hono/zod-openapi';
import { DAY, dayOf } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { ok } from '../../openapi/responses.ts';
import { operation } from '../route.ts';
import { serviceOf } from './facets.ts';
import { sinceParam, untilParam } from './params.ts';

/** Days of changes: by default, and at most. */
const DAYS = 30;
const DAYS_MAX = 366;
/** Days ahead for which expiring certificates are counted. */
const EXPIRY_DAYS = 90;
const NAMES = 50;

const count = z.int().min(0);
const named = z.array(z.object({ name: z.string(), count }));

const Analytics = z
  .object({
    domains: z.object({ watched: count, paused: count }),
    observations: count,
    changes: count.describe('Of all time.'),
    types: named.describe('Number of hostnames with records of each type.'),
    services: z.array(z.object({ service: z.string(), kind: z.string(), count })),
    issuers: named,
    nameservers: named.describe('By the registrable domain of the name servers.'),
    mailhosts: named.describe('By the registrable domain of the mail servers.'),
    expiring: z
      .array(z.object({ day: z.iso.date(), count }))
      .describe(`Certificates by the day on which they expire, for the next ${EXPIRY_DAYS} days.`),
    changes_by_day: z.array(
      z.object({ day: z.iso.date(), signal: z.string(), kind: z.enum(['added', 'removed', 'changed']), count }),
    ),
  })
  .openapi('Analytics');

const spec = {
  operationId: 'readAnalytics',
  tags: ['Lists'],
  summary: 'Totals and rankings over every watched hostname',
  description: `Changes are counted by UTC day, for the last ${DAYS} days or for the given span of at most ${DAYS_MAX} days. Lists of names hold the ${NAMES} most frequent.`,
  request: { query: z.object({ since: sinceParam, until: untilParam }) },
  responses: { 200: ok(Analytics, 'The current numbers.') },
};

export const readAnalytics = ({ store: { records }, clock: { now } }: AppContext) =>
  operation(spec, (c) => {
    const query = c.req.valid('query');
    const until = query.until ?? now() + 1;
    const since = query.since ?? until - (DAYS - 1) * DAY;
    if (until - since > DAYS_MAX * DAY) {
      const message = `since: the span from ${dayOf(since)} to ${dayOf(until - 1)} is longer than ${DAYS_MAX} days; ask for a shorter one`;
      throw new Fault('invalid_request', message, { field: 'since' });
    }
    const top = (kind: 'type' | 'service' | 'issuer' | 'nameserver' | 'mailhost') => records.topFacets(kind, NAMES);
    const { watched, paused } = records.counts();
    return {
      domains: { watched, paused },
      observations: records.nextSeq() - 1,
      changes: records.deltaCount({}),
      types: top('type'),
      services: top('service').map(({ name, count }) => ({ ...serviceOf(name), count })),
      issuers: top('issuer'),
      nameservers: top('nameserver'),
      mailhosts: top('mailhost'),
      expiring: records
        .facetRange('expiry', dayOf(now()), dayOf(now() + EXPIRY_DAYS * DAY))
        .map(({ name, count }) => ({ day: name, count })),
      // The end is exclusive, so a span that ends at midnight leaves that day out.
      changes_by_day: since < until ? records.changesByDay(dayOf(since), dayOf(until - 1 + DAY)) : [],
    };
  });
