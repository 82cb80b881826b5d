import type { OpenAPIHono, RouteConfig, RouteHandler } from '@hono/zod-openapi';
import { createRoute } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { Build } from '../../src/app/build.ts';
import type { AppContext } from '../../src/app/context.ts';
import type { Access } from '../../src/meter/lane.ts';
import type { RecordsEnv } from '../env.ts';

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
 * Opens a door of one kind: its lane is decided before anything of the request
 * is read. The route describes it, checks what comes in and stands in the
 * OpenAPI document, with its access as `x-access`; a test holds every answer against that.
 */
export function register<R extends RouteConfig>(
  { router, enter }: Pick<RecordsDoors, 'router' | 'enter'>,
  access: Access,
  route: R & { getRoutingPath(): string },
  handler: (c: Parameters<RouteHandler<R, RecordsEnv>>[0]) => Response | Promise<Response>,
): void {
  router.on(route.method.toUpperCase(), route.getRoutingPath(), enter(access));
  router.openapi(createRoute({ ...route, 'x-access': access }), handler as unknown as RouteHandler<R, RecordsEnv>);
}
