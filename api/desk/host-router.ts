import type { Handler, Hono } from 'hono';
import type { DeskEnv } from '../env.ts';
import type { HostRouteName } from './routes.ts';
import { HOST_ROUTES, routingPath } from './routes.ts';

/** A handler gives a request on by `next` when the address is not one of its own. */
export type HostHandler = Handler<DeskEnv>;
export type HostHandlers = Record<HostRouteName, HostHandler>;

/** Registers the routes beside the papers' own, in the order of the map. */
export function wireHostRoutes(hono: Hono<DeskEnv>, handlers: HostHandlers): void {
  for (const [method, path, , name] of HOST_ROUTES) hono.on(method, routingPath(path), handlers[name]);
}
