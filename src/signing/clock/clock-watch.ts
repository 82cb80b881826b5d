import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Logger } from 'pino';
import { MINUTE, SECOND } from '../../proof/time.ts';
import type { Settings } from '../../server/env.ts';
import { parseAddress } from '../../shared/storage/address.ts';
import { poll } from '../../shared/workers/poll.ts';
import { ownPolicy } from '../log/log-publication.ts';
import { serversOf } from '../log/log-witnesses.ts';
import type { ClockFault, ClockGuard, OutsideTime } from './clock-guard.ts';

/**
 * Asks other machines for the time, with a precision of seconds, in ms; null when one does not answer. Never rejects.
 */

/** The date in the greeting of some mail servers, in the format of mail headers (RFC 5322, section 3.3). */
const MAIL_DATE = /[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}/;
/** The longest greeting to read, in bytes; RFC 5321 allows 512. */
const GREETING_MAX = 4_096;
const SMTP_PORT = 25;
const SMTPS_PORT = 465;

/**
 * The `Date` of a web server's response, with any status. Adds `Age` (RFC 9111), the time that the response spent in a
 * cache.
 */
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

/** How long a start waits for other machines' answers, in ms. */
const SOURCES_WAIT = 2 * SECOND;

/** Asks the machines named in the settings for the time: object storage, witnesses, and the mail server. */
export async function askOutside(settings: Settings, now: () => number, wait = SOURCES_WAIT): Promise<OutsideTime[]> {
  const { publishUrl, leaseUrl, smtpUrl, objectStorage } = settings;
  const endpoints = [publishUrl, leaseUrl].flatMap((url) => {
    const address = url === null ? null : parseAddress(url, objectStorage);
    return address === null || typeof address === 'string' || address.kind !== 's3' ? [] : [address.endpoint];
  });
  const witnesses = serversOf(ownPolicy(settings) ?? { witnesses: [], logs: [], groups: [], quorum: null });
  const signal = AbortSignal.timeout(wait);
  const ask = async (name: string, address: string, timeOf = timeOfWebServer): Promise<OutsideTime[]> => {
    const [sent, time] = [now(), await timeOf(address, signal)];
    // The clock may be set while we wait, so the reading from before is compared.
    return time === null ? [] : [{ name: `${name} (${new Date(time).toISOString()})`, ahead: sent - time }];
  };
  const mail =
    smtpUrl === undefined ? [] : [ask(`the mail server ${new URL(smtpUrl).host}`, smtpUrl, timeOfMailServer)];
  const answers = await Promise.all([
    ...Array.from(new Set(endpoints), (endpoint) => ask(`the object storage at ${endpoint}`, endpoint)),
    ...witnesses.map(({ address }) => ask(`the witness at ${address}`, address)),
    ...mail,
  ]);
  return answers.flat();
}

/** How often the clock is checked, in ms. */
const LOOK_EVERY = SECOND;
/** How often other machines are asked while the clock is wrong, or until one answers, in ms of a monotonic clock. */
const ASK_EVERY = MINUTE;

interface Parts {
  guard: ClockGuard;
  ask(): Promise<OutsideTime[]>;
  /** Called when the clock is right again. */
  onRight(): unknown;
  logger: Logger;
}

/**
 * Reports to the log, and to the commands on this machine, when the clock becomes wrong and when it is right again.
 * Returns a function that stops it.
 */
export function watchClock({ guard, ask, onRight, logger }: Parts): () => Promise<void> {
  let reported: ClockFault | null = null;
  let askedAt = performance.now();
  const look = async (): Promise<number> => {
    guard.lookAgain();
    let fault = guard.fault();
    const isAsked = fault === null ? !guard.hasHeard : fault.kind === 'jumped' || fault.kind === 'contradicted';
    if (isAsked && performance.now() - askedAt >= ASK_EVERY) {
      guard.hear(await ask());
      askedAt = performance.now();
      fault = guard.fault();
    }
    if (fault !== null && fault.kind !== reported?.kind) {
      logger.error({ clock: fault.kind, reason: fault.message }, 'nothing is signed: the clock is wrong');
    }
    if (fault === null && reported !== null) {
      onRight();
      logger.info('the clock is right again: signing goes on');
    }
    if (fault !== null || reported !== null) guard.tell(fault);
    reported = fault;
    return LOOK_EVERY;
  };
  const stop = poll(look, { job: 'clock watch', logger, failed: 'the clock could not be checked; it is tried again' });
  return async () => {
    await stop();
    if (reported !== null) guard.tell(null);
  };
}
