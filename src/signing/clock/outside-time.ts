import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SECOND } from '../../proof/time.ts';

/** Asks other machines for the time, to the second, in ms; null when one does not answer. Never rejects. */

/** The date in the greeting of some mail servers, as in a header of a mail (RFC 5322, section 3.3). */
const MAIL_DATE = /[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}/;
/** A greeting may be this long, in bytes; RFC 5321 allows 512. */
const GREETING_MAX = 4_096;
const SMTP_PORT = 25;
const SMTPS_PORT = 465;

/** The `Date` of a web server's answer, whatever it answers. `Age` (RFC 9111) is what a cache adds to it. */
export async function timeOfWebServer(address: string, signal: AbortSignal): Promise<number | null> {
  try {
    const { headers } = await fetch(address, { method: 'HEAD', redirect: 'manual', cache: 'no-store', signal });
    const date = Date.parse(headers.get('date') ?? '');
    const age = Number(headers.get('age') ?? 0);
    return Number.isNaN(date) || !(age >= 0) ? null : date + age * SECOND;
  } catch {
    return null;
  }
}

/** The date in a mail server's greeting. */
export async function timeOfMailServer(address: string, signal: AbortSignal): Promise<number | null> {
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'smtps:';
  const target = { host, port: Number(port || (isTls ? SMTPS_PORT : SMTP_PORT)) };
  const socket = isTls ? connectTls({ ...target, servername: host }) : connect(target);
  socket.setEncoding('latin1').on('error', () => {});
  const end = () => socket.destroy();
  signal.addEventListener('abort', end);
  try {
    let said = '';
    while (!said.includes('\n') && said.length < GREETING_MAX && !signal.aborted) {
      const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
      if (typeof chunk !== 'string') break;
      said += chunk;
    }
    const date = Date.parse(MAIL_DATE.exec(said)?.[0] ?? '');
    return Number.isNaN(date) ? null : date;
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', end);
    socket.end('QUIT\r\n');
    socket.destroySoon();
  }
}
