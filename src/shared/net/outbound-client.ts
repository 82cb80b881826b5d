import { promises as dns } from 'node:dns';
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import { isIP } from 'node:net';
import type { WebhookClient } from '../outbound/delivery.ts';
import { statusError } from '../outbound/retry.ts';
import { literalOf } from '../outbound/webhook-url.ts';
import { isPublicAddress } from '../public-address.ts';

/** The default timeout of a whole request, from name resolution to the last byte of the response, in ms. */
const DEADLINE = 10_000;
/** How much of a response is read by default, in bytes, and for how long, in ms: most callers need only the status. */
const ANSWER_MAX = 4_096;
const ANSWER_WAIT = 1_000;
/** The timeout of a name server, in ms, and the number of tries. */
const DNS_WAIT = 2_000;
const DNS_TRIES = 2;

export interface ClientOptions {
  /** The `User-Agent` header. */
  agent: string;
  /** Whether connecting to an IP address is allowed. */
  allows(address: string): boolean;
  /** Resolves a host to its addresses. Throws when there are none. */
  resolve(host: string): Promise<string[]>;
  /** The timeout of a whole request, in ms. */
  deadline?: number;
  /** How much of a response is read, in bytes, and for how long, in ms; the deadline ends it in any case. */
  answerMax?: number;
  answerWait?: number;
  /** Whether what was read of a body that was cut off is returned. */
  keepsCut?: boolean;
  /** The port to connect to, whatever the address says. */
  port?: number;
  /** CA certificates to trust instead of the default ones, in PEM. */
  ca?: string;
}

/** Options that limit the addresses that requests on behalf of third parties may reach. */
export function clientOptions(agent: string, allowsPrivate: boolean): ClientOptions {
  return allowsPrivate
    ? { agent, allows: () => true, resolve: resolveHere }
    : { agent, allows: isPublicAddress, resolve: resolvePublic };
}

