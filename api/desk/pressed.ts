import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import compression from 'compression';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { HttpBindings } from '@hono/node-server';
import send from 'send';
import { cacheControl, contentType, securityHeaders } from '../../src/press/feeds/headers.ts';

/** A file of a folder, to be sent with the status that fits. */
export interface Sending {
  folder: string;
  /** Path in the folder, with its first slash, still encoded. */
  path: string;
  status: number;
  headers: Record<string, string>;
}

/** Brotli or gzip where it pays; part of a file is sent as it is. */
const compress = compression({
  filter: (request, response) => request.headers.range === undefined && compression.filter(request, response),
});

/** The headers of an address under a paper's root; the same that the paper's `_headers` lists. */
export function fileHeaders(path: string, root: string, embedScripts: readonly string[]): Record<string, string> {
  const type = contentType(path);
  return {
    ...securityHeaders(path, { root, embed_scripts: embedScripts }),
    'Cache-Control': cacheControl(path),
    ...(type === null ? {} : { 'Content-Type': type }),
  };
}

/** The file that an address names: itself, or its folder's index; null when there is neither. */
export function fileAt(folder: string, path: string): string | null {
  let plain: string;
  try {
    plain = decodeURIComponent(path);
  } catch {
    return null;
  }
  if (plain.includes('\0') || plain.split('/').some((part) => part === '..')) return null;
  const wanted = plain.endsWith('/') ? `${plain}index.html` : plain;
  const file = join(folder, wanted);
  return existsSync(file) && statSync(file).isFile() ? wanted : null;
}

/** Whether an address names a folder with an index, and lacks only its slash. */
export function isFolder(folder: string, path: string): boolean {
  return !path.endsWith('/') && fileAt(folder, `${path}/`) !== null;
}

/** Sends a file on Node's own response: conditional requests, ranges and HEAD are answered by `send`. */
export function sendFile({ incoming, outgoing }: HttpBindings, { folder, path, status, headers }: Sending): Promise<Response> {
  return new Promise((resolve, reject) => {
    outgoing.statusCode = status;
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    outgoing.once('close', () => resolve(RESPONSE_ALREADY_SENT));
    // Express's types are wider than what compression and send use: Node's own request and response.
    compress(incoming as never, outgoing as never, () => {
      send(incoming, path, { root: folder, dotfiles: 'allow', cacheControl: false, index: false })
        .on('error', reject)
        .pipe(outgoing);
    });
  });
}
