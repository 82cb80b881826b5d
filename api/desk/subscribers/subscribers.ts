import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import {
  dossierOf,
  dossierRecord,
  erase,
  readerCounts,
  readersAsCsv,
  subscriberRow,
} from '../../../src/desk/readers/subscribe.ts';
import { en } from '../../../src/phrases/en.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { type Address, readAddress } from '../../../src/shared/outbound/mail-address.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { ok } from '../../openapi/responses.ts';
import { respond } from '../../responses/headers.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { PRIVATE, privateJson } from '../../responses/send.ts';
import { IdCursor, listOf, operationsUnder, writes } from '../route.ts';
import { type Writer, write } from '../writing/write.ts';
import { isForm, readBody, takeAdminOrder, takeOrder } from './body.ts';
import {
  AdminOrder,
  AdminResults,
  Erased,
  emailParam,
  Order,
  OrderForm,
  Pending,
  ReaderRecord,
  SubscriberCounts,
  SubscriberDays,
  SubscriberList,
} from './schemas.ts';
import { formProblem, phrasesIn, type ReaderPages, wantsPage } from './view.ts';

const operation = operationsUnder('Readers');

/** The most days in one request: ten years. */
const DAYS_MAX = 3_660;

const filters = {
  q: z
    .string()
    .max(254)
    .optional()
    .openapi({ description: 'Only addresses with this in them.', example: 'example.org' }),
  state: z
    .enum(['confirmed', 'pending'])
    .optional()
    .openapi({ description: 'Only readers who confirmed, or who have not yet.' }),
};

const counts = {
  operationId: 'countSubscribers',
  summary: 'How many readers confirmed and left on each of the last days',
  request: {
    query: z.object({
      days: limitParam(90, DAYS_MAX, 'days, today included'),
    }),
  },
  responses: { 200: ok(SubscriberDays, 'Each day in UTC, oldest first, today included.') },
};

const exported = {
  operationId: 'exportSubscribers',
  summary: 'The readers as CSV',
  request: { query: z.object(filters) },
  responses: {
    200: {
      description: 'A header, and a line for each reader, in the order in which they subscribed.',
      content: { 'text/csv': { schema: { type: 'string' as const } } },
    },
  },
};

const list = {
  operationId: 'listSubscribers',
  summary: 'How many subscribe; with an admin key, who',
  description: 'A read key and an agent’s get the counts, and nothing else.',
  request: { query: z.object({ limit: limitParam(50, 200), cursor: cursorParam, ...filters }) },
  responses: { 200: ok(z.union([SubscriberList, SubscriberCounts]), 'In the order in which they subscribed.') },
};

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The body is parsed by hand, because two JSON shapes and a form share this address. */
const subscribe = writes({
  operationId: 'subscribe',
  tags: ['Readers'],
  summary: 'Subscribe to alerts by mail; with an admin key and `emails`, subscribe others',
  description: [
    'Double opt-in: the address gets one mail that asks to confirm, and nothing else until its reader does. The response is the same for every address.',
    'With `emails` it takes an admin key. A reader who has unsubscribed is `suppressed` and not written to; one who has confirmed keeps what they chose.',
    'A form that is sent with `Accept: text/html` is answered with a page.',
  ].join('\n\n'),
  before: [],
  request: {
    body: {
      required: true,
      content: {
        'application/json': { schema: { oneOf: [ref('Order'), ref('AdminOrder')] } },
        'application/x-www-form-urlencoded': { schema: ref('OrderForm') },
      },
    },
  },
  responses: {
    200: ok(AdminResults, 'The outcome for each address of an admin’s request.'),
    202: {
      description: 'The request was accepted, or there was nothing to do: the response does not say which.',
      content: { 'application/json': { schema: Pending }, 'text/html': { schema: { type: 'string' } } },
    },
  },
});

const read = {
  operationId: 'readSubscriber',
  summary: 'Everything that is stored about one address',
  request: { params: emailParam },
  responses: { 200: ok(ReaderRecord, 'The record.') },
};

const remove = writes({
  operationId: 'eraseSubscriber',
  summary: 'Forget one address',
  description:
    'Its row, its links and its mails are gone, and nothing is sent to it any more. It is not blocked: it can subscribe again, and must then confirm. If its reader had unsubscribed, a hash still records that.',
  request: { params: emailParam },
  responses: { 200: ok(Erased, 'Forgotten.') },
});

