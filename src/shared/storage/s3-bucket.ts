import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { SECOND } from '../../proof/time.ts';
import { Fault, reasonOf, Unreachable } from '../fault.ts';
import { readWithin } from '../size.ts';
import type { S3Address } from './address.ts';
import type { Bucket, BucketObject, ObjectHead, PutOptions, StoredObject } from './bucket.ts';
import { errorOf, failuresIn, pageOf } from './s3-documents.ts';
import { notStorage, s3Fault } from './s3-fault.ts';

interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** The number of tries before a request is given up. */
const TRIES = 8;
/** The longest pause before the first retry; it doubles with each, up to `PAUSE_MAX`. In ms. */
const PAUSE_FIRST = 100;
const PAUSE_MAX = 20 * SECOND;
/** A longer `Retry-After` is cut to this, in ms. */
const RETRY_AFTER_MAX = 120 * SECOND;
/** The timeout of a request, in ms; each `BYTES_PER_SECOND` of its body or response adds a second. */
const TIMEOUT = 30 * SECOND;
const BYTES_PER_SECOND = 50_000;
/** A request is given up when its tries without a response took this long together, in ms. */
const SILENCE_MAX = 60 * SECOND;
/** The largest response that is read, in bytes: a page of a listing has up to a thousand keys of a kilobyte each. */
const ANSWER_MAX = 32_000_000;
/** The most keys in one DeleteObjects request. */
const REMOVE_MAX = 1_000;
/** Characters that XML 1.0 cannot hold, not even escaped (its section 2.2). */
const NO_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

const RETRIED_STATUS = new Set([408, 429, 500, 502, 503, 504]);
const RETRIED_CODE = new Set([
  'RequestTimeout',
  'SlowDown',
  'ConditionalRequestConflict',
  'OperationAborted',
  'IncompleteBody',
]);

export interface Question {
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array | Blob | undefined;
  /** The largest response that is expected, in bytes. */
  answerMax?: number;
  signal?: AbortSignal | undefined;
}

/** A response, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** A bucket of S3 or of a compatible store. Retries requests where that can help. */
export class S3Bucket implements Bucket {
  readonly name: string;
  readonly keepsHeaders = true;
  readonly #address: S3Address;
  readonly #client: AwsClient;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly #ending: AbortSignal | undefined;

