import type { HttpBindings } from '@hono/node-server';
import type { RequestIdVariables } from 'hono/request-id';

/** What every door of the desk finds in its context. */
export interface DeskEnv {
  Bindings: HttpBindings;
  Variables: RequestIdVariables;
}
