import type { HttpBindings } from '@hono/node-server';
import type { RequestIdVariables } from 'hono/request-id';
import type { ServiceKey } from '../src/accounts/service-key.ts';
import type { AccessKey } from '../src/desk/keys.ts';
import type { Paper } from '../src/desk/paper.ts';
import type { Lane } from '../src/meter/lane.ts';
import type { Site } from './desk/site.ts';
import type { SignedIn } from './middleware/session.ts';

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

/** What a door of the domain records finds in its context. */
export interface RecordsEnv {
  Bindings: HttpBindings;
  Variables: RequestIdVariables & {
    /** How the request was let in. */
    lane: Lane;
    /** The caller's key; null when there is none. */
    key: ServiceKey | null;
    /** Who is signed in; undefined when nobody is, and on every door where cookies do not count. */
    signed: SignedIn | undefined;
  };
}
