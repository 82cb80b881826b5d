/** How often and when a request is retried. */
export interface RetryOptions {
  /** The most times that a request is sent; 1 never retries. By default 4. */
  attempts?: number;
  /**
   * The longest pause before a retry, in ms; for a longer `Retry-After` the response is returned. By default a minute.
   */
  longestPause?: number;
}

type Fetch = (request: Request) => Promise<Response>;

/** Statuses which say that the server did not carry out the request. */
const REFUSED_FOR_NOW = new Set([429, 503]);
/** Statuses of a proxy, after which it is unknown whether the server carried out the request. */
const UNKNOWN = new Set([502, 504]);

/**
 * A `fetch` that retries requests after 429 and 503, as `Retry-After` says. After 502, 504 and broken connections it
 * retries, with growing pauses, requests that may be carried out twice: reads, PUT and DELETE, and writes with an
 * Idempotency-Key.
 */
export function retrying(fetch: Fetch, { attempts = 4, longestPause = 60_000 }: RetryOptions = {}): Fetch {
  return async (request) => {
    for (let sent = 1; ; sent++) {
      const isLast = sent >= attempts;
      try {
        // A body can be read only once, so each try but the last sends a copy.
        const response = await fetch(isLast ? request : request.clone());
        const isOver =
          !REFUSED_FOR_NOW.has(response.status) && !(UNKNOWN.has(response.status) && isRepeatable(request));
        const pause = pauseAfter(response, sent);
        if (isLast || isOver || pause > longestPause) return response;
        await response.body?.cancel();
        await wait(pause, request.signal);
      } catch (error) {
        if (isLast || request.signal.aborted || !isRepeatable(request)) throw error;
        await wait(Math.min(growing(sent), longestPause), request.signal);
      }
    }
  };
}

function isRepeatable({ method, headers }: Request): boolean {
  return !['POST', 'PATCH'].includes(method) || headers.has('Idempotency-Key');
}

/** The pause before a retry, in ms. `Retry-After` is in seconds, or a date (RFC 9110, section 10.2.3). */
function pauseAfter({ headers }: Response, sent: number): number {
  const after = headers.get('Retry-After') ?? '';
  if (/^\d+$/.test(after)) return Number(after) * 1_000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? growing(sent) : Math.max(0, date - Date.now());
}

/** Half a second, then twice as long each time; somewhat random, so that clients do not come back together. */
const growing = (sent: number): number => 500 * 2 ** (sent - 1) * (0.5 + Math.random());

/** Rejects with the reason of the signal when it is aborted. */
export function wait(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