  /** `pause` waits between tries; `ending` aborts pending requests. */
  constructor(
    address: S3Address,
    credentials: S3Credentials,
    pause = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal }),
    ending?: AbortSignal,
  ) {
    this.#ending = ending;
    this.name = `s3://${address.bucket} at ${address.endpoint}`;
    this.#address = address;
    this.#pause = pause;
    const { sessionToken, ...keys } = credentials;
    this.#client = new AwsClient({
      ...keys,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region: address.region,
    });
  }

  async get(key: string, answerMax = ANSWER_MAX, signal?: AbortSignal): Promise<StoredObject | null> {
    const answer = await this.ask('GET', { key, answerMax, signal });
    if (answer.status === 404) {
      if (answer.body.length > 0 && errorOf(answer.body) === null)
        throw notStorage(this.#address, { method: 'GET', key, status: answer.status });
      return null;
    }
    return { bytes: answer.body, etag: this.#etag('GET', key, answer), age: ageOf(answer) };
  }

  async range(key: string, etag: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array | null> {
    const headers = { range: `bytes=${start}-${end - 1}`, 'if-match': `"${etag}"` };
    const { status, body } = await this.ask('GET', {
      ...{ key, headers, signal },
      answerMax: Math.max(ANSWER_MAX, end - start),
    });
    if (status === 404 || status === 412) return null;
    if (status === 206 && body.length === end - start) return body;
    throw notStorage(this.#address, { method: 'GET', key, status, wanted: `${end - start} bytes` });
  }

  async head(key: string): Promise<ObjectHead | null> {
    const answer = await this.ask('HEAD', { key });
    if (answer.status === 404) return null;
    const size = Number(answer.headers.get('content-length'));
    return { size, etag: this.#etag('HEAD', key, answer), headers: Object.fromEntries(answer.headers) };
  }

  async isFree(key: string): Promise<boolean> {
    for await (const first of this.list(key)) return first.key !== key;
    return true;
  }

  async put(
    key: string,
    bytes: Uint8Array | Blob,
    { headers = {}, onlyIf, signal }: PutOptions = {},
  ): Promise<string | null> {
    const condition: Record<string, string> =
      onlyIf === undefined ? {} : onlyIf === 'absent' ? { 'if-none-match': '*' } : { 'if-match': `"${onlyIf.etag}"` };
    const answer = await this.ask('PUT', { key, headers: { ...headers, ...condition }, body: bytes, signal });
    if (answer.status === 412 && onlyIf !== undefined) return null;
    // Some stores answer 404 to a condition on an object that is gone.
    if (answer.status === 404 && typeof onlyIf === 'object' && errorOf(answer.body) !== null) return null;
    return this.#etag('PUT', key, answer);
  }

  async *list(prefix: string): AsyncIterable<BucketObject> {
    const tokens = new Set<string>();
    let token: string | null = null;
    do {
      // Without URL encoding, XML cannot hold every key.
      const query: Record<string, string> = { 'list-type': '2', 'encoding-type': 'url', prefix };
      if (token !== null) query['continuation-token'] = token;
      const answer = await this.ask('GET', { query });
      const page = pageOf(answer.body);
      if (page === null)
        throw notStorage(this.#address, { method: 'GET', key: '', status: answer.status, wanted: 'a listing' });
      const other = page.objects.find(({ key }) => !key.startsWith(prefix));
      if (other !== undefined || (page.next !== null && tokens.has(page.next))) {
        const what = other === undefined ? 'never ends' : `has keys that were not asked for`;
        throw new Fault(
          'unavailable',
          `the listing of ${this.name} under ${JSON.stringify(prefix)} ${what}; this store cannot be used`,
        );
      }
      yield* page.objects;
      token = page.next;
      if (token !== null) tokens.add(token);
    } while (token !== null);
  }

  async remove(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    const named = keys.filter((key) => !NO_XML.test(key));
    for (let at = 0; at < named.length; at += REMOVE_MAX) {
      const objects = named.slice(at, at + REMOVE_MAX).map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
      const body = Buffer.from(
        `<?xml version="1.0" encoding="UTF-8"?>\n<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`,
      );
      const headers = {
        'content-type': 'application/xml',
        'content-md5': createHash('md5').update(body).digest('base64'),
      };
      const answer = await this.ask('POST', { query: { delete: '' }, headers, body, signal });
      const failures = failuresIn(answer.body);
      if (failures === null) throw notStorage(this.#address, { method: 'POST', key: '', status: answer.status });
      const failed = failures[0];
      if (failed !== undefined) {
        throw s3Fault(this.#address, {
          method: 'POST',
          key: failed.key,
          status: 200,
          error: failed,
          headers: new Headers(),
        });
      }
    }
    for (const key of keys) if (NO_XML.test(key)) await this.ask('DELETE', { key, signal });
  }

  async flush(): Promise<void> {}

  /** Asks until the store gives an answer that another try would not change. */
  async ask(method: string, asked: Question): Promise<Answer> {
    const signal = AbortSignal.any([asked.signal, this.#ending].filter((one) => one !== undefined));
    let silence = 0;
    for (let tried = 1; ; tried++) {
      signal.throwIfAborted();
      const request = await this.#signed(method, asked);
      let isLast = tried === TRIES;
      const began = performance.now();
      let wait = Math.random() * Math.min(PAUSE_MAX, PAUSE_FIRST * 2 ** tried);
      try {
        const answer = await this.#askOnce(request, asked, signal);
        const { status, headers, body } = answer;
        if (status < 300 || status === 412) return answer;
        const error = errorOf(body);
        // A 404 to HEAD has no body to say that the bucket is missing; a publication finds out with its first GET.
        if (status === 404 && error?.code !== 'NoSuchBucket') return answer;
        const isRetried = RETRIED_STATUS.has(status) || RETRIED_CODE.has(error?.code ?? '');
        if (isLast || !isRetried) {
          throw s3Fault(this.#address, { method, key: asked.key ?? '', status, error, headers });
        }
        wait = Math.max(wait, retryAfter(headers));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Fault) throw error;
        silence += performance.now() - began;
        isLast ||= silence > SILENCE_MAX;
        if (isLast) {
          throw new Unreachable(
            `${this.#address.endpoint} cannot be reached (${reasonOf(error)}); check the endpoint and the network, then try again`,
          );
        }
      }
      await this.#pause(wait, signal);
    }
  }

  async #signed(method: string, { key, query = {}, headers = {}, body }: Question): Promise<Request> {
    const { endpoint, bucket } = this.#address;
    const path = [bucket, ...(key === undefined ? [] : key.split('/'))].map(encodeURIComponent).join('/');
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${endpoint}/${path}${search.length === 0 ? '' : `?${search.join('&')}`}`;
    // With the hash, the store rejects bytes that were altered on the way.
    const hash = createHash('sha256');
    for await (const part of body instanceof Blob ? body.stream() : [body ?? '']) hash.update(part);
    return this.#client.sign(url, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': hash.digest('hex') },
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> | Blob }),
    });
  }

  async #askOnce(request: Request, { body, answerMax = ANSWER_MAX }: Question, signal: AbortSignal): Promise<Answer> {
    const limit = new AbortController();
    const giveUpAfter = (bytes: number) =>
      setTimeout(
        () => limit.abort(new DOMException('it does not answer', 'TimeoutError')),
        TIMEOUT + Math.ceil(bytes / BYTES_PER_SECOND) * SECOND,
      );
    let timer = giveUpAfter(body instanceof Blob ? body.size : (body?.length ?? 0));
    try {
      const response = await fetch(request, {
        redirect: 'manual',
        signal: AbortSignal.any([signal, limit.signal]),
      });
      // The response has begun; only now is its length known.
      clearTimeout(timer);
      const length = response.headers.get('content-length');
      timer = giveUpAfter(length === null ? Math.max(0, answerMax - ANSWER_MAX) : Math.min(Number(length), answerMax));
      const tooLong = () =>
        new Fault(
          'unavailable',
          `${this.#address.endpoint} answers with more than ${Math.round(answerMax / 1e6)} MB, which no object storage does here; check the endpoint`,
        );
      const { status, headers } = response;
      return { status, headers, body: await readWithin(response.body ?? [], answerMax, tooLong) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** The ETag, which every store returns. A response without one did not come from a store, so nothing was stored. */
  #etag(method: string, key: string, answer: Answer): string {
    const etag = etagOf(answer);
    if (etag === '') throw notStorage(this.#address, { method, key, status: answer.status });
    return etag;
  }
}

export function etagOf({ headers }: Answer): string {
  return (headers.get('etag') ?? '').replace(/^W\//, '').replaceAll('"', '');
}

function ageOf({ headers }: Answer): number {
  const written = Date.parse(headers.get('last-modified') ?? '');
  const now = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(written) || Number.isNaN(now) ? 0 : Math.max(0, now - written);
}

/** `Retry-After` in ms (RFC 9110, section 10.2.3); 0 without one. */
function retryAfter(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(ms) ? 0 : Math.min(RETRY_AFTER_MAX, Math.max(0, ms));
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
}
