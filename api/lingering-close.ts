import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bodies up to this length, in bytes, are already on their way when the headers are read, and arrive soon. */
const SHORT = 64 * 1024;
/** How long a caller that was answered early may stay silent before its connection is cut, in ms. */
const QUIET = 5_000;
/** How long such a caller may keep sending, in ms. */
const WHOLE = 30_000;

/**
 * Closes the connection after a response that was sent before its body was read completely. It closes in stages (RFC
 * 9112, section 9.6), so that a caller that is still sending can read the response: cutting the connection with unread
 * bytes would reset it and lose the response. Call it before the headers are sent.
 */
export function closeInStages(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.setHeader('Connection', 'close');
  const { socket } = incoming;
  let isClosing = false;
  // Node calls this to end a connection after its last response.
  socket.destroySoon = () => {
    if (isClosing) return;
    isClosing = true;
    // A consumer of the body would hold back the rest.
    incoming.removeAllListeners('data');
    incoming.resume();
    endInStages(socket);
  };
}

/** Ends the sending side, and cuts the connection once the caller closes it, falls silent, or sends for too long. */
export function endInStages(socket: Socket): void {
  socket.end();
  let read = socket.bytesRead;
  const quiet = setInterval(() => {
    if (socket.bytesRead === read) socket.destroy();
    read = socket.bytesRead;
  }, QUIET);
  const whole = setTimeout(() => socket.destroy(), WHOLE);
  socket.once('close', () => {
    clearInterval(quiet);
    clearTimeout(whole);
  });
}

/** Whether a large part of the body may still be on its way. */
export function isLong({ complete, headers }: IncomingMessage): boolean {
  return !complete && !(Number(headers['content-length']) <= SHORT);
}

/** Whether a response announced that the connection closes. Anything that it sends now is ignored. */
export function isClosing({ socket }: IncomingMessage): boolean {
  return socket.writableEnded;
}
