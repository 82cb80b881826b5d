import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import compression from 'compression';
import fresh from 'fresh';
import type { Context } from 'hono';
import { contentType } from 'mime-types';
import parseRange from 'range-parser';
import { codeOf, Fault } from '../../src/shared/fault.ts';
import type { Headers } from './headers.ts';

/** A file to send, with its status and headers. Its content is read from disk unless it is given. */
export interface Sending {
  file: string;
  content?: FileContent;
  status: number;
  headers: Record<string, string>;
}

/** The content of a file that a process keeps in memory. */
export interface FileContent {
  bytes: Uint8Array;
  mtime: Date;
}

/** Compresses with Brotli or gzip when it pays. Ranges are sent uncompressed. */
const compress = compression({
  filter: (request, response) => !response.hasHeader('Content-Range') && compression.filter(request, response),
});

/**
 * Sends a file on Node's own response, with support for conditional requests, ranges and HEAD. The file is opened once,
 * so that a press that replaces it meanwhile does not affect this response. Throws `not_found` when the file is gone.
 */
export async function sendFile(c: Context, sending: Sending): Promise<Response> {
  const { incoming, outgoing }: HttpBindings = c.env;
  if (!(await isTurn({ incoming, outgoing }))) return RESPONSE_ALREADY_SENT;
  const source = sending.content === undefined ? await fileSource(sending.file) : memorySource(sending.content);
  try {
    const { size, mtime } = source;
    const type = contentType(basename(sending.file)) || 'application/octet-stream';
    const carried: Headers = c.get('headers');
    for (const [name, value] of Object.entries({ ...carried, 'Content-Type': type, ...sending.headers }))
      outgoing.setHeader(name, value);
    const strong = `"${size.toString(16)}-${source.mtimeMs.toString(16)}"`;
    // Express's types are wider than what compression uses: Node's own request and response.
    const isCompressed = !compression.filter(incoming as never, outgoing as never);
    outgoing.setHeader('ETag', isCompressed ? strong : `W/${strong}`);
    outgoing.setHeader('Last-Modified', mtime.toUTCString());
    if (!isCompressed) outgoing.appendHeader('Vary', 'Accept-Encoding');
    outgoing.statusCode = sending.status;
    // Error pages are always sent whole.
    const part = sending.status === 200 ? asked({ incoming, outgoing }, size) : { start: 0, end: size - 1 };
    if (part !== null) outgoing.setHeader('Content-Length', part.end - part.start + 1);
    // Compresses HEAD like GET, so that the headers are the same. Node omits the body.
    const request = { method: 'GET', headers: incoming.headers };
    await new Promise<void>((resolve) => compress(request as never, outgoing as never, () => resolve()));
    if (part === null || part.end < part.start || incoming.method === 'HEAD') outgoing.end();
    else await pipeline(source.read(part), outgoing).catch(leave);
  } finally {
    await source.close();
  }
  return RESPONSE_ALREADY_SENT;
}

interface Part {
  start: number;
  end: number;
}

/** Bytes with the metadata of a file. */
interface Source {
  size: number;
  mtime: Date;
  mtimeMs: number;
  read(part: Part): Readable;
  close(): Promise<void>;
}

async function fileSource(file: string): Promise<Source> {
  const handle = await opened(file);
  const { size, mtime, mtimeMs } = await handle.stat();
  return {
    ...{ size, mtime, mtimeMs },
    read: (part) => handle.createReadStream({ autoClose: false, ...part }),
    close: () => handle.close(),
  };
}

function memorySource({ bytes, mtime }: FileContent): Source {
  return {
    ...{ size: bytes.length, mtime, mtimeMs: mtime.getTime() },
    read: ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)]),
    close: async () => {},
  };
}

/** Waits for the turn of a pipelined request; false when the connection closed. Bounds the open files of a client. */
function isTurn({ incoming, outgoing }: HttpBindings): Promise<boolean> | boolean {
  if (outgoing.socket !== null) return true;
  if (incoming.socket.destroyed) return false;
  return new Promise((resolve) => {
    outgoing.once('socket', () => resolve(true));
    incoming.once('close', () => resolve(outgoing.socket !== null));
  });
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw new Fault('not_found', 'there is nothing at this address any more');
    if (code !== 'EMFILE' && code !== 'ENFILE') throw error;
    throw new Fault('unavailable', `no more files may be open (${code}); raise the limit of open files, ulimit -n`);
  }
}

/** The requested part of the file; sets the status (RFC 9110, sections 13 and 14). Null when there is no body. */
function asked({ incoming, outgoing }: HttpBindings, size: number): Part | null {
  const { headers, method } = incoming;
  const [etag, modified] = [String(outgoing.getHeader('ETag')), String(outgoing.getHeader('Last-Modified'))];
  if (fresh(headers, { etag, 'last-modified': modified })) {
    outgoing.statusCode = 304;
    outgoing.removeHeader('Content-Type');
    return null;
  }
  outgoing.setHeader('Accept-Ranges', 'bytes');
  const whole = { start: 0, end: size - 1 };
  if (headers.range === undefined || method !== 'GET' || !mayContinue(headers['if-range'], etag, modified))
    return whole;
  const ranges = parseRange(size, shortened(headers.range, size), { combine: true });
  if (ranges === -1) {
    outgoing.statusCode = 416;
    outgoing.setHeader('Content-Range', `bytes */${size}`);
    outgoing.setHeader('Content-Length', 0);
    for (const name of ['Content-Type', 'ETag', 'Last-Modified', 'Cache-Control']) outgoing.removeHeader(name);
    return null;
  }
  // Several ranges, or a unit other than bytes: the whole file is a valid response.
  const range = ranges === -2 || ranges.length !== 1 || ranges.type !== 'bytes' ? undefined : ranges[0];
  if (range === undefined) return whole;
  outgoing.statusCode = 206;
  outgoing.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
  return range;
}

/** A suffix longer than the file means the whole file (RFC 9110, section 14.1.3); range-parser would reject it. */
function shortened(range: string, size: number): string {
  const suffix = /^bytes=-(\d+)$/.exec(range)?.[1];
  return suffix !== undefined && Number(suffix) > size ? 'bytes=0-' : range;
}

/** If-Range continues only identical bytes: those with the same strong ETag, or the exact date. */
function mayContinue(ifRange: string | string[] | undefined, etag: string, modified: string): boolean {
  return ifRange === undefined || ifRange === modified || (ifRange === etag && !etag.startsWith('W/'));
}

/** Error codes of a pipeline whose reader left, before the first byte or after. */
const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE']);

/** Ignores readers that disconnect. */
function leave(error: NodeJS.ErrnoException): void {
  if (!GONE.has(error.code ?? '')) throw error;
}
