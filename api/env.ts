import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { RequestIdVariables } from 'hono/request-id';
import type { ConsoleSession } from '../src/desk/console/session.ts';
import type { AccessKey } from '../src/desk/papers/keys.ts';
import type { Paper } from '../src/desk/papers/paper.ts';
import type { Account } from '../src/records/accounts/account.ts';
import type { ServiceKey } from '../src/records/accounts/service-key.ts';
import type { Session } from '../src/records/accounts/session.ts';
import type { Lane } from '../src/records/meter/lane.ts';
import type { PlanRow } from '../src/records/meter/plan.ts';
import type { Headers } from './responses/headers.ts';

/** The headers that `carryHeaders` collects for a request (`api/responses/headers.ts`). */
interface CarriedHeaders {
  headers: Headers;
  /** The response that already has them. */
  responded?: Response;
}

/** The paper that an address belongs to. */
export interface Site {
  /** The first path segment, or the paper that owns the domain. */
  slug: string;
  /** Null for an unknown paper. Private papers are included: later checks decide who may see them. */
  paper: Paper | null;
  /** The paper's public root, with which its links start. */
  root: string;
  /** The same root on the requested host. */
  served: string;
  /** The path under the root, with its leading slash; empty for the root without a slash. */
  path: string;
  /** A public paper of this address that was removed: when, in ms, and its language; then `paper` is null. */
  removed?: { at: number; language: string };
}

/** The console that an address belongs to. */
export interface ConsoleSite extends Site {
  /** The path below which the console is, without a trailing slash: empty, or `/harbor-ledger`. */
  base: string;
  /** The origin of its pages, to which passkeys and forms are bound. */
  origin: string;
}

/** The signed-in account of a page request, and its session. */
export interface SignedIn {
  account: Account;
  session: Session;
  /** The cookie's value. */
  token: string;
}

/** Context variables of every handler in both services. */
export interface DeskEnv {
  Bindings: HttpBindings;
  Variables: RequestIdVariables & CarriedHeaders;
}

/** Additional context variables of handlers under a paper's root. */
export interface PaperEnv {
  Bindings: HttpBindings;
  Variables: DeskEnv['Variables'] & {
    site: Site & { paper: Paper };
    /** Whether the paper is private and hidden from this caller, which gets the same answer as for a missing paper. */
    isHidden?: boolean;
    /** The caller's key, which belongs to this paper; null without one. */
    key: AccessKey | null;
    /** Set below `console/`, for papers that do not exist too. */
    console: ConsoleSite;
    /** The seat's session in the console, which stands for `key`; undefined when nobody is signed in there. */
    session?: ConsoleSession;
    /** The value of its cookie. */
    token?: string;
  };
}

export type PaperContext = Context<PaperEnv>;

/** A request of a seat to its console. */
export type ConsoleContext = {
  get(name: 'key'): AccessKey;
  get(name: 'session'): ConsoleSession;
  get(name: 'token'): string;
} & PaperContext;

/** Context variables of the domain records. */
export interface RecordsEnv {
  Bindings: HttpBindings;
  Variables: DeskEnv['Variables'] & {
    /** The lane that admitted the request. */
    lane: Lane;
    /** The plans on sale, for a 402. */
    plans: () => PlanRow[];
    /** The caller's key; null without one. */
    key: ServiceKey | null;
    /** The signed-in account; undefined when there is none, and on every path that ignores cookies. */
    signed: SignedIn | undefined;
  };
}
