import type { Context, MiddlewareHandler } from 'hono';

/** Headers by name, each with the same spelling everywhere. */
export type Headers = Record<string, string>;

/** Node-server's marker for a response that a handler wrote to Node's own; all such responses share one object. */
const ALREADY_SENT = 'x-hono-already-sent';

/**
 * Adds the headers that middleware sets with `setHeader` to the response of any handler. It must be the first
 * middleware of a router. The headers stay a plain object until `respond` makes a response with them; responses from
 * elsewhere get them added here, which allocates a `Headers` object. Headers of the response itself take precedence.
 */
export const carryHeaders: MiddlewareHandler = async (c, next) => {
  const carried: Headers = {};
  c.set('headers', carried);
  await next();
  if (c.get('responded') === c.res || c.res.headers.has(ALREADY_SENT)) return;
  for (const [name, value] of Object.entries(carried)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};

/** Sets a response header, before or after the response is made. Has no effect once the response was sent. */
export function setHeader(c: Context, name: string, value: string): void {
  const carried: Headers = c.get('headers');
  carried[name] = value;
  if (c.finalized && !c.res.headers.has(ALREADY_SENT)) c.res.headers.set(name, value);
}

/** The `Vary` value that middleware has set, with another name. */
export function varyWith(c: Context, name: string): string {
  const { Vary }: Headers = c.get('headers');
  return Vary === undefined ? name : `${Vary}, ${name}`;
}

/** Adds a name to the `Vary` header of the response. */
export function addVary(c: Context, name: string): void {
  setHeader(c, 'Vary', varyWith(c, name));
}

/** Makes a response with the headers from middleware and its own, which take precedence. */
export function respond(
  c: Context,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null,
  status: number,
  headers: Headers,
): Response {
  const carried: Headers = c.get('headers');
  const response = new Response(body, { status, headers: { ...carried, ...headers } });
  c.set('responded', response);
  return response;
}
