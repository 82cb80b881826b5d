import { createHash } from 'node:crypto';
import { createRoute, z } from '@hono/zod-openapi';
import { hostNamed } from '../../src/records/named.ts';
import { historyRow } from '../../src/records/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { cursorOf, cursorParam, limitParam, placeOf } from '../desk/params.ts';
import { faults, ok } from '../openapi/answers.ts';
import { listOf, pageOf, sendList } from './answers.ts';
import type { RecordsDoors } from './doors.ts';
import { open } from './doors.ts';
import { domainParam, sinceParam, typeParam, untilParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

const History = listOf(
  'History',
  z
    .object({
      signal: z.string(),
      value: z.string(),
      first_seen: z.iso.datetime(),
      last_seen: z.iso.datetime(),
      count: z.int().min(1).openapi({ description: 'In how many observations.' }),
    })
    .openapi('Sighting'),
  { domain: DomainName },
);

const route = createRoute({
  method: 'get',
  path: '/v1/domains/{domain}/history',
  operationId: 'listHistory',
  tags: ['Domains'],
  summary: 'Every value that was seen at a domain: when first, when last, and how often',
  description: 'With `since` or `until`, those whose time from first to last touches the span.',
  request: {
    params: domainParam,
    query: z.object({
      type: typeParam,
      since: sinceParam,
      until: untilParam,
      limit: limitParam(100, 1_000),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(History, 'By type and value.'), ...faults() },
});

/** The values of a domain. */
export function historyDoor(doors: RecordsDoors): void {
  const { records } = doors.shop.store;
  open(doors, 'read', route, (c) => {
    const host = hostNamed(records, c.req.valid('param').domain);
    const { type: signal, since, until, limit, cursor } = c.req.valid('query');
    const query = { signal, since, until };
    const after = cursor === undefined ? undefined : placeIn(records, host.id, cursor);
    const found = records.history(host.id, query, limit + 1, after);
    const { rows, next } = pageOf(found, limit, (last) => cursorAt(last));
    return sendList(doors, c, {
      domain: host.hostname,
      items: rows.map(historyRow),
      total: records.historyCount(host.id, query),
      next_cursor: next,
    });
  });
}

/** Of a value in a cursor: a TXT record may be longer than an address can be. */
const SHORT = 300;
/** How many values are read at a time to find a long one again. */
const STEP = 500;

const Place = z.tuple([z.string().max(40), z.string().max(SHORT)], z.string().max(64));

function cursorAt({ signal, value }: { signal: string; value: string }): string {
  if (value.length <= SHORT) return cursorOf([signal, value]);
  const beginning = value.slice(0, SHORT);
  // A cut between the halves of a surrogate pair would not come back from UTF-8.
  return cursorOf([signal, beginning.isWellFormed() ? beginning : value.slice(0, SHORT - 1), digestOf(value)]);
}

/** The value at which a cursor stands. A long one is looked for among those that begin like it. */
function placeIn(records: Store['records'], host: number, cursor: string): { signal: string; value: string } {
  const [signal, beginning, digest] = placeOf(Place, cursor);
  if (digest === undefined) return { signal, value: beginning };
  for (let value = beginning; ; ) {
    const rows = records.history(host, { signal }, STEP, { signal, value });
    const found = rows.find((row) => digestOf(row.value) === digest);
    if (found !== undefined) return { signal, value: found.value };
    const last = rows.at(-1);
    // Values are kept for ever; one that is not there is of a cursor that was made up.
    if (last === undefined || !last.value.startsWith(beginning)) return { signal, value: beginning };
    value = last.value;
  }
}

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url').slice(0, 22);
}
