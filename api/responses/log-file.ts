import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'hono';
import { Fault } from '../../src/fault.ts';
import { everywhere } from '../../src/press/feeds/header-policy.ts';
import type { LogText } from '../../src/transparency/log-paths.ts';
import { isLogPath, isLogText } from '../../src/transparency/log-paths.ts';
import { setHeader } from './headers.ts';
import { sendFile } from './send-file.ts';

/** For how many seconds caches may keep each text. */
const TEXT_AGE: Record<LogText, number> = { checkpoint: 5, policy: 60, vkey: 60 };

/** Tiles are addressed by size, so a path never gets other bytes. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Headers of every response: monitors and verifiers on other origins read them. */
const OPEN_LOG = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' };

/**
 * Sends a file of a log's tree (C2SP tlog-tiles), with `policy` and `vkey` beside them. `folder` is the log's folder,
 * `path` relative to it, `root` the address of the host. Throws `not_found`.
 */
export async function sendLogFile(
  c: Context,
  { folder, path, root }: { folder: string; path: string; root: string },
): Promise<Response> {
  for (const [name, value] of Object.entries(OPEN_LOG)) setHeader(c, name, value);
  if (!isLogPath(path)) throw notFound('this is not the address of a part of the log; read checkpoint, then tile/…');
  const file = join(folder, path);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw notFound(
      isLogText(path)
        ? `this log has no ${path} yet; it is written when the server has signed the first leaf`
        : `this log has no ${path}; its checkpoint says how many leaves it has`,
    );
  }
  const age = isLogText(path) ? TEXT_AGE[path] : undefined;
  return sendFile(c, {
    file,
    status: 200,
    headers: {
      ...everywhere({ root, embed_scripts: [] }),
      'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Content-Type': age === undefined ? 'application/octet-stream' : 'text/plain; charset=utf-8',
      'Cache-Control': age === undefined ? IMMUTABLE : `public, max-age=${age}`,
    },
  });
}

function notFound(message: string): Fault {
  return new Fault('not_found', message);
}
