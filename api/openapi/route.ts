import { createRoute, type OpenAPIHono, type RouteConfig, type RouteHandler, type z } from '@hono/zod-openapi';
import type { Context, Env, MiddlewareHandler } from 'hono';
import type { Result } from '../responses/reply.ts';
import { EVERYWHERE } from './faults.ts';
import { faults } from './responses.ts';

/** One line of a URL map. A parameter of the path is written `{name}`; `{path}` takes slashes too. */
export type Route<E extends Env, Access> = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  access: Access,
  handler: Handle<E> | Handler<E>,
];

/** Answers with a `Response`, or with a value that the service sends. */
type Handle<E extends Env> = (c: Context<E>) => unknown;

export interface Handler<E extends Env> {
  /** Where the route is an operation of the API: its entry in the OpenAPI document. */
  spec?: OperationSpec;
  /** The handler reads the request by itself: the schemas of `spec` are documented, but check nothing. */
  readsItself?: true;
  /** Runs before the handler, after the caller was let in. */
  before?: MiddlewareHandler[];
  handle: Handle<E>;
}

/** An OpenAPI operation without its address and its access, which the URL map says. Its schemas check the request. */
export interface OperationSpec extends Omit<RouteConfig, 'method' | 'path' | 'middleware'> {
  /** Runs last before the schemas check the request. */
  before?: MiddlewareHandler[];
  /** Takes the place of the router's hook for input that does not match the schemas. */
  hook?: unknown;
}

type Located<S extends OperationSpec> = S & { method: 'get'; path: string };

/** The JSON type of a response; `never` for other media types. */
type JsonOf<Response> = Response extends { content: { 'application/json': { schema: infer T extends z.ZodType } } }
  ? z.output<T>
  : never;

/** The JSON type of an operation's successful responses. */
type BodyOf<S extends OperationSpec> = {
  [Status in keyof S['responses']]: Status extends 200 | 201 | 202 ? JsonOf<S['responses'][Status]> : never;
}[keyof S['responses']];

/**
 * Makes the `operation` of a service. Its handler returns the JSON of `spec`, `Other`, or a `Response`. With a `tag`,
 * the document lists its operations under that.
 */
export const operationsOf =
  <E extends Env, Other = never>(tag?: string) =>
  <S extends OperationSpec>(
    spec: S,
    handle: (
      c: Parameters<RouteHandler<Located<S>, E>>[0],
    ) => Result<BodyOf<S>> | Other | Promise<Result<BodyOf<S>> | Other>,
    ...before: MiddlewareHandler[]
  ): Handler<E> => ({
    spec: tag === undefined ? spec : { ...spec, tags: [tag] },
    before,
    handle: handle as Handle<E>,
  });

interface Registering<E extends Env, Access> {
  router: OpenAPIHono<E>;
  /** The middleware that lets callers in, or rejects them. */
  enter(access: Access): MiddlewareHandler<E>[];
  /** How the document says who may call an operation. */
  accessInDocument(access: Access): Pick<RouteConfig, 'security'> | Record<`x-${string}`, unknown>;
  /** Sends what a handler returned. */
  send(c: Context<E>, value: unknown): Response;
}

/** Adds a route to the router, and its operation to the OpenAPI document. */
export function register<E extends Env, Access>(
  { router, enter, accessInDocument, send }: Registering<E, Access>,
  [method, path, access, handler]: Route<E, Access>,
): void {
  const {
    spec,
    readsItself,
    before = [],
    handle,
  }: Handler<E> = typeof handler === 'function' ? { handle: handler } : handler;
  const at = path.replace('{path}', ':path{.+}').replaceAll(/\/\{(\w+)\}/g, '/:$1');
  const middleware = [...enter(access), ...before, ...(spec?.before ?? [])];
  if (middleware.length > 0) router.on(method, [at], ...middleware);
  const answer = async (c: Context<E>) => send(c, await handle(c));
  if (spec !== undefined) {
    const { before: _before, hook, ...described } = spec;
    const route = createRoute({
      ...described,
      responses: { ...faults(...EVERYWHERE), ...described.responses },
      method: method.toLowerCase() as 'get',
      path,
      ...accessInDocument(access),
    });
    if (!readsItself) {
      router.openapi(route, answer as never, hook as never);
      return;
    }
    router.openAPIRegistry.registerPath(route);
  }
  router.on(method, [at], answer);
}
