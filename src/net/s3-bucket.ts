import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { Fault, reasonOf } from '../fault.ts';
import type { S3Address } from '../publish/address.ts';
import type { Bucket, BucketObject, ObjectHead, PutOptions, StoredObject } from '../publish/bucket.ts';
import { SECOND } from '../time.ts';
import { errorOf, failuresIn, pageOf } from './s3-documents.ts';
import { s3Fault } from './s3-fault.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** How often a request is made before it is given up. */
const TRIES = 8;
/** The longest pause before the first retry; it doubles with each, up to `PAUSE_MAX`. In ms. */
const PAUSE_FIRST = 100;
const PAUSE_MAX = 20 * SECOND;
/** The longest that a `Retry-After` is heeded, in ms. */
const RETRY_AFTER_MAX = 120 * SECOND;
/** A request may take this long, in ms, and a second more for each of so many bytes. */
const TIMEOUT = 30 * SECOND;
const BYTES_PER_SECOND = 50_000;
/** The most keys in one request that removes. */
const REMOVE_MAX = 1_000;

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
  body?: Uint8Array | undefined;
  signal?: AbortSignal | undefined;
}

/** A response, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** A bucket of S3 or of a compatible store. Requests are repeated where that can help. */
export class S3Bucket implements Bucket {
  readonly name: string;
  readonly keepsHeaders = true;
  readonly #address: S3Address;
  readonly #client: AwsClient;
  readonly #pause: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>;

  /** `pause` waits between tries. */
  constructor(
    address: S3Address,
    credentials: S3Credentials,
    pause = (ms: number, signal: AbortSignal | undefined): Promise<unknown> => sleep(ms, undefined, { signal }),
  ) {
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

  async get(key: string): Promise<StoredObject | null> {
    const answer = await this.ask('GET', { key });
    if (answer.status === 404) return null;
    return { bytes: answer.body, etag: etagOf(answer), age: ageOf(answer) };
  }

  async head(key: string): Promise<ObjectHead | null> {
    const answer = await this.ask('HEAD', { key });
    if (answer.status === 404) return null;
    const size = Number(answer.headers.get('content-length'));
    return { size, etag: etagOf(answer), headers: Object.fromEntries(answer.headers) };
  }

  async put(key: string, bytes: Uint8Array, { headers = {}, onlyIf, signal }: PutOptions = {}): Promise<string | null> {
    const condition: Record<string, string> =
      onlyIf === undefined ? {} : onlyIf === 'absent' ? { 'if-none-match': '*' } : { 'if-match': `"${onlyIf.etag}"` };
    const answer = await this.ask('PUT', { key, headers: { ...headers, ...condition }, body: bytes, signal });
    // Some stores answer 404 to a condition on an object that is gone.
    return answer.status === 412 || answer.status === 404 ? null : etagOf(answer);
  }

  async *list(prefix: string): AsyncIterable<BucketObject> {
    let token: string | null = null;
    do {
      const query: Record<string, string> = { 'list-type': '2', prefix };
      if (token !== null) query['continuation-token'] = token;
      const page = pageOf((await this.ask('GET', { query })).body);
      yield* page.objects;
      token = page.next;
    } while (token !== null);
  }

  async remove(keys: readonly string[], signal?: AbortSignal): Promise<void> {
    for (let at = 0; at < keys.length; at += REMOVE_MAX) {
      const objects = keys.slice(at, at + REMOVE_MAX).map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
      const body = Buffer.from(
        `<?xml version="1.0" encoding="UTF-8"?>\n<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`,
      );
      const headers = {
        'content-type': 'application/xml',
        'content-md5': createHash('md5').update(body).digest('base64'),
      };
      const { body: answer } = await this.ask('POST', { query: { delete: '' }, headers, body, signal });
      const failed = failuresIn(answer)[0];
      if (failed !== undefined) throw this.#fault('POST', failed.key, 200, failed, new Headers());
    }
  }

  async flush(): Promise<void> {}

  /** Asks until the store gives an answer that another try would not change. */
  async ask(method: string, question: Question): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      question.signal?.throwIfAborted();
      const isLast = tried === TRIES;
      let wait = Math.random() * Math.min(PAUSE_MAX, PAUSE_FIRST * 2 ** tried);
      try {
        const answer = await this.#askOnce(method, question);
        const { status, headers, body } = answer;
        if (status < 300 || status === 412) return answer;
        const error = errorOf(body);
        // To HEAD there is no body that could name the bucket; a publication begins with GET.
        if (status === 404 && error?.code !== 'NoSuchBucket') return answer;
        const isRetried = RETRIED_STATUS.has(status) || RETRIED_CODE.has(error?.code ?? '');
        if (isLast || !isRetried) throw this.#fault(method, question.key ?? '', status, error, headers);
        wait = Math.max(wait, retryAfter(headers));
      } catch (error) {
        question.signal?.throwIfAborted();
        if (error instanceof Fault) throw error;
        if (isLast) {
          throw new Fault(
            'unavailable',
            `${this.#address.endpoint} cannot be reached (${reasonOf(error)}); check the endpoint and the network, then try again`,
          );
        }
      }
      await this.#pause(wait, question.signal);
    }
  }

  async #askOnce(method: string, { key, query = {}, headers = {}, body, signal }: Question): Promise<Answer> {
    const { endpoint, bucket } = this.#address;
    const path = [bucket, ...(key === undefined ? [] : key.split('/'))].map(encodeURIComponent).join('/');
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${endpoint}/${path}${search.length === 0 ? '' : `?${search.join('&')}`}`;
    const limit = AbortSignal.timeout(TIMEOUT + Math.ceil((body?.length ?? 0) / BYTES_PER_SECOND) * SECOND);
    // The store refuses bytes that were altered on the way.
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const request = await this.#client.sign(url, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': digest },
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    });
    const response = await fetch(request, {
      redirect: 'manual',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
  }

  #fault(
    method: string,
    key: string,
    status: number,
    error: { code: string; message: string } | null,
    headers: Headers,
  ): Fault {
    return s3Fault(this.#address, { method, key, status, error, headers });
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
