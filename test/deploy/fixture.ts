import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectHttp2, type IncomingHttpStatusHeader } from 'node:http2';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { endBeforeRemoval, envIn, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { type Serving, serve } from '../support/program.ts';
import { enterPapers, type Keys } from '../support/small-papers.ts';

export const DEPLOY = join(PROJECT, 'deploy');
/** Where Debian lists the modules of nginx. */
export const NGINX_MODULES = '/etc/nginx/modules-enabled';

/** The public hosts of the service behind a proxy. */
export const HOSTS = { desk: 'papers.example', records: 'records.example', paper: 'tides.example' };
/** A paper on the shared host, one with a domain of its own, and a private one. */
export const PAPERS = { shared: 'shoals', domain: 'tides', secret: 'quiet' };

export interface Stand {
  folder: string;
  /** The server behind the proxy. */
  serving: Serving;
  /** The ports where it listens. */
  ports: { desk: string; records: string };
  env: Record<string, string>;
  keys: Map<string, Keys>;
  /** The same database, opened by the test. */
  app: AppContext;
}

/** Serves papers and records on loopback under public https addresses, for a proxy in front. */
export async function openStand(t: TestContext, more: Record<string, string> = {}): Promise<Stand> {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: PAPERS.shared },
    { slug: PAPERS.domain, url: `https://${HOSTS.paper}` },
    { slug: PAPERS.secret, isPublic: false },
  ]);
  const ports = { desk: String(await freePort()), records: String(await freePort()) };
  const env = {
    ORIGIN: `https://${HOSTS.desk}`,
    DATA_ORIGIN: `https://${HOSTS.records}`,
    PORT: ports.desk,
    RECORDS_PORT: ports.records,
    TRUSTED_PROXIES: '127.0.0.1',
    ...more,
  };
  const serving = await serve(t, folder, env);
  const app = openAppContext(readSettings(envIn(folder, env)));
  endBeforeRemoval(folder, async () => app.close());
  return { folder, serving, ports, env, keys, app };
}

/** Starts a program in a folder and waits until it listens on a port. It is ended when the test ends. */
export async function startProgram(
  t: TestContext,
  folder: string,
  { program, args, port, env = {} }: { program: string; args: string[]; port: number; env?: Record<string, string> },
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(child, 'close');
  const end = async () => {
    child.kill();
    await ended;
  };
  endBeforeRemoval(folder, end);
  t.after(end);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`);
    const socket = createConnection(port, '127.0.0.1');
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
    await sleep(20);
  }
}

/** Writes what Debian's nginx.conf would say around ours, confined to a folder; returns the arguments of nginx. */
export function nginxMain(folder: string, ours: string): string[] {
  const hasModules = existsSync(NGINX_MODULES);
  // Debian's list of modules is relative to the prefix.
  if (hasModules) symlinkSync('/usr/lib/nginx/modules', join(folder, 'modules'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/temp-${name};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `${hasModules ? `include ${NGINX_MODULES}/*.conf;` : ''}
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
events {}
http {
include /etc/nginx/mime.types;
access_log off;
${paths.join('\n')}
${ours}
}
`,
  );
  return ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;'];
}

/** A response over TLS. */
export interface Got {
  status: number;
  headers: IncomingHttpHeaders & IncomingHttpStatusHeader;
  body: Buffer;
  /** The protocol that was agreed on. */
  protocol: string | false | null;
}

export interface Wish {
  host: string;
  path: string;
  headers?: Record<string, string>;
  method?: string;
  body?: Buffer;
  /** The caller's own address. */
  from?: string;
  /** Gets the response as it comes; the connection is closed when this returns true. */
  enough?: (text: string) => boolean;
}

/**
 * Sends one request over HTTP/2 to a port of this machine, as if it were `host`, whose certificate `ca` vouches for.
 */
export function askSecurely(
  { port, ca }: { port: number; ca: string },
  { host, path, headers = {}, method = 'GET', body, from, enough }: Wish,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host: '127.0.0.1',
      port,
      servername: host,
      ca,
      ALPNProtocols: ['h2', 'http/1.1'],
      ...(from === undefined ? {} : { localAddress: from }),
    });
    socket.once('error', reject);
    const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
    session.once('error', reject);
    const request = session.request(
      { ...headers, ':path': path, ':method': method },
      { endStream: body === undefined },
    );
    const chunks: Buffer[] = [];
    let got: Got['headers'] = {};
    const done = () => {
      const answer = { status: got[':status'] ?? 0, headers: got, body: Buffer.concat(chunks) };
      resolve({ ...answer, protocol: socket.alpnProtocol });
      session.destroy();
    };
    request.once('response', (received) => {
      got = received;
    });
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (enough?.(Buffer.concat(chunks).toString())) done();
    });
    request.once('error', reject);
    // A server that answers a body early resets the rest of it.
    request.once('end', done);
    if (body !== undefined) request.end(body);
  });
}
