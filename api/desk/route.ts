import type { Handler } from 'hono';
import type { Level } from '../../src/desk/keys.ts';
import type { DeskEnv, PaperEnv } from '../env.ts';
import type { Route } from '../openapi/route.ts';
import { operationsOf } from '../openapi/route.ts';

/** The lowest key level that a route requires. `public` needs no key; `token` needs the link from a mail. */
export type Access = 'public' | 'token' | Level;

export type PaperRoute = Route<PaperEnv, Access>;

/** An operation of a paper's API. */
export const operation = operationsOf<PaperEnv>();

/** Answers an address of the host, or calls `next` for one that it does not serve. */
export type HostHandler = Handler<DeskEnv>;

export type HostRoute = readonly [method: 'GET', path: string, access: Access, handler: HostHandler];
