import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Email } from 'postal-mime';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail that the server accepted. */
export interface Taken {
  from: string;
  to: string[];
  raw: Buffer;
  secure: boolean;
  user: string | undefined;
}

export interface SmtpStand {
  port: number;
  /** The accepted mails, in order. */
  taken: Taken[];
  /** The number of connections. */
  connections(): number;
  /** Breaks every open connection. */
  breakAll(): void;
  close(): Promise<void>;
}

/** An error with a reply code, for smtp-server. */
export function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

export interface Certificate {
  key: Buffer;
  cert: Buffer;
  certFile: string;
}

/** A self-signed certificate for 127.0.0.1 and localhost. */
export function certificateIn(folder: string): Certificate {
  mkdirSync(folder, { recursive: true });
  const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-keyout', key, '-out', cert],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(key), cert: readFileSync(cert), certFile: cert };
}

interface Ending {
  after(work: () => unknown): void;
}

/** A mail server on a free loopback port that stores what it accepts. It is closed when the test ends. */
export async function smtpServer(t: Ending, more: SMTPServerOptions = {}): Promise<SmtpStand> {
  const taken: Taken[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 200,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        taken.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks),
          secure: session.secure,
          user: session.user,
        });
        done();
      });
    },
    ...more,
  });
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      breakAll();
    });
  t.after(close);
  return { port, taken, connections: () => connections, breakAll, close };
}

/** Parses a mail with a parser that the program does not use. */
export function parsed({ raw }: Pick<Taken, 'raw'>): Promise<Email> {
  return PostalMime.parse(raw);
}
