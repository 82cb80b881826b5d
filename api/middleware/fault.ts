import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { FaultCode } from '../../src/fault.ts';
import { Fault } from '../../src/fault.ts';

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 503;

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
      return c.json({ error: code, message, ...details }, STATUS[code]);
    }
    logger.error({ request_id: c.get('requestId'), err: error }, 'a door failed');
    return c.json({ error: 'internal', message: 'something went wrong here; the log has it under X-Request-Id' }, 500);
  };
}
