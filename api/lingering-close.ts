import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Up to which length a body is on its way as a whole when its head is read, in bytes: it is soon through. */
const SHORT = 64 * 1024;
/** How long who was answered early may send nothing before the connection is cut, in ms. */
const QUIET = 5_000;
/** How long such a caller may go on sending, in ms. */
const WHOLE = 30_000;

/**
 * Ends the connection after an answer that came before the whole of its body: in
 * stages (RFC 9112, section 9.6), so that a caller who is still sending gets to
 * read the answer. Cut at once, with bytes unread, the connection would be reset,
 * and the answer lost. To be called before the head is sent.
 */
export function closeInStages(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.setHeader('Connection', 'close');
  const { socket } = incoming;
  let isClosing = false;
  // How Node ends a connection after its last answer.
  socket.destroySoon = () => {
    if (isClosing) return;
    isClosing = true;
    // Who read the body would hold the rest back.
    incoming.removeAllListeners('data');
    incoming.resume();
    endInStages(socket);
  };
}

/** Sends no more, and cuts the connection once the caller has closed it, falls quiet, or goes on for too long. */
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

/** Whether much of a body may be to come yet. */
export function isLong({ complete, headers }: IncomingMessage): boolean {
  return !complete && !(Number(headers['content-length']) <= SHORT);
}

/** Whether the caller has been told that the connection closes: what it sends now is ignored. */
export function isClosing({ socket }: IncomingMessage): boolean {
  return socket.writableEnded;
}
