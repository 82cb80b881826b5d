import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import type { Settings } from '../env.ts';
import { Fault, messageOf } from '../fault.ts';
import type { Mailer } from '../outbound/mail.ts';
import { MINUTE } from '../time.ts';

/** The most concurrent connections to the mail server. */
export const CONNECTIONS = 5;
/** Timeouts, in ms: for connecting, for the greeting, and for silence after that. */
const CONNECT_TIMEOUT = 20_000;
const GREETING_TIMEOUT = 20_000;
const SILENCE = MINUTE;
/** The timeout of a whole mail, in ms: a server that drips bytes is never silent. */
const DEADLINE = 5 * MINUTE;

/**
 * What a DKIM signature covers, beyond what RFC 6376 (section 5.4.1) recommends:
 * RFC 8058 (section 4) wants both headers of the one-click unsubscribing in it.
 */
const SIGNED = [
  'From:Reply-To:Subject:Date:Message-ID:To:MIME-Version:Content-Type:Content-Transfer-Encoding',
  'Auto-Submitted:List-Id:List-Unsubscribe:List-Unsubscribe-Post',
].join(':');

/** The settings of the mail server. */
export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with a user and a password if the server needs them. */
  url: string;
  /** The address that mails come from. */
  from: string;
  dkim: { selector: string; keyFile: string } | null;
  /** How long the server may keep silent, in ms. */
  silence?: number;
}

export interface SmtpMailer extends Mailer {
  /** Connects and signs in, and sends nothing. Rejects with what is wrong. */
  verify(): Promise<void>;
  /** Closes the connections that rest. */
  close(): void;
  /** Breaks off what is under way as well: those mails fail, and are sent again. */
  breakOff(): void;
}

/** The mail server of the settings, or null where none is set. Throws as `smtpMailer` does. */
export function smtpOf({ smtpUrl, mailFrom, dkim }: Settings): SmtpMailer | null {
  return smtpUrl === undefined || mailFrom === undefined ? null : smtpMailer({ url: smtpUrl, from: mailFrom, dkim });
}

/**
 * Sends over SMTP, on a pool of a few connections. Certificates are verified, and a password is sent over TLS only.
 * Throws `unavailable` when the DKIM key cannot be used, because unsigned mails would go unnoticed.
 */
export function smtpMailer({ url, from, dkim, silence = SILENCE }: SmtpSettings): SmtpMailer {
  const { protocol, username } = new URL(url);
  const transport = createTransport({
    pool: true,
    url,
    maxConnections: CONNECTIONS,
    // This program retries a mail whose connection broke, not the library.
    maxRequeues: 0,
    requireTLS: protocol === 'smtp:' && username !== '',
    connectionTimeout: CONNECT_TIMEOUT,
    greetingTimeout: GREETING_TIMEOUT,
    socketTimeout: silence,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null ? {} : { dkim: signing(dkim, from) }),
  } as Parameters<typeof createTransport>[0]);
  return {
    async send({ to, from: sender, ...mail }) {
      await transport.sendMail({
        ...mail,
        from: { name: sender.name, address: from },
        to: { name: '', address: to },
        envelope: { from, to: [to] },
        signal: AbortSignal.timeout(DEADLINE),
      } as Parameters<typeof transport.sendMail>[0]);
    },
    async verify() {
      await transport.verify();
    },
    close: () => transport.close(),
    // The library knows the option; its types do not.
    breakOff: () => (transport.close as (options: { force: boolean }) => void)({ force: true }),
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
