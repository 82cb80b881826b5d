import { isKnown, type Probe } from '../../proof/records/signal.ts';
import type { Prober } from './prober.ts';

/** Hostnames that are reserved for one scanner until the lease ends. */
export interface ScanLease {
  lease: string;
  hostnames: string[];
}

/**
 * `lost`: another scanner leased the hostname in the meantime or it is no longer watched; `refused`: for its content.
 */
export type ProbeOutcome =
  | { hostname: string; outcome: 'recorded'; seq: number; changes: string[] }
  | { hostname: string; outcome: 'lost' }
  | { hostname: string; outcome: 'refused'; message: string };

/** Where a scanner gets its work and submits its probes: the database, or the API of another machine. */
export interface ScanQueue {
  /** Leases up to `max` due hostnames; null when none are due. */
  lease(max: number): Promise<ScanLease | null>;
  /** Submits probes under their lease; returns their outcomes in the same order. */
  submit(lease: string, probes: Probe[]): Promise<ProbeOutcome[]>;
  release(lease: string): Promise<void>;
}

interface BatchOutcome {
  outcomes: ProbeOutcome[];
  /** No resolver answered: nothing was learned about the hosts, and nothing was submitted. */
  noResolver: boolean;
}

/** Sent when a probe had no answer. Any reply, even a refusal, shows that a resolver is reachable. */
const TEST_QUESTION = ['com', 'NS'] as const;

interface BatchOptions {
  /** Once this is true, the batch drops probes in progress and releases their lease. */
  isStopping(): boolean;
  /** Reports how many more hostnames were submitted or dropped. The counts add up to the whole lease. */
  release(count: number): void;
}

/**
 * Probes the hostnames of a lease concurrently and submits each probe as it completes: a slow host delays no others.
 */
export async function scanBatch(
  queue: ScanQueue,
  prober: Prober,
  { lease, hostnames }: ScanLease,
  { isStopping, release }: BatchOptions,
): Promise<BatchOutcome> {
  const outcomes: ProbeOutcome[] = [];
  const ready: Probe[] = [];
  const unanswered: Probe[] = [];
  let held = hostnames.length;
  const letGo = (count: number): void => {
    held -= count;
    release(count);
  };
  let submitting: Promise<void> = Promise.resolve();
  let failure: unknown;
  // Probes that complete during a submission are submitted together.
  const submitReady = async (): Promise<void> => {
    if (failure !== undefined || ready.length === 0) return;
    const probes = ready.splice(0);
    try {
      outcomes.push(...(await queue.submit(lease, probes)));
      letGo(probes.length);
    } catch (error) {
      failure = error;
    }
  };
  try {
    await Promise.all(
      hostnames.map(async (hostname) => {
        const probe = await prober.probe(hostname);
        // A closed client ends every query without an answer.
        if (isStopping()) return;
        if (gotNoAnswer(probe)) {
          unanswered.push(probe);
          return;
        }
        ready.push(probe);
        submitting = submitting.then(submitReady);
      }),
    );
    await submitting;
    const noResolver = unanswered.length > 0 && !isStopping() && (await areResolversDown(prober));
    if (!noResolver && !isStopping()) {
      ready.push(...unanswered);
      await submitReady();
    }
    if (noResolver || isStopping() || failure !== undefined) await queue.release(lease);
    if (failure !== undefined) throw failure;
    return { outcomes, noResolver };
  } finally {
    letGo(held);
  }
}

export function gotNoAnswer({ signals }: Probe): boolean {
  return Object.values(signals).every((signal) => !isKnown(signal) && isSilence(signal.status));
}

function isSilence(status: string): boolean {
  return status === 'timeout' || status === 'unreachable' || status === 'skipped';
}

export async function areResolversDown({ resolver }: Prober): Promise<boolean> {
  return isSilence((await resolver.ask(...TEST_QUESTION)).status);
}
