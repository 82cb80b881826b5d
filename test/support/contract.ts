import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The part of JSON Schema that the tests read. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  example?: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  example?: unknown;
  schema: Schema;
  description?: string;
}

interface Response {
  $ref?: string;
  headers?: Record<string, { $ref?: string; required?: boolean }>;
  content?: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }>; example?: unknown }>;
}

export interface Operation {
  path: string;
  method: string;
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, Response>;
}

export interface Document {
  openapi: string;
  info: { title: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
  /** Webhook deliveries by event type. */
  webhooks?: Record<string, Record<string, Operation>>;
}

/** A request. The path is under the paper's root and is sent verbatim. */
export interface Sending {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array | undefined;
}

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Text that no response may contain: a stack trace, or a path of this machine. */
const LEAK = /\n\s+at |\bfile:\/\/|node:internal|node_modules|\/(?:work|home|root|tmp|var|usr)\/[\w.-]/;

/** An OpenAPI document as a contract that responses must fulfil. */
export class Contract {
  readonly document: Document;
  readonly operations: Operation[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #known = new Map<string, ValidateFunction>();

  constructor(document: Document) {
    this.document = document;
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
    );
    // The package's types describe a CommonJS module.
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema(document as object, 'document');
  }

  /** Resolves a reference within the document, or returns the object itself. */
  at<T extends object>(thing: T & { $ref?: string }): T {
    if (thing.$ref === undefined) return thing;
    const found = thing.$ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], this.document);
    assert.ok(found, `${thing.$ref} leads nowhere`);
    return this.at(found as T);
  }

  /** The schema of a body; the first one of several alternatives. */
  shape(schema: Schema): Schema {
    const found = this.at(schema);
    const [first] = found.oneOf ?? [];
    return first === undefined ? found : this.shape(first);
  }

  /** Why a value does not match a schema of the document, or null. `pointer` is the unescaped path to the schema. */
  mismatch(pointer: readonly string[], value: unknown): string | null {
    const ref = `document#/${pointer.map((name) => encodeURIComponent(name.replace(/~/g, '~0').replace(/\//g, '~1'))).join('/')}`;
    let check = this.#known.get(ref);
    if (check === undefined) {
      check = this.#ajv.compile({ $ref: ref });
      this.#known.set(ref, check);
    }
    return check(value) ? null : this.#ajv.errorsText(check.errors);
  }

  /** Fails when a response does not match the document's operation. */
  check(operation: Operation, sent: Sending, { status, headers, text }: Answered): void {
    const what = `${sent.method} ${sent.path.slice(0, 200)} ${String(sent.body ?? '').slice(0, 300)} → ${status} ${text.slice(0, 300)}`;
    assert.notEqual(status, 500, what);
    assert.doesNotMatch(text, LEAK, what);
    assert.ok(headers['x-request-id'], `no X-Request-Id: ${what}`);
    const promised = operation.responses[status];
    assert.ok(promised, `a status that is not documented: ${what}`);
    const response = this.at(promised);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      if (this.at(header).required) assert.ok(headers[name.toLowerCase()], `no ${name}: ${what}`);
    }
    if (status === 304 || sent.method === 'HEAD') {
      assert.equal(text, '', what);
      return;
    }
    const type = String(headers['content-type']).replace(/ *;.*/, '');
    assert.ok(response.content?.[type], `a type that is not documented, ${type}: ${what}`);
    const pointer = promised.$ref?.slice(2).split('/') ?? [
      'paths',
      operation.path,
      operation.method.toLowerCase(),
      'responses',
      String(status),
    ];
    const way = [...pointer, 'content', type, 'schema'];
    // In a response of JSON lines each line must match the schema.
    const documents = /[/+]json$/.test(type)
      ? [text]
      : type === 'application/x-ndjson'
        ? text.trimEnd().split('\n')
        : [];
    for (const one of documents) assert.equal(this.mismatch(way, JSON.parse(one)), null, what);
    if (status < 400 || !/[/+]json$/.test(type)) return;
    const { examples = {} } = response.content[type];
    assert.ok(JSON.parse(text).error in examples, `a code that is not documented: ${what}`);
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The server stops reading larger bodies and closes the connection, so they must not share one with other requests. */
const SHARED_MAX = 1024 * 1024;

/** Sends a request verbatim. */
export function send(root: string, { method, path, headers = {}, body }: Sending): Promise<Answered> {
  const { hostname, port, pathname } = new URL(root);
  const base = pathname.replace(/\/$/, '');
  const isLarge = Buffer.byteLength(body ?? '') > SHARED_MAX;
  return new Promise((resolve, reject) => {
    const length: Record<string, string> =
      body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const out = request(
      {
        hostname,
        port,
        path: `${base}${path}`,
        method,
        agent: isLarge ? false : agent,
        headers: { ...length, ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        const answered = () => ({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        });
        // Streams do not end: their first chunk counts as the response.
        const isStream = /^text\/event-stream/.test(String(response.headers['content-type']));
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (!isStream) return;
          resolve(answered());
          response.destroy();
        });
        response.on('error', reject);
        response.on('end', () => resolve(answered()));
      },
    );
    out.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close a kept-alive connection just as it is reused; then it has read nothing of this request.
      if (out.reusedSocket && error.code === 'ECONNRESET') resolve(send(root, { method, path, headers, body }));
      else reject(error);
    });
    out.end(body);
  });
}

/** Closes the kept-alive connections. */
export function hangUp(): void {
  agent.destroy();
}
