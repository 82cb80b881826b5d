import { createMiddleware } from 'hono/factory';
import { parseHostname } from '../../src/records/hostname.ts';
import { otherNode, otherNodeOf } from '../../src/records/nodes.ts';
import type { AppContext } from '../../src/server/context.ts';
import { caught, Fault } from '../../src/shared/fault.ts';
import type { RecordsEnv } from '../env.ts';
import { sendFault } from '../middleware/fault.ts';
import { setHeader } from '../responses/headers.ts';

/** Addresses about one hostname, without their endings. An account's own pages are on the node of the account. */
const ABOUT_ONE = /^\/(?:v1\/(?:exports\/)?domains|t|badge)\/([^/]+)/;
/** Addresses that take a hostname in `domain`. */
const FILTERED = new Set(['/v1/changes', '/v1/stream', '/v1/exports/changes.csv']);
const ENDING = /\.(?:csv|svg|json)$/i;

/** Refers reads about a hostname of another node there, before anything is metered; other methods are refused. */
export function referToNode(app: AppContext) {
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    const [, encoded] = ABOUT_ONE.exec(pathname) ?? [];
    const text =
      encoded === undefined ? (FILTERED.has(pathname) ? c.req.query('domain') : undefined) : decoded(encoded);
    // The route itself rejects invalid hostnames.
    const name = text === undefined ? null : caught(Fault, () => parseHostname(text.replace(ENDING, '')));
    const node = name === null || name instanceof Fault ? null : otherNodeOf(app, name);
    if (name === null || name instanceof Fault || node === null) return next();
    const { code, message, details } = otherNode(name, node);
    if (!['GET', 'HEAD'].includes(c.req.method)) throw otherNode(name, node);
    setHeader(c, 'Location', `${node.url}${pathname}${search}`);
    return sendFault(c, { status: 307, body: { error: code, message, ...details } });
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
