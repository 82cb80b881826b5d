import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { createTransport, Transporter } from 'nodemailer';
import { MINUTE } from '../../proof/time.ts';
import type { Settings } from '../../server/env.ts';
import { Fault, messageOf } from '../fault.ts';
import type { Mailer } from '../outbound/mail.ts';

/** Maximum number of concurrent connections to the mail server. */
export const CONNECTIONS = 5;
/** Timeouts, in ms: for connecting, for the greeting, and for inactivity after that. */
const CONNECT_TIMEOUT = 20_000;
const GREETING_TIMEOUT = 20_000;
const SILENCE = MINUTE;
/** The timeout of a whole mail, in ms: a server that drips bytes never triggers the inactivity timeout. */
const DEADLINE = 5 * MINUTE;

/**
 * The headers that a DKIM signature covers, beyond the recommendations of RFC 6376 (section 5.4.1): RFC 8058 (section
 * 4) requires both headers of one-click unsubscribing.
 */
const SIGNED = [
  'From:Reply-To:Subject:Date:Message-ID:To:MIME-Version:Content-Type:Content-Transfer-Encoding',
  'Auto-Submitted:List-Id:List-Unsubscribe:List-Unsubscribe-Post',
].join(':');

/** The settings of the mail server. */
export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with a user and a password if the server needs them. */
  url: string;
  /** The sender address. */
  from: string;
  dkim: { selector: string; keyFile: string } | null;
  /** Inactivity timeout, in ms. */
  silence?: number;
}

export interface SmtpMailer extends Mailer {
  /** Connects and signs in without sending anything. Rejects with the problem. */
  verify(): Promise<void>;
  /** Closes idle connections. A later mail opens others. */
  close(): void;
  /** Also aborts the mails in progress. They fail, and are sent again later. */
  breakOff(): void;
}

/** The mail server of the settings; null when none is configured. Throws as `smtpMailer` does. */
export function smtpOf({ smtpUrl, mailFrom, dkim }: Settings): SmtpMailer | null {
  return smtpUrl === undefined || mailFrom === undefined ? null : smtpMailer({ url: smtpUrl, from: mailFrom, dkim });
}

/**
 * Sends over SMTP on a small connection pool. Verifies certificates, and sends passwords only over TLS. Throws
 * `unavailable` when the DKIM key cannot be used, because unsigned mails would go unnoticed.
 */
export function smtpMailer({ url, from, dkim, silence = SILENCE }: SmtpSettings): SmtpMailer {
  const { protocol, username } = new URL(url);
  const options = {
    pool: true,
    url,
    maxConnections: CONNECTIONS,
    // This program, not the library, retries a mail whose connection broke.
    maxRequeues: 0,
    requireTLS: protocol === 'smtp:' && username !== '',
    connectionTimeout: CONNECT_TIMEOUT,
    greetingTimeout: GREETING_TIMEOUT,
    socketTimeout: silence,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null ? {} : { dkim: signing(dkim, from) }),
  } as Parameters<typeof createTransport>[0];
  // A server loads its mailer with its first mail.
  let opened: Promise<Transporter> | null = null;
  const open = () => {
    opened ??= import('nodemailer').then((mailer) => mailer.createTransport(options));
    return opened;
  };
  return {
    async send({ to, from: sender, ...mail }) {
      const transport = await open();
      await transport.sendMail({
        ...mail,
        from: { name: sender.name, address: from },
        to: { name: '', address: to },
        envelope: { from, to: [to] },
        signal: AbortSignal.timeout(DEADLINE),
      } as Parameters<typeof transport.sendMail>[0]);
    },
    async verify() {
      await (await open()).verify();
    },
    close() {
      void opened?.then((transport) => transport.close());
      opened = null;
    },
    // The library supports this option, but its types omit it.
    breakOff: () =>
      void opened?.then((transport) => (transport.close as (options: { force: boolean }) => void)({ force: true })),
  };
}

function signing({ selector, keyFile }: { selector: string; keyFile: string }, from: string) {
  let pem: string;
  try {
    pem = readFileSync(keyFile, 'utf8');
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'rsa') throw new Error(`it is an ${key.asymmetricKeyType} key and not an RSA one`);
  } catch (error) {
    throw new Fault('unavailable', `DKIM_KEY_FILE=${keyFile} cannot be used: ${messageOf(error)}`);
  }
  const domainName = from.slice(from.lastIndexOf('@') + 1);
  return { domainName, keySelector: selector, privateKey: pem, headerFieldNames: SIGNED };
}
