import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { RequestIdVariables } from 'hono/request-id';
import type { Account } from '../src/accounts/account.ts';
import type { ServiceKey } from '../src/accounts/service-key.ts';
import type { Session } from '../src/accounts/session.ts';
import type { AccessKey } from '../src/desk/keys.ts';
import type { Paper } from '../src/desk/paper.ts';
import type { Lane } from '../src/meter/lane.ts';
import type { Headers } from './responses/headers.ts';

/** What `carryHeaders` keeps of a request (`api/responses/headers.ts`). */
interface CarriedHeaders {
  headers: Headers;
  /** The response that has them already. */
  responded?: Response;
}

/** The paper that an address belongs to. */
export interface Site {
  /** The first segment of the address, or the paper whose own domain it is. */
  slug: string;
  /** Null when there is no such paper. Private papers are here: who may see one is decided later. */
  paper: Paper | null;
  /** Where the paper is published: what its links start with. */
  root: string;
  /** The same on the host that was asked. */
  served: string;
  /** The path under the root, with its first slash; empty for the root without one. */
  path: string;
}

/** Who is signed in on a page, and with what. */
export interface SignedIn {
  account: Account;
  session: Session;
  /** The value of the cookie. */
  token: string;
}

/** What every handler of both services finds in its context. */
export interface DeskEnv {
  Bindings: HttpBindings;
  Variables: RequestIdVariables & CarriedHeaders;
}

/** What a handler under a paper's root finds there too. */
export interface PaperEnv {
  Bindings: HttpBindings;
  Variables: DeskEnv['Variables'] & {
    site: Site & { paper: Paper };
    /** Whether the paper is private and the caller may not know of it: it is answered as no paper. */
    isHidden?: boolean;
    /** The caller's key, which belongs to this paper; null without one. */
    key: AccessKey | null;
  };
}

export type PaperContext = Context<PaperEnv>;

/** What a handler of the domain records finds in its context. */
export interface RecordsEnv {
  Bindings: HttpBindings;
  Variables: DeskEnv['Variables'] & {
    /** How the request was let in. */
    lane: Lane;
    /** The caller's key; null when there is none. */
    key: ServiceKey | null;
    /** Who is signed in; undefined when nobody is, and on every path where cookies do not count. */
    signed: SignedIn | undefined;
  };
}
