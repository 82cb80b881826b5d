import type { HttpBindings } from '@hono/node-server';
import type { RequestIdVariables } from 'hono/request-id';
import type { AccessKey } from '../src/desk/keys.ts';
import type { Paper } from '../src/desk/paper.ts';
import type { Site } from './desk/site.ts';

/** What every door of the desk finds in its context. */
export interface DeskEnv {
  Bindings: HttpBindings;
  Variables: RequestIdVariables;
}

/** What a door under a paper's root finds there too. */
export interface PaperEnv {
  Bindings: HttpBindings;
  Variables: RequestIdVariables & {
    site: Site & { paper: Paper };
    /** The caller's key, which is one of this paper; null on the public lane. */
    key: AccessKey | null;
  };
}
