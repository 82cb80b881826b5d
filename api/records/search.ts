import { createRoute, z } from '@hono/zod-openapi';
import { findEverywhere } from '../../src/records/search.ts';
import { faults, ok } from '../openapi/answers.ts';
import { listOf, sendList } from './answers.ts';
import type { RecordsDoors } from './doors.ts';
import { open } from './doors.ts';
import { wordsParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

const time = z.iso.datetime();

const Found = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('domain'),
      domain: DomainName,
      unicode: z.string(),
      observed_at: time.nullable(),
    }),
    z.object({
      kind: z.literal('value').openapi({ description: 'A hostname at which exactly this value was seen.' }),
      domain: DomainName,
      signal: z.string(),
      value: z.string(),
      first_seen: time,
      last_seen: time,
      count: z.int(),
    }),
    z.object({
      kind: z.enum(['service', 'issuer', 'nameserver', 'mailhost']),
      name: z.string(),
      count: z.int().openapi({ description: 'At how many hostnames.' }),
    }),
  ])
  .openapi('Found');

const route = createRoute({
  method: 'get',
  path: '/v1/search',
  operationId: 'searchRecords',
  tags: ['Lists'],
  summary: 'Hostnames, values, services, issuers, name servers and mail hosts that fit some words',
  description:
    'Hostnames by the beginnings of their labels, values and hosts exactly, services and issuers by a part of their names. At most 50 of each kind; `total` is of this answer. The catalog pages through every hostname that fits.',
  request: {
    query: z.object({
      q: wordsParam.openapi({ description: 'What to look for, 1 to 253 characters.', example: 'example' }),
    }),
  },
  responses: { 200: ok(listOf('SearchResult', Found, { q: z.string() }), 'What was found.'), ...faults() },
});

/** One search over everything. */
export function searchDoor(doors: RecordsDoors): void {
  const { records } = doors.shop.store;
  open(doors, 'read', route, (c) => {
    const { q } = c.req.valid('query');
    const items = findEverywhere(records, q);
    return sendList(doors, c, { q, items, total: items.length, next_cursor: null as string | null });
  });
}
