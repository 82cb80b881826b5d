import type { OpenAPIHono, RouteConfig, RouteHandler, z } from '@hono/zod-openapi';
import type { Context, Env } from 'hono';
import type { Result } from '../responses/reply.ts';
import { isResponse } from '../responses/reply.ts';

/** A route as `createRoute` makes it. */
export type Route<R extends RouteConfig> = R & { getRoutingPath(): string };

/** The JSON that a response of a route has; `never` where it is described in another media type. */
type JsonOf<Response> = Response extends { content: { 'application/json': { schema: infer T extends z.ZodType } } }
  ? z.output<T>
  : never;

/** The JSON of a route's good responses. */
export type BodyOf<R extends RouteConfig> = {
  [Status in keyof R['responses']]: Status extends 200 | 201 | 202 ? JsonOf<R['responses'][Status]> : never;
}[keyof R['responses']];

/** Gives the value that the route's response schema describes, or a whole `Response` where that is no JSON. */
export type Handler<R extends RouteConfig, E extends Env> = (
  c: Parameters<RouteHandler<R, E>>[0],
) => Result<BodyOf<R>> | Promise<Result<BodyOf<R>>>;

/**
 * Registers a route: it validates the request, is in the OpenAPI document,
 * and types what the handler returns. `send` makes the response of a value.
 */
export function registerRoute<R extends RouteConfig, E extends Env>(
  router: OpenAPIHono<E>,
  route: Route<R>,
  handler: Handler<R, E>,
  send: (c: Context<E>, value: unknown) => Response,
): void {
  const handle = (c: Parameters<RouteHandler<R, E>>[0]): Response | Promise<Response> => {
    const result = handler(c);
    return result instanceof Promise ? result.then((value) => responseOf(c, value)) : responseOf(c, result);
  };
  const responseOf = (c: Context<E>, result: unknown) => (isResponse(result) ? result : send(c, result));
  // The library wants each response typed by its body and status; `Handler` has checked the body already.
  router.openapi(route, handle as never);
}
