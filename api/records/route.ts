import type { OpenAPIHono, RouteConfig, RouteHandler } from '@hono/zod-openapi';
import { createRoute } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { Access } from '../../src/meter/lane.ts';
import type { RecordsEnv } from '../env.ts';
import type { BodyOf } from '../openapi/register.ts';
import type { Result } from '../responses/reply.ts';
import type { Representation } from '../responses/response-cache.ts';
import type { RecordsContext } from './context.ts';
import { sendValue } from './send.ts';

/**
 * One line of the URL map. A parameter of the path is written `{name}`. `static` routes answer anyone without
 * reading a key, and are not rate limited; every other access is decided by its lane before the request is read.
 */
export type Route = readonly [method: Method, path: string, access: Access | 'static', handler: Handle | Handler];

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Answers with a `Response`, or with a value that the route sends: a cached response, or an object as private JSON. */
type Handle = (c: RecordsContext) => unknown;

export interface Handler {
  /** Where the route is an operation of the data API: its entry in the OpenAPI document. */
  spec?: OperationSpec;
  /** Runs before the handler, after the lane let the request in. */
  before?: MiddlewareHandler[];
  handle: Handle;
}

/** An OpenAPI operation without its address, which the URL map says. Its schemas check the request. */
export type OperationSpec = Omit<RouteConfig, 'method' | 'path'>;

type Located<S extends OperationSpec> = S & { method: 'get'; path: '/' };

type OperationContext<S extends OperationSpec> = Parameters<RouteHandler<Located<S>, RecordsEnv>>[0];

/** What a handler returns: the JSON of its good response, a representation of it, or a `Response` that is not JSON. */
type Answer<S extends OperationSpec> = Result<BodyOf<Located<S>>> | Representation;

/** An operation of the data API: its handler reads the checked request, and returns what the 200 describes. */
export function operation<S extends OperationSpec>(
  spec: S,
  handle: (c: OperationContext<S>) => Answer<S> | Promise<Answer<S>>,
): Handler {
  return { spec, handle: handle as Handle };
}

/** The OpenAPI operation of a route; undefined for a page. */
export function specOf([, , , handler]: Route): OperationSpec | undefined {
  return typeof handler === 'function' ? undefined : handler.spec;
}

interface Registering {
  router: OpenAPIHono<RecordsEnv>;
  /** The middleware that lets callers in, or rejects them. */
  enter(access: Access): MiddlewareHandler<RecordsEnv>;
  /** Public address of the service, without a trailing slash. */
  origin: string;
}

/** Adds a route to the router. Operations go into the OpenAPI document, with their access as `x-access`. */
export function register({ router, enter, origin }: Registering, [method, path, access, handler]: Route): void {
  const { before = [], handle }: Handler = typeof handler === 'function' ? { handle: handler } : handler;
  const spec = specOf([method, path, access, handler]);
  const routingPath = path.replaceAll(/\/\{(\w+)\}/g, '/:$1');
  if (access !== 'static') router.on(method, [routingPath], enter(access));
  if (before.length > 0) router.on(method, [routingPath], ...before);
  const answer = async (c: RecordsContext) => sendValue(c, await handle(c), origin);
  if (spec === undefined) router.on(method, [routingPath], answer);
  else {
    const route = createRoute({ ...spec, method: method.toLowerCase() as 'get', path, 'x-access': access });
    router.openapi(route, answer as never);
  }
}
