import type { Handler, Hono } from 'hono';
import type { DeskEnv } from '../env.ts';
import type { HostRouteName } from './routes.ts';
import { HOST_ROUTES, routingPath } from './routes.ts';

/** A handler calls `next` for addresses that it does not serve. */
export type HostHandler = Handler<DeskEnv>;
export type HostHandlers = Record<HostRouteName, HostHandler>;

/** Registers the host's own routes in the order of the map. */
export function wireHostRoutes(hono: Hono<DeskEnv>, handlers: HostHandlers): void {
  for (const [method, path, , name] of HOST_ROUTES) hono.on(method, routingPath(path), handlers[name]);
}
