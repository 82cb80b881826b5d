import type { Context } from 'hono';
import type { Access } from '../../src/records/meter/lane.ts';
import type { RecordsEnv } from '../env.ts';
import { type Handler, type OperationSpec, operationsOf, type Route } from '../openapi/route.ts';
import type { Representation } from '../responses/response-cache.ts';

/**
 * `static` routes answer anyone without reading a key, and have no rate limit; every other access is decided by its
 * lane.
 */
export type RecordsRoute = Route<RecordsEnv, Access | 'static'>;

export type RecordsHandler = Handler<RecordsEnv>;

/** An operation of the data API, whose 200 may also be a cached representation. */
export const operation = operationsOf<RecordsEnv, Representation>();

export function specOf([, , , handler]: RecordsRoute): OperationSpec | undefined {
  return typeof handler === 'function' ? undefined : handler.spec;
}

export type RecordsContext = Context<RecordsEnv>;
