import { createRoute, z } from '@hono/zod-openapi';
import { Fault } from '../../../src/fault.ts';
import type { FoundCursor, FoundKind } from '../../../src/records/search.ts';
import { FOUND_KINDS, findEverywhere, findOf } from '../../../src/records/search.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { listOf, sendList } from '../answers.ts';
import { COUNTED } from '../pages/domains.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { wordsParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

/** Values are counted no further, and names that fit neither. */
const VALUES_COUNTED = 1_000;

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
      kind: z.literal('value').openapi({ description: 'A hostname at which a value was seen that fits.' }),
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
  description: `Hostnames by the beginnings of their labels; values that are what was asked for, hold its words (the labels of a host within, words of a text, an issuer of certificates) or begin with its last one, as addresses do with 192.0.2; services and issuers by a part of their names, name servers and mail hosts by the beginnings of theirs. At most 50 of each kind, and \`total\` is of this answer. With \`kind\`, all of that kind in pages; \`total\` is then counted no further than ${COUNTED.toLocaleString('en')} hostnames and ${VALUES_COUNTED.toLocaleString('en')} values. Values seen for the first time are found by their words a few seconds later.`,
  request: {
    query: z.object({
      q: wordsParam.openapi({ description: 'What to look for, 1 to 253 characters.', example: 'example' }),
      kind: z
        .enum(FOUND_KINDS, { error: `must be one of ${FOUND_KINDS.join(', ')}` })
        .optional()
        .openapi({ description: 'All of this kind, in pages.' }),
      limit: limitParam(50, 200),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(listOf('SearchResult', Found, { q: z.string() }), 'What was found.'), ...faults() },
});

/** Places in the lists of each kind, as cursors hold them. */
const number = z.int().min(0);
const PLACES: Record<FoundKind, z.ZodType<FoundCursor>> = {
  domain: z.tuple([number]),
  value: z.tuple([number.max(2), number, number, z.string()]),
  service: z.tuple([number, z.string()]),
  issuer: z.tuple([number, z.string()]),
  nameserver: z.tuple([z.string()]),
  mailhost: z.tuple([z.string()]),
};

/** One search over everything. */
export function searchDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  register(doors, 'read', route, (c) => {
    const { q, kind, limit, cursor } = c.req.valid('query');
    if (kind === undefined) {
      if (cursor !== undefined) {
        throw new Fault(
          'invalid_request',
          'cursor goes with the kind that it was given for: add kind, or leave cursor out',
          {
            field: 'cursor',
          },
        );
      }
      const items = findEverywhere(records, q);
      return sendList(doors, c, { q, items, total: items.length, next_cursor: null as string | null });
    }
    const after = cursor === undefined ? undefined : readCursor(PLACES[kind], cursor);
    const { rows, next } = pageOf(findOf(records, kind, q, limit + 1, after), limit, ({ cursor }) => cursorOf(cursor));
    const total = kind === 'domain' ? records.searchCount(q, COUNTED) : findOf(records, kind, q, VALUES_COUNTED).length;
    return sendList(doors, c, { q, items: rows.map(({ found }) => found), total, next_cursor: next });
  });
}
