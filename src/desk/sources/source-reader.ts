import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { SECOND } from '../../proof/time.ts';
import { type ClientOptions, type Exchange, outboundClient } from '../../shared/net/outbound-client.ts';
import { isReadable } from '../evidence.ts';
import { ROBOTS_MAX, type Robots, robotsOf } from './robots.ts';

/** Maximum size of a source, before and after decompression, in bytes. */
export const SOURCE_MAX = 20 * 1_024 * 1_024;
const REDIRECTS_MAX = 5;
/** The timeout of one request, in ms. */
const DEADLINE = 60 * SECOND;
/** After this time, no further request is made for a source, in ms, because each site on the way may be slow. */
const READING_MAX = 300 * SECOND;
/** The pause between two requests to one host, in ms. */
const HOST_PAUSE = 2 * SECOND;
/** How long a site's robots.txt is cached, in ms (RFC 9309, section 2.4), and for how many sites. */
const ROBOTS_LIFE = 3_600 * SECOND;
const HOSTS_MAX = 1_000;

/** The result of reading a source. */
export type Reading = {
  /** All requests with their responses, redirects included; empty when nothing was kept. */
  exchanges: (Exchange & { url: string; body: Uint8Array })[];
} & (
  | {
      outcome: 'read';
      status: number;
      /** The address that answered, after redirects. */
      url: string;
      contentType: string | null;
      /** The body without transfer coding. */
      body: Buffer;
      /** Also without content coding, although we do not ask for any. */
      plain: Buffer;
    }
  | { outcome: 'gone'; status: number }
  | { outcome: 'unread' /** In a few words. */; reason: string }
);

export interface ReaderOptions extends ClientOptions {
  /** The pause between two requests to one host, in ms. */
  hostPause?: number;
  sourceMax?: number;
  /** See `READING_MAX`. */
  readingMax?: number;
}

export type SourceReader = ReturnType<typeof sourceReader>;

/**
 * Reads sources. `options` and the site's robots.txt must allow every address requested, including redirects, and
 * requests to one host are `hostPause` apart. Never rejects.
 */
export function sourceReader({
  hostPause = HOST_PAUSE,
  sourceMax = SOURCE_MAX,
  readingMax = READING_MAX,
  ...options
}: ReaderOptions) {
  const limits = { deadline: DEADLINE, ...options };
  const wait = limits.deadline;
  const ask = outboundClient({ ...limits, answerMax: sourceMax, answerWait: wait });
  const askRobots = outboundClient({ ...limits, answerMax: ROBOTS_MAX, answerWait: wait, keepsCut: true });
  const nextAt = new Map<string, number>();
  const known = new Map<string, { robots: Promise<Robots | string>; until: number }>();

  /** Resolves when the next request to a host is allowed. */
  const turn = async (host: string): Promise<void> => {
    const now = performance.now();
    const at = Math.max(now, nextAt.get(host) ?? 0);
    nextAt.delete(host);
    nextAt.set(host, at + hostPause);
    dropOldest(nextAt);
    if (at > now) await new Promise((resolve) => setTimeout(resolve, at - now));
  };

  const robotsAt = (origin: string): Promise<Robots | string> => {
    const found = known.get(origin);
    if (found !== undefined && found.until > performance.now()) return found.robots;
    const robots = readRobots(origin);
    known.delete(origin);
    known.set(origin, { robots, until: performance.now() + ROBOTS_LIFE });
    dropOldest(known);
    return robots;
  };

  /** The site's rules, or why they are unreachable: then nothing on it may be read (RFC 9309, section 2.3.1). */
  const readRobots = async (origin: string): Promise<Robots | string> => {
    let url = new URL('/robots.txt', origin);
    const end = performance.now() + readingMax;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      if (performance.now() > end) return TOO_SLOW;
      await turn(url.host);
      const { status, bytes, location, error } = await askRobots(url.href, { method: 'GET', headers: PLAIN });
      if (status === null) return error ?? 'failed';
      if (status >= 500) return 'robots.txt cannot be read';
      if (status >= 200 && status < 300) return robotsOf(new TextDecoder().decode(bytes ?? new Uint8Array()));
      const next = status >= 300 && status < 400 && location !== null ? URL.parse(location, url) : null;
      if (next === null || !isReadable(next.href)) break;
      url = next;
    }
    return robotsOf('');
  };

  return async (instrument: string): Promise<Reading> => {
    const exchanges: Reading['exchanges'] = [];
    const unread = (reason: string): Reading => ({ outcome: 'unread', reason, exchanges: [] });
    if (!isReadable(instrument)) return unread('not a web address');
    let url = new URL(instrument);
    const end = performance.now() + readingMax;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      if (performance.now() > end) return unread(TOO_SLOW);
      url.hash = '';
      const robots = await robotsAt(url.origin);
      if (typeof robots === 'string') return unread(robots);
      if (!robots.allows(`${url.pathname}${url.search}`)) return unread('robots.txt forbids it');
      await turn(url.host);
      const answer = await ask(url.href, { method: 'GET', headers: { Accept: '*/*', ...PLAIN } });
      const { status, bytes, exchange, cut, location, error, contentType } = answer;
      if (status === null || exchange === null) return unread(error ?? 'failed');
      if (status === 404 || status === 410) return { outcome: 'gone', status, exchanges };
      const isRedirect = status >= 300 && status < 400 && location !== null;
      if (!isRedirect && (status < 200 || status >= 300)) return unread(`status ${status}`);
      if (bytes === null && !isRedirect) {
        return unread(cut === 'too_long' ? `longer than ${sourceMax} bytes` : (cut ?? 'closed'));
      }
      exchanges.push({ ...exchange, url: url.href, body: bytes ?? new Uint8Array() });
      if (isRedirect) {
        const next = URL.parse(location, url);
        if (next === null || !isReadable(next.href)) return unread('redirect to no web address');
        url = next;
        continue;
      }
      const body = bytes ?? Buffer.alloc(0);
      const plain = await decoded(body, exchange.response, sourceMax);
      if (typeof plain === 'string') return unread(plain);
      return { outcome: 'read', status, url: url.href, contentType, body, plain, exchanges };
    }
    return unread(`more than ${REDIRECTS_MAX} redirects`);
  };
}

const TOO_SLOW = 'it takes too long';

const PLAIN = { 'Accept-Encoding': 'identity' };

const DECODERS: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A body without its content coding, or why it cannot be decoded. */
async function decoded(body: Buffer, head: string, max: number): Promise<Buffer | string> {
  const coding = (/\r\ncontent-encoding: ?([^\r]*)/i.exec(head)?.[1] ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return body;
  const decode = DECODERS[coding];
  if (decode === undefined) return 'an unknown content coding';
  return decode(body, { maxOutputLength: max }).catch(() => `its ${coding} cannot be decoded, or is too long`);
}

function dropOldest(map: Map<string, unknown>): void {
  const [first] = map.size > HOSTS_MAX ? map.keys() : [];
  if (first !== undefined) map.delete(first);
}
