import type { Context } from 'hono';
import type { Headers } from './headers.ts';
import { nextLink } from './paging.ts';
import { privateJson } from './send.ts';

export interface ReplyInit {
  status?: 200 | 201 | 202;
  headers?: Headers;
  /** What a page of a list was asked for: the next page is asked for in the same way. */
  page?: Record<string, unknown>;
}

/** JSON that no cache may keep. A handler that has nothing to add returns the bare value. */
export class Reply<Body> {
  readonly body: Body;
  readonly init: ReplyInit;

  constructor(body: Body, init: ReplyInit) {
    this.body = body;
    this.init = init;
  }
}

/** JSON that is kept and is the same for everybody; `make` runs when the cache does not hold it. */
export class CachedReply<Body> {
  readonly name: string;
  readonly make: () => Body;
  readonly init: CachedInit<Body>;

  constructor(name: string, make: () => Body, init: CachedInit<Body>) {
    this.name = name;
    this.make = make;
    this.init = init;
  }
}

interface CachedInit<Body> extends Omit<ReplyInit, 'status'> {
  /** Writes the body; `JSON.stringify` without it. */
  stringify?(body: Body): string;
}

export const reply = <Body>(body: Body, init: ReplyInit): Reply<Body> => new Reply(body, init);

/** `name` tells this response from the others of its cache. What `make` throws is thrown, and nothing is kept. */
export const cached = <Body>(name: string, make: () => Body, init: CachedInit<Body> = {}): CachedReply<Body> =>
  new CachedReply(name, make, init);

/** What a handler returns for a route whose JSON is of type `Body`. A `Response` is for what is not JSON. */
export type Result<Body> = Body | Reply<Body> | CachedReply<Body> | Response;

/** Sends a value or a `Reply`. `address` is the request's own, for the link to the next page of a list. */
export function sendReply(c: Context, value: unknown, address: string): Response {
  if (!(value instanceof Reply)) return privateJson(c, value);
  const { status, headers = {}, page } = value.init;
  const link = page === undefined ? null : nextLink(address, page, value.body.next_cursor);
  return privateJson(c, value.body, status, link === null ? headers : { ...headers, Link: link });
}

/** Not by `instanceof`: @hono/node-server replaces the global class, and some responses are of the original one. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}
