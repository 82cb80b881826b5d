import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ApiError } from './api-error.ts';
import { type ClientOptions, sender } from './client.ts';
import type { components, operations } from './generated/records.ts';
import { wait } from './retrying.ts';

export type Change = components['schemas']['Delta'];

type Filter = Pick<NonNullable<operations['streamChanges']['parameters']['query']>, 'domain' | 'type'>;

export interface StreamOptions extends ClientOptions, Filter {
  /**
   * The number of the last change that was received; 0 starts at the first change. By default starts at the next one.
   */
  after?: number;
  /** Ends the stream: the iterator then ends without an error. */
  signal?: AbortSignal;
}

/** The position is ahead of the newest change: the service was restored from a backup since. */
export class AheadOfStream extends ApiError {
  /**
   * The number of the newest change. Read the changes that you missed from /v1/changes, and continue after this one.
   */
  readonly newest: number;

  constructor(status: number, body: { newest: number }) {
    super(status, body);
    this.name = 'AheadOfStream';
    this.newest = body.newest;
  }
}

/** The pause before a stream that ended is opened again, in ms: the server ends each one after an hour. */
const PAUSE = 1_000;

/**
 * Changes of the domain records as they happen, each once and in order. A stream that breaks or ends is resumed after the
 * last change that was received. Throws `AheadOfStream` for a position that no change has reached, and an ApiError for
 * other refusals. Waits as long as `Retry-After` says.
 */
export async function* changes(options: StreamOptions): AsyncGenerator<Change, void, undefined> {
  const { signal } = options;
  const send = sender({ ...options, retry: { attempts: Number.POSITIVE_INFINITY, ...options.retry } });
  let last = options.after;
  while (signal?.aborted !== true) {
    try {
      const body = await open(send, options, last);
      for await (const { id, event, data } of eventsIn(body)) {
        if (event === 'end') break;
        const change = JSON.parse(data) as Change;
        last = Number(id ?? change.seq);
        yield change;
      }
      await wait(PAUSE, signal);
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof ApiError) throw error;
      // The connection broke: resume.
      await wait(PAUSE, signal).catch(() => {});
    }
  }
}

async function open(
  send: (request: Request) => Promise<Response>,
  { root, key, domain, type, signal }: StreamOptions,
  last: number | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const url = new URL(`${root.replace(/\/+$/, '')}/v1/stream`);
  for (const [name, value] of Object.entries({ domain, type })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const headers = new Headers({ Accept: 'text/event-stream' });
  if (key !== undefined) headers.set('Authorization', `Bearer ${key}`);
  if (last !== undefined) headers.set('Last-Event-ID', String(last));
  const response = await send(new Request(url, { headers, signal: signal ?? null }));
  if (response.ok && response.body !== null) return response.body;
  const fault: unknown = await response.json().catch(() => null);
  const { error, newest } = (fault ?? {}) as { error?: unknown; newest?: unknown };
  if (error === 'ahead_of_stream' && typeof newest === 'number')
    throw new AheadOfStream(response.status, { ...(fault as object), newest });
  throw new ApiError(response.status, fault);
}

function eventsIn(body: ReadableStream<Uint8Array>) {
  const text: ReadableWritablePair<string, Uint8Array> = new TextDecoderStream() as never;
  return body.pipeThrough(text).pipeThrough(new EventSourceParserStream());
}
