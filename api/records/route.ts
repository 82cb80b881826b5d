import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import { createRoute } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { Build } from '../../src/app/build.ts';
import type { AppContext } from '../../src/app/context.ts';
import type { Access } from '../../src/meter/lane.ts';
import type { RecordsEnv } from '../env.ts';
import type { Handler, Route } from '../openapi/register.ts';
import { registerRoute } from '../openapi/register.ts';
import { sendReply } from '../responses/reply.ts';

/** What every door file of the domain records gets. */
export interface RecordsDoors {
  router: OpenAPIHono<RecordsEnv>;
  app: AppContext;
  logger: Logger;
  build: Build;
  /** What lets callers into a door of this kind, or refuses them. */
  enter(access: Access): MiddlewareHandler<RecordsEnv>;
}

export type RecordsContext = Context<RecordsEnv>;

/**
 * Registers a route of one kind of access: its lane is decided before anything
 * of the request is read. `x-access` names the kind in the OpenAPI document.
 */
export function register<R extends RouteConfig>(
  { router, enter, app }: Pick<RecordsDoors, 'router' | 'enter' | 'app'>,
  access: Access,
  route: Route<R>,
  handler: Handler<R, RecordsEnv>,
): void {
  router.on(route.method.toUpperCase(), route.getRoutingPath(), enter(access));
  registerRoute(router, createRoute({ ...route, 'x-access': access }), handler, (c, value) =>
    sendReply(c, value, app.settings.dataOrigin + c.req.path),
  );
}
