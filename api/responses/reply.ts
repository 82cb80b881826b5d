import type { Context } from 'hono';
import type { Headers } from './headers.ts';
import { nextLink } from './paging.ts';
import { privateJson } from './send.ts';

export interface ReplyInit {
  status?: 200 | 201 | 202;
  headers?: Headers;
  /** The query of a list page, which the link to the next page repeats. */
  page?: Record<string, unknown>;
}

/** JSON that must not be cached. A handler without a status or headers of its own returns the bare value. */
export class Reply<Body> {
  readonly body: Body;
  readonly init: ReplyInit;

  constructor(body: Body, init: ReplyInit) {
    this.body = body;
    this.init = init;
  }
}

/** Cached JSON that is the same for everyone. `make` runs on a cache miss. */
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
  /** Serializes the body; `JSON.stringify` by default. */
  stringify?(body: Body): string;
}

export const reply = <Body>(body: Body, init: ReplyInit): Reply<Body> => new Reply(body, init);

/** `name` identifies this response in its cache. If `make` throws, nothing is cached. */
export const cached = <Body>(name: string, make: () => Body, init: CachedInit<Body> = {}): CachedReply<Body> =>
  new CachedReply(name, make, init);

/** What a handler returns for a route with JSON of type `Body`. A `Response` is for other media types. */
export type Result<Body> = Body | Reply<Body> | CachedReply<Body> | Response;

/** Sends a value or a `Reply`. `address` is the URL of the request, for the link to the next page of a list. */
export function sendReply(c: Context, value: unknown, address: string): Response {
  if (!(value instanceof Reply)) return privateJson(c, value);
  const { status, headers = {}, page } = value.init;
  const link = page === undefined ? null : nextLink(address, page, value.body.next_cursor);
  return privateJson(c, value.body, status, link === null ? headers : { ...headers, Link: link });
}

/** Avoids `instanceof`: @hono/node-server replaces the global class, which some responses are instances of. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}
