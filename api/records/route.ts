import type { Context } from 'hono';
import type { Access } from '../../src/records/meter/lane.ts';
import type { RecordsEnv } from '../env.ts';
import { jsonBody, limitBody } from '../middleware/json-body.ts';
import { faults, IDEMPOTENCY } from '../openapi/responses.ts';
import { type Handler, type OperationSpec, operationsOf, type Route } from '../openapi/route.ts';
import type { Representation } from '../responses/response-cache.ts';

/**
 * `static` routes answer anyone without reading a key, and have no rate limit; every other access is decided by its
 * lane.
 */
export type RecordsRoute = Route<RecordsEnv, Access | 'static'>;

export type RecordsHandler = Handler<RecordsEnv>;

const described = operationsOf<RecordsEnv, Representation>();

/**
 * An operation of the data API, whose 200 may also be a cached representation. A JSON body is checked first, unless
 * `before` says how.
 */
export const operation: typeof described = (spec, ...handling) => {
  const { request, before, responses } = spec;
  const hasBody = request?.body !== undefined;
  const checked = { before: before ?? (hasBody ? [limitBody, jsonBody()] : []) };
  const refused = { ...(hasBody && faults(413, 415)), ...(request?.headers === IDEMPOTENCY && faults(422)) };
  return described({ ...spec, ...checked, responses: { ...refused, ...responses } }, ...handling);
};

export function specOf([, , , handler]: RecordsRoute): OperationSpec | undefined {
  return typeof handler === 'function' ? undefined : handler.spec;
}

export type RecordsContext = Context<RecordsEnv>;
