import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import { createRoute } from '@hono/zod-openapi';
import type { Handler as HonoHandler, MiddlewareHandler } from 'hono';
import type { PaperContext, PaperEnv } from '../env.ts';
import type { Validated } from '../middleware/invalid.ts';
import { requireLevel } from '../middleware/key.ts';
import type { Handler } from '../openapi/register.ts';
import { registerRoute } from '../openapi/register.ts';
import { securityOf } from './openapi/levels.ts';
import type { PaperResponses } from './paper-responses.ts';
import type { Access, PaperRouteName } from './routes.ts';
import { PAPER_ROUTES, routingPath } from './routes.ts';

/** The description and schemas of an operation. `PAPER_ROUTES` has its path and access level. */
export interface Operation extends Omit<RouteConfig, 'method' | 'path' | 'security' | 'middleware'> {
  operationId: PaperRouteName;
  /** The operation's own middleware, which runs after the check of the caller's level. */
  before?: MiddlewareHandler[];
  /** Throws for input that does not match the schemas, in place of `rejectInvalid`. */
  hook?: (result: Validated, c: PaperContext) => undefined;
}

export const operation = <O extends Operation>(described: O): O => described;

/** An operation with its method and path. */
type Placed<O extends Operation> = O & { method: 'get' | 'post' | 'put' | 'delete'; path: string };

/** An operation's handler, typed by its responses (`api/openapi/register.ts`). */
export type OperationHandler<O extends Operation> = Handler<Placed<O>, PaperEnv>;

/** Registers one row of the map. */
type Wire = (at: { method: keyof typeof METHODS; path: string; access: Access }) => void;

/** Methods as OpenAPI spells them. */
const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/** Collects handlers by their names in `PAPER_ROUTES`, and registers the map. */
export class PaperRoutes {
  readonly hono: OpenAPIHono<PaperEnv>;
  readonly responses: PaperResponses;
  readonly #wires = new Map<string, Wire>();

  constructor(hono: OpenAPIHono<PaperEnv>, responses: PaperResponses) {
    this.hono = hono;
    this.responses = responses;
  }

  /** Adds an API operation. The type of the handler's result follows from the operation's schema. */
  operation<O extends Operation>(described: O, handler: OperationHandler<O>, ...first: MiddlewareHandler[]): void {
    this.#add(described.operationId, ({ method, path, access }) => {
      const { before = [], hook, ...rest } = described;
      const level = access === 'public' || access === 'token' ? [] : [requireLevel(access)];
      const middleware = [...level, ...first, ...before];
      const placed = { ...rest, method: METHODS[method], path, security: securityOf(access), middleware };
      // The same operation with its path: TypeScript cannot follow a spread of `O`.
      const route = createRoute(placed as never);
      registerRoute(this.hono, route, handler, (c, value) => this.responses.send(c, value), hook);
    });
  }

  /** Adds an operation that reads its own body: it is documented, but not validated before the handler runs. */
  described(described: Operation, ...handlers: PaperHandler[]): void {
    this.#add(described.operationId, ({ method, path, access }) => {
      const placed = { ...described, method: METHODS[method], path, security: securityOf(access) };
      this.hono.openAPIRegistry.registerPath(placed);
      this.#on(method, path, handlers);
    });
  }

  /** Adds a page or a file, which is not in the OpenAPI document. */
  page(name: PaperRouteName, ...handlers: PaperHandler[]): void {
    this.#add(name, ({ method, path }) => this.#on(method, path, handlers));
  }

  /**
   * Registers all routes in the order of the map. Throws for a row without a handler, and for a handler without a row.
   */
  wire(): void {
    const left = new Set(this.#wires.keys());
    for (const [method, path, access, name] of PAPER_ROUTES) {
      const wire = this.#wires.get(name);
      if (wire === undefined) throw new Error(`${method} ${path}: nothing handles ${name}`);
      wire({ method, path, access });
      left.delete(name);
    }
    if (left.size > 0) throw new Error(`no route leads to ${[...left].join(', ')}`);
  }

  #on(method: string, path: string, handlers: readonly PaperHandler[]): void {
    for (const handler of handlers) this.hono.on(method, routingPath(path), handler);
  }

  #add(name: PaperRouteName, wire: Wire): void {
    if (this.#wires.has(name)) throw new Error(`${name} has two handlers`);
    this.#wires.set(name, wire);
  }
}

type PaperHandler = HonoHandler<PaperEnv>;
