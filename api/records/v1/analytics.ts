import { createRoute, z } from '@hono/zod-openapi';
import { Fault } from '../../../src/fault.ts';
import { DAY, dayOf } from '../../../src/time.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { serviceOf } from './facets.ts';
import { sinceParam, untilParam } from './params.ts';

/** How many days of changes are told without `since`, and how many at most. */
const DAYS = 30;
const MOST_DAYS = 366;
/** Certificates that end within so many days are counted by day. */
const EXPIRY_DAYS = 90;
/** Names of each kind. */
const NAMES = 50;

const count = z.int().min(0);
const named = z.array(z.object({ name: z.string(), count }));

const Analytics = z
  .object({
    domains: z.object({ watched: count, paused: count }),
    observations: count,
    changes: count.openapi({ description: 'Of all time.' }),
    types: named.openapi({ description: 'Hostnames that have records of a type.' }),
    services: z.array(z.object({ service: z.string(), kind: z.string(), count })),
    issuers: named,
    nameservers: named.openapi({ description: 'By the registrable domain of the name servers.' }),
    mailhosts: named.openapi({ description: 'By the registrable domain of the mail servers.' }),
    expiring: z
      .array(z.object({ day: z.iso.date(), count }))
      .openapi({ description: `Certificates by the day on which they end, the next ${EXPIRY_DAYS} days.` }),
    changes_by_day: z.array(
      z.object({ day: z.iso.date(), signal: z.string(), kind: z.enum(['added', 'removed', 'changed']), count }),
    ),
  })
  .openapi('Analytics');

const route = createRoute({
  method: 'get',
  path: '/v1/analytics',
  operationId: 'readAnalytics',
  tags: ['Lists'],
  summary: 'The whole of what is watched, in numbers',
  description: `Changes are told by UTC day: of the last ${DAYS} days, or of the span given, at most ${MOST_DAYS} days. Lists of names hold the ${NAMES} most frequent.`,
  request: { query: z.object({ since: sinceParam, until: untilParam }) },
  responses: { 200: ok(Analytics, 'As it is now.'), ...faults() },
});

/** All of it in numbers. */
export function analyticsDoor(doors: RecordsDoors): void {
  const { store, now } = doors.app;
  const { records } = store;
  register(doors, 'read', route, (c) => {
    const query = c.req.valid('query');
    const until = query.until ?? now() + 1;
    const since = query.since ?? until - (DAYS - 1) * DAY;
    if (until - since > MOST_DAYS * DAY) {
      throw new Fault(
        'invalid_request',
        `since: the span from ${dayOf(since)} to ${dayOf(until - 1)} is longer than ${MOST_DAYS} days; ask for a shorter one`,
        { field: 'since' },
      );
    }
    const top = (kind: 'type' | 'service' | 'issuer' | 'nameserver' | 'mailhost') => records.topFacets(kind, NAMES);
    const { watched, paused } = records.counts();
    return privateJson(c, {
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
      // The day on which the span ends is within, unless it ends as the day begins.
      changes_by_day: since < until ? records.changesByDay(dayOf(since), dayOf(until - 1 + DAY)) : [],
    });
  });
}
