import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { Logger } from 'pino';
import { MINUTE } from '../../src/proof/time.ts';
import { Busy, codeOf, DiskFault, type DiskState, Fault, type FaultCode, LockedFault } from '../../src/shared/fault.ts';
import { type Headers, respond, setHeader, varyWith } from '../responses/headers.ts';

type Status = 400 | 401 | 402 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 421 | 422 | 429 | 500 | 501 | 503;

const PROBLEM = 'application/problem+json';

/** `Retry-After` of `unavailable`, in seconds. */
const RETRY_AFTER = '5';

/** The HTTP status of each code (protocol 8.5). */
export const FAULT_STATUS: Record<FaultCode, Status> = {
  invalid_request: 400,
  key_required: 401,
  key_invalid: 401,
  key_expired: 401,
  payment_required: 402,
  allowance_exhausted: 402,
  key_paused: 403,
  wrong_paper: 403,
  level_too_low: 403,
  terms_unsigned: 403,
  export_needs_account: 403,
  wrong_origin: 403,
  not_found: 404,
  not_watched: 404,
  not_observed: 404,
  method_not_allowed: 405,
  conflict: 409,
  ahead_of_stream: 409,
  withdrawn: 410,
  too_large: 413,
  unsupported_media_type: 415,
  other_node: 421,
  refused_by_door: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  throttled: 429,
  not_implemented: 501,
  unavailable: 503,
};

/** The part of an error that clients see. */
export interface ExplainedFault {
  status: Status;
  body: ErrorBody;
}

/** Explains a thrown error to a client, and logs its cause to the operator. Null if the caller hung up. */
export function explainFault(
  thrown: unknown,
  c: Context,
  { logger, known }: { logger: Logger; known: (error: unknown) => unknown },
): ExplainedFault | null {
  const error = known(thrown);
  if (error instanceof Fault) {
    const { code, message, details } = error;
    if (code === 'unavailable') {
      const more = countRefusal(message);
      if (more !== null) {
        const fields = { request_id: c.get('requestId'), cause: message, ...(more === 0 ? {} : { more }) };
        logger.warn(fields, 'a request could not be answered');
      }
      setHeader(c, 'Retry-After', RETRY_AFTER);
      return { status: 503, body: { error: code, message: shownOf(error) } };
    }
    // A 401 must say how to authenticate (RFC 9110, section 11.6.1).
    if (FAULT_STATUS[code] === 401) setHeader(c, 'WWW-Authenticate', 'Bearer');
    return { status: FAULT_STATUS[code], body: { error: code, message, ...details } };
  }
  if (isGone(error)) return null;
  logger.error({ request_id: c.get('requestId'), err: error }, 'a handler failed');
  const message = 'internal error; the server’s log has it under X-Request-Id';
  return { status: 500, body: { error: 'internal', message } };
}

const DISK: Record<DiskState, string> = {
  full: 'the server’s disk is full; nothing was saved; try again later',
  read_only: 'the server’s disk is read-only; nothing was saved; try again later',
  failing: 'the server cannot write to its disk; nothing was saved; try again later',
};

const LOCKED = 'another program is writing to the database; nothing was saved; try again soon';

/** The message that callers see for an `unavailable`. */
function shownOf(error: Fault): string {
  if (error instanceof DiskFault) return DISK[error.state];
  if (error instanceof LockedFault) return LOCKED;
  return error instanceof Busy ? error.message : 'this cannot be answered right now; try again soon';
}

/** How often the same cause of refusals is logged, in ms. */
const REFUSALS_EVERY = MINUTE;
/** The most causes that are remembered. */
const CAUSES_MAX = 100;

/** Requests that could not be answered, by cause: one line a minute for each, however many there are. */
const refusals = new Map<string, { at: number; more: number }>();

/** How many were counted and not logged since the last line about this cause; null when this one is only counted. */
function countRefusal(cause: string): number | null {
  const now = performance.now();
  const last = refusals.get(cause);
  if (last !== undefined && now < last.at + REFUSALS_EVERY) {
    last.more++;
    return null;
  }
  if (refusals.size >= CAUSES_MAX) refusals.clear();
  refusals.set(cause, { at: now, more: 0 });
  return last?.more ?? 0;
}

/** Turns a thrown error into a response in JSON. */
export function answerFault(logger: Logger, known: (error: unknown) => unknown) {
  return (thrown: unknown, c: Context): Response => sendFault(c, explainFault(thrown, c, { logger, known }));
}

/** Whether the caller hung up before its body arrived. */
function isGone(error: unknown): boolean {
  if (error instanceof Error && error.message === 'aborted') return true;
  return ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(codeOf(error));
}

/** Sends the error as JSON, or in the format of RFC 9457. A caller who hung up gets nothing. */
export function sendFault(c: Context, fault: { status: Status | 307; body: ErrorBody } | null): Response {
  if (fault === null) return c.body(null, 400);
  const { text, own } = errorText(c, fault.status, fault.body);
  setHeader(c, 'X-Content-Type-Options', 'nosniff');
  return respond(c, text, fault.status, own);
}

interface ErrorBody {
  error: string;
  message: string;
  /** A stable code for the cause, where one error code has several causes. */
  reason?: string;
}

/** An error response without the headers that middleware has set, except its `Vary`. */
export function errorAnswer(c: Context, status: Status, body: ErrorBody, headers: Record<string, string>): Response {
  const { text, own } = errorText(c, status, body);
  return new Response(text, { status, headers: { ...own, 'X-Content-Type-Options': 'nosniff', ...headers } });
}

function errorText(c: Context, status: Status | 307, body: ErrorBody) {
  const type = accepts(c, { header: 'Accept', supports: ['application/json', PROBLEM], default: 'application/json' });
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail: body.message, ...body };
  // A request that fails now may succeed a moment later.
  const own: Headers = { 'Cache-Control': 'no-store', 'Content-Type': type, Vary: varyWith(c, 'Accept') };
  return { text: JSON.stringify(type === PROBLEM ? problem : body), own };
}
