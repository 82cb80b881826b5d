import type { Context, MiddlewareHandler } from 'hono';

/** Headers by their names, each spelled in one way everywhere. */
export type Headers = Record<string, string>;

/** Node-server's mark of a response that a handler wrote to Node's own; that object is shared by all of them. */
const ALREADY_SENT = 'x-hono-already-sent';

/**
 * Carries the headers that middleware sets with `setHeader` to the response,
 * whichever handler makes it; to be the first middleware of a router. They are
 * a plain object until then: `respond` puts them into the response it makes,
 * and only a response made in another way has them added here, which costs it a
 * `Headers` object. What the response says itself comes first.
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

/** Sets a header of the response, before or after it is made. A response that is on its way is left as it is. */
export function setHeader(c: Context, name: string, value: string): void {
  const carried: Headers = c.get('headers');
  carried[name] = value;
  if (c.finalized && !c.res.headers.has(ALREADY_SENT)) c.res.headers.set(name, value);
}

/** The `Vary` that middleware has set, with one name more. */
export function varyWith(c: Context, name: string): string {
  const { Vary }: Headers = c.get('headers');
  return Vary === undefined ? name : `${Vary}, ${name}`;
}

/** Makes a response with the headers that middleware has set and with its own, which come first. */
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
