import { createMiddleware } from 'hono/factory';
import { Fault } from '../../src/fault.ts';

/** Throws `invalid_request` for a query that is not percent-encoded UTF-8: parsing would corrupt it. */
export const requireUtf8Query = createMiddleware((c, next) => {
  const { url } = c.req;
  const start = url.indexOf('?');
  if (start !== -1 && url.includes('%', start)) {
    for (const pair of url.slice(start + 1).split('&')) needDecodable(pair);
  }
  return next();
});

function needDecodable(pair: string): void {
  try {
    decodeURIComponent(pair);
  } catch {
    const [field = ''] = pair.split('=');
    throw new Fault(
      'invalid_request',
      `${JSON.stringify(pair.slice(0, 100))} in the query is not percent-encoded UTF-8; encode it so`,
      { field: field.slice(0, 100) },
    );
  }
}