/** The dependencies of the subscriber routes. */
export interface ReaderParts {
  /** Key for the tokens of mailed links. */
  secret: Uint8Array;
  pages: ReaderPages;
  /** Limits each caller's subscription requests. */
  throttle: MiddlewareHandler<PaperEnv>;
}

/** Subscribers: subscribing, counting, listing, exporting and erasing. */
export function subscriberHandlers(router: OpenAPIHono<PaperEnv>, writer: Writer, parts: ReaderParts) {
  const { app } = writer;
  const { store } = app;
  const { pages } = parts;

  for (const [name, schema] of Object.entries({ Order, AdminOrder, OrderForm })) {
    router.openAPIRegistry.register(name, schema);
  }
  const forPeople = (c: PaperContext) => isForm(c) && wantsPage(c);
  return {
    list: operation(list, (c) => {
      const { slug, paper } = c.get('site');
      const { total, confirmed } = store.desk.readers.subscribers.counts(slug);
      if (c.get('key')?.level !== 'admin') return { count: total, confirmed };
      const { limit, cursor, ...given } = c.req.valid('query');
      const [after] = readCursor(IdCursor, cursor);
      const found = store.desk.readers.subscribers.list(slug, { limit: limit + 1, after, ...queryOf(given) });
      const { rows, next } = pageOf(found, limit, ({ id }) => cursorOf([id]));
      const shown = rows.map((row) => subscriberRow(row, paper.sections));
      return reply(
        { ...listOf(c, 'subscribers', shown, next), total, confirmed },
        { page: { limit, cursor, ...given } },
      );
    }),
    counts: operation(counts, (c) => {
      const { slug } = c.get('site');
      const { readers } = store.desk;
      const at = { days: c.req.valid('query').days, now: app.clock.now() };
      return { ...readers.subscribers.counts(slug), days: readerCounts(readers, slug, at) };
    }),
    exported: operation(exported, (c) => {
      const { slug, paper } = c.get('site');
      const query = queryOf(c.req.valid('query'));
      const text = [...readersAsCsv(store.desk.readers, slug, paper.sections, query)].join('');
      return respond(c, text, 200, {
        'Content-Type': 'text/csv; charset=utf-8; header=present',
        'Content-Disposition': `attachment; filename="${slug}-readers.csv"`,
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': PRIVATE,
      });
    }),
    subscribe: {
      spec: subscribe,
      readsItself: true as const,
      before: [pages.faults(forPeople), parts.throttle],
      handle: async (c: PaperContext) => {
        const sent = await readBody(c);
        if (isAdminOrder(sent.json)) return takeAdminOrder(writer, c, sent.json);
        try {
          takeOrder(app, c, sent);
        } catch (error) {
          const problem = formProblem(c, error);
          if (problem === null || sent.form === null || !forPeople(c)) throw error;
          return pages.orderAgain(c, sent.form, problem);
        }
        if (!forPeople(c)) return privateJson(c, { status: 'pending', message: en.subscribe.sent }, 202);
        const t = phrasesIn(c).subscribe;
        return pages.said(c, { heading: t.sent_title, paragraphs: [t.sent] }, 202);
      },
    },
    read: operation(read, (c) => {
      const { slug, paper } = c.get('site');
      const address = addressIn(c.req.valid('param').email);
      return dossierRecord(address.email, dossierOf(store.desk.readers, slug, address), paper.sections);
    }),
    remove: operation(remove, async (c) => {
      const address = addressIn(c.req.valid('param').email);
      // The response that is stored for retries contains no address.
      const { body, init } = await write(writer, c, () => {
        erase(store.desk, c.get('site').slug, address, app.clock.now());
        // Nothing in the log says whose address it was.
        return { status: 200, body: { erased: true as const }, did: [{ action: 'subscriber.erased' }] };
      });
      return reply({ email: address.email, ...body }, init);
    }),
  };
}

const queryOf = ({ q, state }: { q?: string | undefined; state?: 'confirmed' | 'pending' | undefined }) => ({
  q: q === '' ? undefined : q,
  confirmed: state === undefined ? undefined : state === 'confirmed',
});

function isAdminOrder(json: unknown): json is { emails: unknown } {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, 'emails');
}

/** Throws `not_found` for an invalid address, because nothing can be stored about it. */
function addressIn(text: string): Address {
  const address = readAddress(text);
  if (!('problem' in address)) return address;
  throw new Fault('not_found', `nothing is stored about this address: it ${address.problem}`);
}
