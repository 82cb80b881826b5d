import type { BlockList } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import { type Actor, type Change, recordActivity, recordChange } from '../../../src/desk/activity.ts';
import type { PressQueue } from '../../../src/desk/jobs/press-queue.ts';
import { type AccessKey, requireActive, requireUnpaused } from '../../../src/desk/papers/keys.ts';
import { appendRecord } from '../../../src/desk/papers/record.ts';
import { currentAgreement, signatureOf } from '../../../src/desk/papers/terms.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { actingIn } from '../../middleware/acting.ts';
import { callerNetwork, callerOf } from '../../middleware/caller.ts';
import {
  type IdempotentWrite,
  type Outcome,
  readIdempotentWrite,
  runOnce,
  storeAnswer,
} from '../../middleware/idempotency.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { ok } from '../../openapi/responses.ts';
import type { Headers } from '../../responses/headers.ts';
import { type Reply, reply } from '../../responses/reply.ts';
import { operationsUnder } from '../route.ts';

/** Members that every write response has beside its record. */
export const Pressing = {
  pressed: z.boolean().openapi({ description: 'Whether all files that changed are on disk.' }),
  files: z.int().optional().openapi({ description: 'How many files the press wrote.' }),
  pressing: z.url().optional().openapi({ description: 'Where to ask whether they are by now.' }),
};
type Pressing = z.infer<z.ZodObject<typeof Pressing>>;

/** The dependencies of a write. */
export interface Writer {
  app: AppContext;
  presses: PressQueue;
  logger: Logger;
  /** The trusted proxies. */
  proxies: BlockList;
}

/** What a write did: its response, and the changes that the log of activity records. */
export interface Written<Body extends object> extends Outcome<Body> {
  /** Empty when nothing changed. */
  did: readonly Change[];
}

interface WriteOptions<Body> {
  /** The path of the new record, under /api/v1/. */
  addressOf?: (body: Body) => string;
  /** The part of the first response that a repeated request may still get. Throws if it may get none. */
  repeated?: (body: Body) => Body;
  /** Identifies a request whose body was read already. */
  named?: IdempotentWrite;
}

/** How long a write waits for the press, in ms. After that the response says where to check. */
const PRESS_WAIT = 5_000;

/**
 * Performs a write in one transaction, has its changes pressed, and responds when those files are on disk, or with the
 * URL that reports progress. If the same caller used the Idempotency-Key before, repeats the first response and writes
 * nothing. The same transaction records in the log of activity what it did. Throws whatever `work` throws, and then
 * nothing was written.
 */
export async function write<Body extends object>(
  writer: Writer,
  c: PaperContext,
  work: (key: AccessKey) => Written<Body>,
  { addressOf, repeated, named: given }: WriteOptions<Body> = {},
): Promise<Reply<Body & Pressing>> {
  const { store, clock } = writer.app;
  const { answers, keys } = store.desk;
  const key = requireKeyOfLevel(c.get('key'), 'agent');
  const named = given ?? (await readIdempotentWrite(c));
  const at = clock.now();
  let isFirst = false;
  const record = (): Outcome<Body & Pressing> => {
    // Reading the body may have taken a long time.
    requireUnpaused(requireActive(keys, keys.byId(key.id), at));
    if (key.level === 'agent') needTerms(writer.app, c);
    const outcome = runOnce({ answers, key: key.id, at }, named, () => {
      isFirst = true;
      return marked(writer, c, () => {
        const { did, ...outcome } = work(key);
        recordActivity(store.desk, { paper: key.paper, now: at, newId }, actorOf(writer, c, key), did);
        return outcome;
      });
    });
    return isFirst || repeated === undefined
      ? outcome
      : { ...outcome, body: { ...outcome.body, ...repeated(outcome.body) } };
  };
  const { status, body } = await store.database.lock.patiently(() => store.database.transact(record));
  const whole = await pressed(writer, c, body);
  // The stored response includes the result of the press, for callers that retry the write.
  if (isFirst && whole !== body) {
    try {
      storeAnswer({ answers, key: key.id, at }, named, { status, body: whole });
    } catch (error) {
      // The write and its response are stored, except for the result of the press. That does not justify a failure.
      writer.logger.error({ request_id: c.get('requestId'), err: error }, 'failed to store the result of the press');
    }
  }
  // RFC 9110, section 15.3.2.
  const headers: Headers =
    addressOf === undefined ? {} : { Location: `${c.get('site').root}/api/v1/${addressOf(whole)}` };
  return reply(whole, { status, headers });
}

