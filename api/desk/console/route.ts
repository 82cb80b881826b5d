import type { MiddlewareHandler } from 'hono';
import type { ConsoleContext } from '../../env.ts';
import type { Action } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';

type Handler = (c: ConsoleContext) => Response | Promise<Response>;

/** A line of the console's URL map: the path below `{root}/console/`. */
export type ConsoleRoute = readonly [
  method: 'GET' | 'POST',
  path: string,
  handler: Handler,
  /** Before the body of a form is read; by default `formGuards`. */
  guards?: readonly MiddlewareHandler[],
];

/** The functions with which the URL map lists pages and actions. */
export interface RouteMakers {
  page(level: 'read' | 'admin', show: (parts: ConsoleParts, c: ConsoleContext) => Shown | Promise<Shown>): Handler;
  /** The actions of a page, by the last part of their paths. */
  actions(under: string, named: Record<string, Action>, guards?: readonly MiddlewareHandler[]): ConsoleRoute[];
}
