import { everywhere } from '../../desk/press/feeds/headers.ts';
import { isLogText, type LogText } from '../../shared/transparency/log-paths.ts';

/** For how many seconds caches may keep each text. */
const TEXT_AGE: Record<LogText, number> = { checkpoint: 5, policy: 60, vkey: 60 };

/** Tiles are addressed by size, so a path never gets other bytes. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Headers of every address of a log: monitors and verifiers on other origins read them. */
export const OPEN_LOG = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' };

/** The headers of a file of a log, except those for other origins; `root` is the address of the host. */
export function logFileHeaders(path: string, root: string): Record<string, string> {
  const age = isLogText(path) ? TEXT_AGE[path] : undefined;
  return {
    ...everywhere({ root, embed_scripts: [] }),
    'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Content-Type': age === undefined ? 'application/octet-stream' : 'text/plain; charset=utf-8',
    'Cache-Control': age === undefined ? IMMUTABLE : `public, max-age=${age}`,
  };
}
