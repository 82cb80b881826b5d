import type { HttpBindings } from '@hono/node-server';
import type { AccessKey } from '../../src/desk/papers/keys.ts';

/** By which way a request came: over HTTP, or in process for a page of the console or a tool. */
export type Way = 'api' | 'console' | 'mcp';

/**
 * Who acts, in a request that the server makes of its own routes. It is a symbol in Hono's bindings, which nothing in a
 * request from the network can set.
 */
export const ACTING = Symbol('acting');

export interface Acting {
  way: Exclude<Way, 'api'>;
  /** The key that acts. Without it the request's headers say who acts. */
  key?: AccessKey;
  /**
   * For an upload from a form: reads the fields before the file, and throws unless the form came from our own page. The
   * route then reads the file from the network, never whole in memory.
   */
  readFields?: (fields: ReadonlyMap<string, string>) => void;
}

type Bindings = HttpBindings & { [ACTING]?: Acting };

/** Hono's bindings for a request in process. */
export const actingAs = (env: HttpBindings, acting: Acting): Bindings => ({ ...env, [ACTING]: acting });

/** Who acts in a request in process; undefined for one from the network. */
export const actingIn = (env: HttpBindings): Acting | undefined => (env as Bindings)[ACTING];

/** Sends a request to the whole service in process, as if it came from the network. */
export type Ask = (request: Request, env: HttpBindings) => Response | Promise<Response>;
