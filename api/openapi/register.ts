import type { OpenAPIHono, RouteConfig, RouteHandler, z } from '@hono/zod-openapi';
import type { Context, Env } from 'hono';
import type { Result } from '../responses/reply.ts';
import { isResponse } from '../responses/reply.ts';

/** A route from `createRoute`. */
export type Route<R extends RouteConfig> = R & { getRoutingPath(): string };

/** The JSON type of a response; `never` for other media types. */
type JsonOf<Response> = Response extends { content: { 'application/json': { schema: infer T extends z.ZodType } } }
  ? z.output<T>
  : never;

/** The JSON type of a route's successful responses. */
export type BodyOf<R extends RouteConfig> = {
  [Status in keyof R['responses']]: Status extends 200 | 201 | 202 ? JsonOf<R['responses'][Status]> : never;
}[keyof R['responses']];

/** Returns the value that the route's response schema describes, or a `Response` for other media types. */
export type Handler<R extends RouteConfig, E extends Env> = (
  c: Parameters<RouteHandler<R, E>>[0],
) => Result<BodyOf<R>> | Promise<Result<BodyOf<R>>>;

/**
 * Registers a route, which validates requests, appears in the OpenAPI document, and determines the type of the
 * handler's result. `send` turns a value into a response; `hook` takes the place of the router's for invalid input.
 */
export function registerRoute<R extends RouteConfig, E extends Env>(
  router: OpenAPIHono<E>,
  route: Route<R>,
  handler: Handler<R, E>,
  send: (c: Context<E>, value: unknown) => Response,
  hook?: unknown,
): void {
  const handle = (c: Parameters<RouteHandler<R, E>>[0]): Response | Promise<Response> => {
    const result = handler(c);
    return result instanceof Promise ? result.then((value) => responseOf(c, value)) : responseOf(c, result);
  };
  const responseOf = (c: Context<E>, result: unknown) => (isResponse(result) ? result : send(c, result));
  // The library expects a response typed by body and status, but `Handler` has already checked the body.
  router.openapi(route, handle as never, hook as never);
}
