import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './free-port.ts';
import { loopback } from './loopback.ts';
import { until } from './program.ts';

export const BUCKET = 'papers';
export const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'testsecret' };

/** The environment of a command that publishes to a store. */
export function storeEnv(endpoint: string, query = ''): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_S3: endpoint,
    PUBLISH_URL: `s3://${BUCKET}/site${query}`,
  };
}

/** The most metadata that S3 stores with an object, in bytes. */
const METADATA_MAX = 2_048;

interface Item {
  bytes: Buffer;
  headers: Record<string, string>;
  etag: string;
  modified: Date;
}

/** A request as the store received it. */
export interface Received {
  method: string;
  key: string;
  query: URLSearchParams;
}

/** Answers a request instead of the store; `true` when it did. */
export type Intercept = (
  request: Received,
  response: ServerResponse,
  raw: IncomingMessage,
) => boolean | Promise<boolean>;

/** A store with one bucket, in memory, with the part of S3 that a publisher needs. */
export class S3Server {
  readonly objects = new Map<string, Item>();
  /** Uploads in parts that nobody has completed or given up. */
  readonly uploads = new Map<string, { key: string; parts: Map<number, Buffer> }>();
  readonly received: Received[] = [];
  /** The most requests at once. */
  mostAtOnce = 0;
  intercept: Intercept = () => false;
  /** Keys on one page of a listing. */
  pageSize = 1_000;
  endpoint = '';
  /** Whether listings encode keys for those who ask for it. */
  encodesKeys = false;
  #atOnce = 0;

  static async start(t: TestContext): Promise<S3Server> {
    const store = new S3Server();
    const server = createServer((request, response) => {
      store.#atOnce++;
      store.mostAtOnce = Math.max(store.mostAtOnce, store.#atOnce);
      response.once('close', () => {
        store.#atOnce--;
      });
      void store.#answer(request, response);
    });
    store.endpoint = await loopback(t, server);
    return store;
  }

  /** The paths of the objects under a prefix, relative to it. */
  paths(prefix: string): string[] {
    return [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length))
      .sort();
  }

  bytes(key: string): string | undefined {
    return this.objects.get(key)?.bytes.toString('latin1');
  }

