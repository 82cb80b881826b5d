import { randomUUID } from 'node:crypto';
import { type IncomingMessage, maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { endInStages } from './lingering-close.ts';

/** Responses by Node's error code; 400 for all others. */
const ANSWERS: Record<string, readonly [status: number, error: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'headers_too_large',
    `the address and headers of the request are larger than ${maxHeaderSize} bytes (${maxHeaderSize / 1024} KiB); send shorter ones, or fewer`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    413,
    'too_large',
    'the extensions of the body’s chunks are too large; send the body without them',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'the request did not come in time; send it again'],
};
const NO_HTTP = [400, 'invalid_request', 'this is not a well-formed request of HTTP/1.1; correct it'] as const;

/**
 * Answers requests that Node cannot parse like every other error. Node would cut off callers that are still sending.
 */
export function answerMalformed(server: Server): void {
  const newest = new WeakMap<Socket, [IncomingMessage, ServerResponse]>();
  const answered = new WeakSet<Socket>();
  server.prependListener('request', (incoming, outgoing) => newest.set(incoming.socket, [incoming, outgoing]));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Bytes after that response are not a request either.
    if (answered.has(socket)) return;
    answered.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    const [incoming, outgoing] = newest.get(socket) ?? [];
    if (incoming === undefined || outgoing === undefined || outgoing.writableFinished) return respond(socket, error);
    // The response to the previous request comes first.
    if (incoming.complete) outgoing.once('close', () => respond(socket, error));
    else if (outgoing.headersSent) socket.destroy();
    else respond(socket, error);
  });
}

function respond(socket: Socket, { code = '' }: NodeJS.ErrnoException): void {
  if (!socket.writable) return void socket.destroy();
  const [status, error, message] = ANSWERS[code] ?? NO_HTTP;
  const body = JSON.stringify({ error, message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  endInStages(socket);
}
