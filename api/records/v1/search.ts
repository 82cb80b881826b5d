import { z } from '@hono/zod-openapi';
import { FOUND_KINDS, type FoundCursor, type FoundKind, findEverywhere, findOf } from '../../../src/records/search.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Store } from '../../../src/store/store.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { COUNT_MAX } from './domains.ts';
import { wordsParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

/** Matching values and names are counted up to this many. */
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
      kind: z.literal('value').describe('A hostname at which a matching value was observed.'),
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
      count: z.int().describe('How many hostnames have it.'),
    }),
  ])
  .openapi('Found');

const spec = {
  operationId: 'searchRecords',
  tags: ['Lists'],
  summary: 'Hostnames, values, services, issuers, name servers and mail hosts that match a query',
  description: `Hostnames match by the start of a label. Values match when they equal the query, contain its words (labels of a host in the value, words of a text, the issuer of a certificate), or start with its last word, as addresses do with 192.0.2. Services and issuers match by any part of their names, name servers and mail hosts by the start of theirs. Without \`kind\`, the response has at most 50 matches of each kind, and \`total\` counts this response. With \`kind\`, it pages through every match of that kind, and \`total\` counts up to ${COUNT_MAX.toLocaleString('en')} hostnames and ${VALUES_COUNTED.toLocaleString('en')} values. A new value becomes searchable by its words within seconds.`,
  request: {
    query: z.object({
      q: wordsParam.openapi({ description: 'The words to search for; 1 to 253 characters.', example: 'example' }),
      kind: z
        .enum(FOUND_KINDS, { error: `must be one of ${FOUND_KINDS.join(', ')}` })
        .optional()
        .describe('Every match of this kind, in pages.'),
      limit: limitParam(50, 200),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(listOf('SearchResult', Found, { q: z.string() }), 'The matches.') },
};

const number = z.int().min(0);
const CURSORS: Record<FoundKind, z.ZodType<FoundCursor>> = {
  domain: z.tuple([number]),
  value: z.tuple([number.max(2), number, number, z.string()]),
  service: z.tuple([number, z.string()]),
  issuer: z.tuple([number, z.string()]),
  nameserver: z.tuple([z.string()]),
  mailhost: z.tuple([z.string()]),
};

export const searchRecords = ({ records }: Store) =>
  operation(spec, (c) => {
    const { q, kind, limit, cursor } = c.req.valid('query');
    if (kind === undefined) {
      if (cursor !== undefined) {
        throw new Fault('invalid_request', 'cursor needs the kind that it was issued for: add kind, or drop cursor', {
          field: 'cursor',
        });
      }
      const items = findEverywhere(records, q);
      return { q, items, total: items.length, next_cursor: null };
    }
    const after = cursor === undefined ? undefined : readCursor(CURSORS[kind], cursor);
    const { rows, next } = pageOf(findOf(records, kind, q, limit + 1, after), limit, ({ cursor }) => cursorOf(cursor));
    const total =
      kind === 'domain' ? records.searchCount(q, COUNT_MAX) : findOf(records, kind, q, VALUES_COUNTED).length;
    return { q, items: rows.map(({ found }) => found), total, next_cursor: next };
  });
