import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { membersIn } from '../../proof/narrow.ts';
import type { Probe } from '../../proof/records/signal.ts';
import { Fault, reasonOf } from '../../shared/fault.ts';
import type { ProbeOutcome, ScanQueue } from './scan-queue.ts';

/** The timeout of a request, in ms. */
const TIMEOUT = 30_000;
/** The number of tries, and the first pause between two, in ms. In total less than 30 seconds. */
const TRIES = 6;
const FIRST_REST = 500;
/** Maximum number of characters per request, unless a single probe is longer: far below the API's limit. */
const PART_SIZE = 1_000_000;

const Leased = z.object({ lease: z.string(), hostnames: z.array(z.string()) });
const Results = z.object({
  results: z.array(
    z.discriminatedUnion('outcome', [
      z.object({
        domain: z.string(),
        outcome: z.literal('recorded'),
        seq: z.int(),
        changes: z.array(z.string()),
      }),
      z.object({ domain: z.string(), outcome: z.literal('lost') }),
      z.object({ domain: z.string(), outcome: z.literal('refused'), message: z.string() }),
    ]),
  ),
});

export interface RemoteQueueOptions {
  /** The address of the domain records, without a trailing slash. */
  url: string;
  /** A scanner's key. */
  key: string;
  /** Aborts pauses between tries. */
  stopping: AbortSignal;
}

/**
 * The queue of domain records on another machine, over its API. Retries transient failures; submitting the same
 * probes twice records them once. Throws `key_invalid`, `key_expired` and `level_too_low` at once, and `unavailable`
 * after the last try.
 */
export function remoteQueue({ url, key, stopping }: RemoteQueueOptions): ScanQueue {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    let failure = '';
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (attempt > 0)
        await sleep(FIRST_REST * 2 ** (attempt - 1), undefined, { signal: stopping }).catch(() => undefined);
      if (attempt > 0 && stopping.aborted) break;
      const response = await ask(`${url}/v1/queue/${path}`, method, key, body);
      if ('answer' in response) return response.answer;
      failure = response.failure;
    }
    throw new Fault('unavailable', `${url} cannot be reached for scanning (${failure}); try again later`);
  };
  return {
    async lease(max) {
      const { lease, hostnames } = Leased.parse(await call('POST', 'lease', { max }));
      return hostnames.length === 0 ? null : { lease, hostnames };
    },
    async submit(lease, probes) {
      const outcomes: ProbeOutcome[] = [];
      for (const part of inParts(probes)) {
        const { results } = Results.parse(await call('POST', `${lease}/results`, { looks: part }));
        for (const { domain, ...outcome } of results) outcomes.push({ hostname: domain, ...outcome } as ProbeOutcome);
      }
      return outcomes;
    },
    async release(lease) {
      await call('DELETE', lease);
    },
  };
}

/** Sends one request. Returns its response, or the reason to retry. Throws faults that a retry cannot fix. */
async function ask(
  url: string,
  method: string,
  key: string,
  body: object | undefined,
): Promise<{ answer: unknown } | { failure: string }> {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'X-Service-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      signal: AbortSignal.timeout(TIMEOUT),
      // Following a redirect would send the key to another host.
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok && answer !== null) return { answer };
    const { error, message } = membersIn(answer);
    if (response.status === 401 || response.status === 403) {
      throw new Fault(
        error === 'level_too_low' || error === 'key_expired' ? error : 'key_invalid',
        `${url}: ${message ?? 'the key is refused'}`,
      );
    }
    if (response.status >= 400 && response.status < 500 && response.status !== 429) {
      throw new Fault('invalid_request', `${url} answered ${response.status}: ${message ?? 'without a message'}`);
    }
    return { failure: `it answered ${response.status}` };
  } catch (error) {
    if (error instanceof Fault) throw error;
    return { failure: reasonOf(error) };
  }
}

/** Splits probes into as few requests as possible. */
function inParts(probes: Probe[]): Probe[][] {
  const parts: Probe[][] = [];
  let room = 0;
  for (const probe of probes) {
    const { length } = JSON.stringify(probe);
    if (length > room) {
      parts.push([]);
      room = PART_SIZE;
    }
    parts.at(-1)?.push(probe);
    room -= length;
  }
  return parts;
}
