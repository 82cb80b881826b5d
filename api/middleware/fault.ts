import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { Logger } from 'pino';
import type { FaultCode } from '../../src/fault.ts';
import { Fault } from '../../src/fault.ts';

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 500 | 503;

const PROBLEM = 'application/problem+json';

/** When to try again after `unavailable`, in seconds. */
const RETRY_AFTER = '5';

/** Each code's one status (wire.md, section 2). */
const STATUS: Record<FaultCode, Status> = {
  invalid_request: 400,
  key_required: 401,
  key_invalid: 401,
  wrong_paper: 403,
  level_too_low: 403,
  terms_unsigned: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  withdrawn: 410,
  too_large: 413,
  unsupported_media_type: 415,
  refused_by_door: 422,
  rate_limited: 429,
  unavailable: 503,
};

/** Turns what a door throws into an answer. The cause of anything but a fault stays in the log. */
export function answerFault(logger: Logger) {
  return (error: unknown, c: Context): Response => {
    if (error instanceof Fault) {
      const { code, message, details } = error;
      if (code === 'unavailable') c.header('Retry-After', RETRY_AFTER);
      return answer(c, STATUS[code], { error: code, message, ...details });
    }
    logger.error({ request_id: c.get('requestId'), err: error }, 'a door failed');
    return answer(c, 500, {
      error: 'internal',
      message: 'something went wrong here; the log has it under X-Request-Id',
    });
  };
}

/** As JSON, or as RFC 9457 has it where that is asked for. */
function answer(c: Context, status: Status, body: { error: string; message: string }): Response {
  const type = accepts(c, { header: 'Accept', supports: ['application/json', PROBLEM], default: 'application/json' });
  c.header('Vary', 'Accept', { append: true });
  c.header('X-Content-Type-Options', 'nosniff');
  if (type !== PROBLEM) return c.json(body, status);
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail: body.message, ...body };
  return c.json(problem, status, { 'Content-Type': PROBLEM });
}
