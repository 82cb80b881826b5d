import { createRoute, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { Fault } from '../../src/fault.ts';
import type { Address } from '../../src/readers/address.ts';
import { readAddress } from '../../src/readers/address.ts';
import { dossierOf, erase } from '../../src/readers/dossier.ts';
import { dossierRecord, subscriberRow } from '../../src/readers/record.ts';
import type { PaperContext, PaperEnv } from '../env.ts';
import { needs } from '../middleware/key.ts';
import { IDEMPOTENCY } from '../openapi/idempotency.ts';
import { faults, ok } from '../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../responses/paging.ts';
import { reply } from '../responses/reply.ts';
import { privateJson } from '../responses/send.ts';
import type { Doors } from './doors.ts';
import { listOf, register } from './doors.ts';
import { keyed, PUBLIC } from './route.ts';
import { isForm, readSent } from './subscribe-body.ts';
import { takeAdminOrder, takeOrder } from './subscribe-order.ts';
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
  SubscriberList,
} from './subscribe-schemas.ts';
import type { ReaderPages } from './subscribe-view.ts';
import { formProblem, wantsPage } from './subscribe-view.ts';
import { write } from './write.ts';

const list = createRoute({
  method: 'get',
  path: '/api/v1/subscribers',
  operationId: 'listSubscribers',
  tags: ['Readers'],
  summary: 'How many subscribe; with an admin key, who',
  description: 'A read key and an agent’s get the counts, and nothing else.',
  security: keyed('read'),
  middleware: [needs('read')] as const,
  request: { query: z.object({ limit: limitParam(50, 200), cursor: cursorParam }) },
  responses: {
    200: ok(z.union([SubscriberList, SubscriberCounts]), 'In the order in which they came.'),
    ...faults(),
  },
});

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Described here and read by hand: two shapes of JSON and a form share one address. */
const subscribe = createRoute({
  method: 'post',
  path: '/api/v1/subscribers',
  operationId: 'subscribe',
  tags: ['Readers'],
  summary: 'Order alerts by mail; with an admin key and `emails`, for others',
  description: [
    'Double opt-in: the address gets one mail that asks to confirm, and nothing else until its reader does. The answer is the same whatever is known of the address.',
    'With `emails` it takes an admin key. A reader who has unsubscribed is `suppressed` and not written to; one who has confirmed keeps what they chose.',
    'A form that is sent with `Accept: text/html` is answered with a page.',
  ].join('\n\n'),
  security: PUBLIC,
  request: {
    headers: IDEMPOTENCY,
    body: {
      required: true,
      content: {
        'application/json': { schema: { oneOf: [ref('Order'), ref('AdminOrder')] } },
        'application/x-www-form-urlencoded': { schema: ref('OrderForm') },
      },
    },
  },
  responses: {
    200: ok(AdminResults, 'What became of each address of an admin’s order.'),
    202: {
      description: 'The order was taken, or there was nothing to take: the answer does not tell which.',
      content: { 'application/json': { schema: Pending }, 'text/html': { schema: { type: 'string' } } },
    },
    ...faults(413, 415, 422),
  },
});

const read = createRoute({
  method: 'get',
  path: '/api/v1/subscribers/{email}',
  operationId: 'readSubscriber',
  tags: ['Readers'],
  summary: 'Everything that is kept of one address',
  security: keyed('admin'),
  middleware: [needs('admin')] as const,
  request: { params: emailParam },
  responses: { 200: ok(ReaderRecord, 'The record.'), ...faults() },
});

const remove = createRoute({
  method: 'delete',
  path: '/api/v1/subscribers/{email}',
  operationId: 'eraseSubscriber',
  tags: ['Readers'],
  summary: 'Forget one address',
  description:
    'Its row, its links and its mails are gone, and nothing is sent to it any more. It is not barred: it can be ordered for anew, and must then be confirmed. Where its reader had unsubscribed, that is still known, by a hash.',
  security: keyed('admin'),
  middleware: [needs('admin')] as const,
  request: { params: emailParam, headers: IDEMPOTENCY },
  responses: { 200: ok(Erased, 'Forgotten.'), ...faults(413, 422) },
});

/** What the subscribers' doors work with, beside what every door file gets. */
export interface ReaderParts {
  /** Makes the tokens of links. */
  secret: Uint8Array;
  pages: ReaderPages;
  /** Counts the orders of each caller. */
  throttle: MiddlewareHandler<PaperEnv>;
}

/** Subscribers: ordering, counting, listing, exporting and erasing. */
export function subscriberDoors(doors: Doors, parts: ReaderParts): void {
  const { router, app } = doors;
  const { store } = app;
  const { pages } = parts;

  register(doors, list, (c) => {
    const { slug, paper } = c.get('site');
    const { total, confirmed } = store.readers.subscribers.counts(slug);
    if (c.get('key')?.level !== 'admin') return { count: total, confirmed };
    const { limit, cursor } = c.req.valid('query');
    const [after] = readCursor(z.tuple([z.string().max(40)]), cursor);
    const found = store.readers.subscribers.list(slug, { limit: limit + 1, after });
    const { rows, next } = pageOf(found, limit, ({ id }) => cursorOf([id]));
    const shown = rows.map((row) => subscriberRow(row, paper.sections));
    return reply({ ...listOf(c, 'subscribers', shown, next), total, confirmed }, { page: { limit, cursor } });
  });

  for (const [name, schema] of Object.entries({ Order, AdminOrder, OrderForm })) {
    router.openAPIRegistry.register(name, schema);
  }
  router.openAPIRegistry.registerPath(subscribe);
  const forPeople = (c: PaperContext) => isForm(c) && wantsPage(c);
  router.post(subscribe.getRoutingPath(), pages.faults(forPeople), parts.throttle, async (c) => {
    const sent = await readSent(c);
    if (isAdminOrder(sent.json)) return takeAdminOrder(doors, c, sent.json);
    try {
      takeOrder(app, c, sent);
    } catch (error) {
      const problem = formProblem(error);
      if (problem === null || sent.form === null || !forPeople(c)) throw error;
      return pages.orderAgain(c, sent.form, problem);
    }
    const message =
      'A mail with a link to confirm goes to this address, unless one went there a short while ago. Nothing else is sent until you confirm.';
    if (!forPeople(c)) return privateJson(c, { status: 'pending', message }, 202);
    return pages.said(c, { heading: 'Look into your mail', paragraphs: [message] }, 202);
  });

  register(doors, read, (c) => {
    const { slug, paper } = c.get('site');
    const address = addressIn(c.req.valid('param').email);
    return dossierRecord(address.email, dossierOf(store.readers, slug, address), paper.sections);
  });

  register(doors, remove, async (c) => {
    const address = addressIn(c.req.valid('param').email);
    // What is kept for a second asking holds no address.
    const { body, init } = await write(doors, c, () => {
      erase(store, c.get('site').slug, address);
      return { status: 200, body: { erased: true as const } };
    });
    return reply({ email: address.email, ...body }, init);
  });
}

function isAdminOrder(json: unknown): json is { emails: unknown } {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, 'emails');
}

/** Throws `not_found` for what is no address: nothing can be kept of it. */
function addressIn(text: string): Address {
  const address = readAddress(text);
  if (!('problem' in address)) return address;
  throw new Fault('not_found', `nothing is kept of this: as an address it ${address.problem}`);
}