/** A request to another host. */
export interface Outbound {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

/** The heads of the request and the response, as an archive stores them: in Latin-1, each with its empty line. */
export interface Exchange {
  request: string;
  response: string;
  /** The IP address that answered. */
  address: string | null;
}

/** The outcome of a request. */
export interface Inbound {
  ms: number;
  /** Null when no response came. */
  status: number | null;
  /** A word for the error; null for a status of 2xx. */
  error: string | null;
  contentType: string | null;
  /** The body if it is short and complete, or its beginning with `keepsCut`; otherwise null, and `cut` says why. */
  bytes: Buffer | null;
  /** The same as text. */
  text: string | null;
  /** Where a redirect leads, as the response says it. */
  location: string | null;
  cut: 'too_long' | 'timeout' | 'closed' | null;
  /** Null when no response came. */
  exchange: Exchange | null;
}

/**
 * Sends requests to addresses that third parties supplied, without redirects, proxies or persistent connections.
 * Resolves a name once per request, and checks and connects to the same addresses, which defeats DNS rebinding. Never
 * rejects.
 */
export function outboundClient({
  agent,
  allows,
  resolve,
  deadline = DEADLINE,
  answerMax = ANSWER_MAX,
  answerWait = ANSWER_WAIT,
  keepsCut = false,
  port,
  ca,
}: ClientOptions): (address: string, request: Outbound) => Promise<Inbound> {
  const agents = { http: new Agent({ keepAlive: false }), https: new TlsAgent({ keepAlive: false }) };
  const lookup = ((host, options, callback) => {
    allowed(host, resolve, allows).then(
      (found) => {
        const [first = { address: '', family: 4 }] = found;
        if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  }) satisfies RequestOptions['lookup'];

  return (address, { method, headers = {}, body }) => {
    const began = performance.now();
    return new Promise((settle) => {
      // Once there is a status, it is the outcome, however the connection ends.
      let status: number | null = null;
      let contentType: string | null = null;
      let location: string | null = null;
      const chunks: Buffer[] = [];
      let cut: Inbound['cut'] = 'closed';
      let exchange: Exchange | null = null;
      const signal = AbortSignal.timeout(deadline);
      const done = (word: string) => {
        const bytes = cut === null || (keepsCut && status !== null) ? Buffer.concat(chunks) : null;
        settle({
          ms: performance.now() - began,
          status,
          error: status === null ? word : statusError(status),
          contentType,
          bytes,
          text: bytes?.toString() ?? null,
          location,
          cut: cut === 'closed' && signal.aborted ? 'timeout' : cut,
          exchange,
        });
      };
      const url = new URL(address);
      const literal = literalOf(url);
      if (literal !== null && !allows(literal)) return done('private_address');
      const isTls = url.protocol === 'https:';
      const sent = (isTls ? requestHttps : requestHttp)(url, {
        method,
        agent: isTls ? agents.https : agents.http,
        lookup,
        signal,
        headers: { Host: url.host, 'User-Agent': agent, ...headers },
        ...(port === undefined ? {} : { port }),
        ...(ca === undefined ? {} : { ca }),
      });
      sent.on('error', (error: NodeJS.ErrnoException) => done(wordOf(error)));
      sent.on('close', () => done('closed'));
      sent.on('response', (answer) => {
        status = answer.statusCode ?? null;
        contentType = answer.headers['content-type'] ?? null;
        location = answer.headers.location ?? null;
        exchange = exchangeOf(sent, answer);
        let read = 0;
        const stop = (why: Inbound['cut']) => {
          cut = why;
          sent.destroy();
        };
        const enough = setTimeout(() => stop('timeout'), answerWait);
        answer.on('data', (chunk: Buffer) => {
          read += chunk.length;
          if (read <= answerMax) chunks.push(chunk);
          else stop('too_long');
        });
        answer.on('end', () => {
          if (read <= answerMax) cut = null;
        });
        answer.on('error', () => {});
        answer.on('close', () => {
          clearTimeout(enough);
          done('closed');
        });
      });
      sent.end(body);
    });
  };
}

function exchangeOf(sent: ClientRequest, answer: IncomingMessage): Exchange {
  const asked = sent.getRawHeaderNames().map((name) => `${name}: ${sent.getHeader(name)}\r\n`);
  const said: string[] = [];
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const name = answer.rawHeaders[at] ?? '';
    // The body is stored without its transfer coding.
    const kept = name.toLowerCase() === 'transfer-encoding' ? `X-Archive-Orig-${name}` : name;
    said.push(`${kept}: ${answer.rawHeaders[at + 1]}\r\n`);
  }
  return {
    request: `${sent.method} ${sent.path} HTTP/1.1\r\n${asked.join('')}\r\n`,
    response: `HTTP/${answer.httpVersion} ${answer.statusCode} ${answer.statusMessage}\r\n${said.join('')}\r\n`,
    address: answer.socket.remoteAddress ?? null,
  };
}

/** The addresses of a host. Throws unless all of them are allowed. */
async function allowed(host: string, resolve: ClientOptions['resolve'], allows: ClientOptions['allows']) {
  const addresses = await resolve(host);
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
  if (!addresses.every(allows)) throw Object.assign(new Error('private address'), { code: PRIVATE });
  return addresses.map((address) => ({ address, family: isIP(address) }));
}

/** Resolves through DNS instead of the system resolver, whose few threads a slow name would block for others. */
async function resolvePublic(host: string): Promise<string[]> {
  const resolver = new dns.Resolver({ timeout: DNS_WAIT, tries: DNS_TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [four, six].flatMap((asked) => (asked.status === 'fulfilled' ? asked.value : []));
  if (found.length === 0 && four.status === 'rejected') throw four.reason;
  return found;
}

/** Resolves like the rest of the machine, because names of a private network may be in its hosts file. */
async function resolveHere(host: string): Promise<string[]> {
  return (await dns.lookup(host, { all: true })).map(({ address }) => address);
}

const PRIVATE = 'ERR_PRIVATE_ADDRESS';

/** Words for the system's error codes. They are listed and logged, so they reveal nothing else. */
const WORDS: readonly [RegExp, string][] = [
  [/^ERR_PRIVATE_ADDRESS$/, 'private_address'],
  [/^(?:ABORT_ERR|ETIMEDOUT|ETIMEOUT|UND_ERR.*TIMEOUT)$/, 'timeout'],
  [/^(?:ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADRESP|EBADNAME|EAI_.*)$/, 'dns'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/, 'unreachable'],
  [/^(?:ERR_TLS_.*|ERR_SSL_.*|CERT_.*|.*_CERT.*|UNABLE_TO_.*|EPROTO|HOSTNAME_MISMATCH)$/, 'tls'],
  [/^HPE_/, 'not_http'],
  [/^(?:ECONNRESET|EPIPE|ECONNABORTED)$/, 'closed'],
];

function wordOf({ code = '' }: NodeJS.ErrnoException): string {
  return WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'failed';
}

/** The client for production: only public receivers, unless the settings say otherwise. */
export function createWebhookClient(agent: string, allowsPrivate: boolean): WebhookClient {
  return webhookClient(clientOptions(agent, allowsPrivate));
}

/** A client that posts through `outboundClient`. */
export function webhookClient(options: ClientOptions): WebhookClient {
  const send = outboundClient(options);
  return {
    async post(address, headers, body) {
      const { ms, status, error } = await send(address, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}`, ...headers },
        body,
      });
      return { ms, status, error };
    },
  };
}
