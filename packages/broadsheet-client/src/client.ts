import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { KEYED as DESK_KEYED, type paths as DeskPaths } from './generated/desk.ts';
import { KEYED as RECORDS_KEYED, type paths as RecordsPaths } from './generated/records.ts';
import { type RetryOptions, retrying } from './retrying.ts';

export type DeskClient = Client<DeskPaths>;
export type RecordsClient = Client<RecordsPaths>;

type Fetch = (request: Request) => Promise<Response>;

export interface ClientOptions {
  /** The root of a paper, such as `https://papers.example/the-quay`; or the address of the domain records. */
  root: string;
  /** A key: of the paper, or of an account, a service or an operator of the domain records. */
  key?: string;
  retry?: RetryOptions;
  /** Sends requests, instead of the global `fetch`. */
  fetch?: Fetch;
  /**
   * Pays when a response is 402: wraps `fetch` as x402's clients do, for example
   * `(fetch) => wrapFetchWithPaymentFromConfig(fetch, config)` of @x402/fetch. A retry sends the same payment again,
   * which is never charged twice.
   */
  pay?: (fetch: typeof globalThis.fetch) => (input: Request) => Promise<Response>;
}

/** The client of a paper's news desk. A response of 4xx or 5xx is its `error`, not an exception. */
export function deskClient(options: ClientOptions): DeskClient {
  return clientOf<DeskPaths>(options, DESK_KEYED);
}

/** The client of the domain records. A response of 4xx or 5xx is its `error`, not an exception. */
export function recordsClient(options: ClientOptions): RecordsClient {
  return clientOf<RecordsPaths>(options, RECORDS_KEYED);
}

function clientOf<Paths extends object>(options: ClientOptions, keyed: ReadonlySet<string>): Client<Paths> {
  const { root, key } = options;
  const client = createClient<Paths>({
    baseUrl: root.replace(/\/+$/, ''),
    fetch: sender(options),
    headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
  });
  client.use(idempotent(keyed));
  return client;
}

/** The function that sends requests: with retries, and with payments if the caller pays. */
export function sender({ fetch = (request) => globalThis.fetch(request), retry, pay }: ClientOptions): Fetch {
  const repeated = retrying(fetch, retry);
  return pay === undefined ? repeated : pay((input, init) => repeated(new Request(input, init)));
}

/** Gives each write that takes one an Idempotency-Key, so that a retry does nothing twice. */
function idempotent(keyed: ReadonlySet<string>): Middleware {
  return {
    onRequest({ request, schemaPath }) {
      if (!keyed.has(`${request.method} ${schemaPath}`) || request.headers.has('Idempotency-Key')) return;
      request.headers.set('Idempotency-Key', crypto.randomUUID());
    },
  };
}