  async #answer(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(raw.url ?? '/', 'http://store');
    const [bucket = '', ...rest] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const request = { method: raw.method ?? '', key: rest.join('/'), query: url.searchParams };
    this.received.push(request);
    if (await this.intercept(request, response, raw)) return;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of raw) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const refused = refusal(raw, body, bucket);
    if (refused !== null) return refuse(response, refused[0], refused[1]);
    this.#perform(request, raw, body, response);
  }

  #perform({ method, key, query }: Received, raw: IncomingMessage, body: Buffer, response: ServerResponse): void {
    if (method === 'GET' && key === '') return this.#list(query, response);
    if (method === 'POST' && query.has('delete')) return this.#remove(raw, body, response);
    if (query.has('uploads') || query.has('uploadId')) return this.#upload({ method, key, query }, body, response);
    const item = this.objects.get(key);
    if (method === 'PUT') {
      if (raw.headers['if-none-match'] === '*' && item !== undefined)
        return refuse(response, 412, 'PreconditionFailed');
      const match = raw.headers['if-match'];
      if (match !== undefined && match !== `"${item?.etag}"`) return refuse(response, 412, 'PreconditionFailed');
      const kept = Object.entries(raw.headers).filter(([name]) =>
        /^(?:x-amz-meta-|cache-control$|content-type$)/.test(name),
      );
      const metadata = kept.filter(([name]) => name.startsWith('x-amz-meta-')).join('').length;
      if (metadata > METADATA_MAX) return refuse(response, 400, 'MetadataTooLarge');
      const etag = md5(body);
      this.objects.set(key, { bytes: body, headers: Object.fromEntries(kept) as never, etag, modified: new Date() });
      response.writeHead(200, { etag: `"${etag}"` }).end();
      return;
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
      return;
    }
    if (item === undefined) return refuse(response, 404, 'NoSuchKey');
    const headers = { ...item.headers, etag: `"${item.etag}"`, 'last-modified': item.modified.toUTCString() };
    const match = raw.headers['if-match'];
    if (match !== undefined && match !== `"${item.etag}"`) return refuse(response, 412, 'PreconditionFailed');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(raw.headers.range ?? '') ?? [];
    const bytes = from === undefined ? item.bytes : item.bytes.subarray(Number(from), Number(to) + 1);
    response.writeHead(from === undefined ? 200 : 206, { ...headers, 'content-length': bytes.length });
    response.end(method === 'HEAD' ? undefined : bytes);
  }

  #upload({ method, key, query }: Received, body: Buffer, response: ServerResponse): void {
    const id = query.get('uploadId') ?? `upload-${this.uploads.size + 1}`;
    if (method === 'POST' && query.has('uploads')) {
      this.uploads.set(id, { key, parts: new Map() });
      const named = `<Key>${escapeXml(key)}</Key><UploadId>${id}</UploadId>`;
      return xml(response, 200, `<InitiateMultipartUploadResult>${named}</InitiateMultipartUploadResult>`);
    }
    const upload = this.uploads.get(id);
    if (upload === undefined) return refuse(response, 404, 'NoSuchUpload');
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body);
      response.writeHead(200, { etag: `"${md5(body)}"` }).end();
      return;
    }
    this.uploads.delete(id);
    if (method === 'DELETE') {
      response.writeHead(204).end();
      return;
    }
    const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"([^"]*)"<\/ETag>/g)];
    const parts = wanted.map(([, n]) => upload.parts.get(Number(n)) ?? Buffer.alloc(0));
    if (parts.some((part, n) => md5(part) !== wanted[n]?.[2])) return refuse(response, 400, 'InvalidPart');
    const bytes = Buffer.concat(parts);
    this.objects.set(key, { bytes, headers: {}, etag: `${md5(bytes)}-${parts.length}`, modified: new Date() });
    xml(response, 200, `<CompleteMultipartUploadResult><Key>${escapeXml(key)}</Key></CompleteMultipartUploadResult>`);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .sort();
    const page = keys.slice(0, this.pageSize);
    const isEncoded = this.encodesKeys && query.get('encoding-type') === 'url';
    const rows = page.map((key) => {
      const item = this.objects.get(key);
      return `<Contents><Key>${isEncoded ? encodeURIComponent(key).replaceAll('%20', '+') : escapeXml(key)}</Key><ETag>&quot;${item?.etag}&quot;</ETag><Size>${item?.bytes.length}</Size></Contents>`;
    });
    const more = page.length < keys.length;
    const token = more ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? '')}</NextContinuationToken>` : '';
    xml(
      response,
      200,
      `<ListBucketResult>${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${more}</IsTruncated>${token}${rows.join('')}</ListBucketResult>`,
    );
  }

  #remove(raw: IncomingMessage, body: Buffer, response: ServerResponse): void {
    if (raw.headers['content-md5'] !== createHash('md5').update(body).digest('base64')) {
      return refuse(response, 400, 'BadDigest');
    }
    for (const [, key = ''] of body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)) this.objects.delete(unescapeXml(key));
    xml(response, 200, '<DeleteResult></DeleteResult>');
  }
}

function refusal(raw: IncomingMessage, body: Buffer, bucket: string): [number, string] | null {
  if (!(raw.headers.authorization ?? '').includes(`Credential=${CREDENTIALS.accessKeyId}/`)) {
    return [403, 'InvalidAccessKeyId'];
  }
  if (raw.headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex')) {
    return [400, 'XAmzContentSHA256Mismatch'];
  }
  return bucket === BUCKET ? null : [404, 'NoSuchBucket'];
}

/** Answers with an error as S3 words it. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  xml(response, status, `<Error><Code>${code}</Code><Message>${code}.</Message></Error>`, headers);
}

function xml(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
}

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const unescapeXml = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Starts versitygw over a folder, with an empty bucket. Returns its endpoint. */
export async function startVersitygw(t: TestContext, folder: string): Promise<string> {
  mkdirSync(join(folder, 'store', BUCKET), { recursive: true });
  const port = await freePort();
  const { accessKeyId, secretAccessKey } = CREDENTIALS;
  const args = ['--port', `127.0.0.1:${port}`, '--access', accessKeyId, '--secret', secretAccessKey];
  const child = spawn('versitygw', [...args, 'posix', join(folder, 'store')], { stdio: 'ignore' });
  t.after(() => child.kill());
  const endpoint = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(endpoint).then(
      (response) => response.arrayBuffer().then(() => true),
      () => null,
    ),
  );
  return endpoint;
}