/** Who acts with a key in a request, by which way and from where. */
export function actorOf({ proxies }: Pick<Writer, 'proxies'>, c: PaperContext, { id }: Pick<AccessKey, 'id'>): Actor {
  const caller = callerOf(c.env, proxies);
  return { who: id, way: actingIn(c.env)?.way ?? 'api', network: caller === '' ? null : callerNetwork(caller) };
}

/**
 * Checks before a body is read that the key is not paused and, for an agent's, that the paper has signed the agreement.
 * Throws `key_paused`, `terms_unsigned`.
 */
export function requiresTerms(app: AppContext) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    const key = c.get('key');
    if (key !== null) requireUnpaused(key);
    if (key?.level === 'agent') needTerms(app, c);
    await next();
  });
}

/** Throws `terms_unsigned` unless the paper has signed the current agreement. */
function needTerms(app: AppContext, c: PaperContext): void {
  const agreement = currentAgreement(app.settings);
  const { slug, root } = c.get('site');
  if (signatureOf(app.store.desk.terms, agreement, slug) !== null) return;
  throw new Fault(
    'terms_unsigned',
    `the paper’s operator has not signed version ${agreement.version} of the agreement; read ${root}/api/v1/agent/terms, and have it signed with an admin key at ${root}/api/v1/agent/terms/accept`,
  );
}

/** Appends a record of the request's paper to the ledger, which pages show as `shown`; null removes it. */
export function putRecord<Body extends object>(
  { store, clock }: AppContext,
  c: PaperContext,
  record: Pick<Parameters<typeof appendRecord>[1], 'kind' | 'name' | 'body'>,
  shown: Body,
): Written<Body> {
  const { slug: paper } = c.get('site');
  const before = store.desk.record(paper, record.kind, record.name);
  const isNew = appendRecord(store.desk, { ...record, paper, at: clock.now() }, before);
  const change = isNew ? recordChange(record.kind, record.name, before, record.body) : null;
  return { status: 200, body: shown, isShown: true, did: change === null ? [] : [change] };
}

/** Does a write's work, and adds to its result whether anything must be pressed and where to check. */
function marked<Body extends object>(
  { app }: Writer,
  c: PaperContext,
  work: () => Outcome<Body>,
): Outcome<Body & Pressing> {
  const { slug, root } = c.get('site');
  const { manifest } = app.store.desk;
  const before = manifest.newestStale(slug);
  const { status, body, isShown = false } = work();
  const number = manifest.newestStale(slug);
  // A write that changes no page does not wait. But what pages already show may still be on its way to disk.
  if (number === 0 || (number === before && !isShown)) return { status, body: { ...body, pressed: true, files: 0 } };
  return { status, body: { ...body, pressed: false, pressing: `${root}/api/v1/press/${number}` } };
}

/** Adds the result of the press to a write's body. Returns the same object while that result is unknown. */
async function pressed<Body extends Pressing>({ presses, logger }: Writer, c: PaperContext, body: Body): Promise<Body> {
  const { pressing } = body;
  if (pressing === undefined) return body;
  const number = Number(pressing.slice(pressing.lastIndexOf('/') + 1));
  const work = presses.pressedUntil(c.get('site').slug, number).catch((error: unknown) => {
    logger.error({ request_id: c.get('requestId'), err: error }, 'the press failed; it is tried again');
    return undefined;
  });
  const files = await Promise.race([work, sleep(PRESS_WAIT, undefined, { ref: false })]);
  return files === undefined ? body : { ...body, pressing: undefined, pressed: true, files };
}

const ask = {
  operationId: 'askPress',
  summary: 'Whether the files of a write are on disk',
  description: 'The address is the one that a write gave as `pressing`.',
  request: {
    params: z.object({
      ticket: z
        .string()
        .regex(/^\d{1,15}$/, 'must be the number that the write gave')
        .openapi({ description: 'The number in the address that the write gave.', type: 'integer', example: 42 }),
    }),
  },
  responses: { 200: ok(z.object({ pressed: z.boolean() }), 'Whether they are.') },
};

/** The progress of the press. */
export function askPress(app: AppContext) {
  return operationsUnder('Writing')(ask, (c) => {
    const ticket = Number(c.req.valid('param').ticket);
    const { slug, root } = c.get('site');
    const { manifest } = app.store.desk;
    // Ticket numbers are sequential, and an issued one stays marked until it is pressed.
    if (ticket === 0 || ticket > manifest.lastChange(slug)) {
      throw new Fault('not_found', `no write of this paper gave ${root}/api/v1/press/${ticket}; ask where one said`);
    }
    return { pressed: manifest.isPressed(slug, ticket) };
  });
}
