import type { Prober } from '../net/prober.ts';
import type { ProbeOutcome, ScanLease, ScanQueue } from './scan-queue.ts';
import type { Probe } from './signal.ts';
import { isKnown } from './signal.ts';

/** What a batch of looks came to. */
export interface BatchOutcome {
  outcomes: ProbeOutcome[];
  /** Whether no resolver answered anything, so that nothing was learned of the hosts and nothing entered. */
  noResolver: boolean;
}

/** Asked when nothing was learned; any answer, a refusal too, shows that somebody is there. */
const TEST_QUESTION = ['com', 'NS'] as const;

/** How a batch is told to end, and tells that it holds less. */
export interface BatchOptions {
  /** Once it is, what is still under way is dropped and given back. */
  isStopping(): boolean;
  /** So many looks are done with: entered, or dropped. All of them are in the end. */
  release(count: number): void;
}

/**
 * Looks at the hostnames of a lease, all at once, and enters each look as it
 * comes: the slowest host keeps the others waiting no longer than entering takes.
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
  // What comes while the last ones are entered goes together.
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
        // A client that was closed answers by saying nothing.
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

/** Whether a look had no answer at all. */
export function gotNoAnswer({ signals }: Probe): boolean {
  return Object.values(signals).every((signal) => !isKnown(signal) && isSilence(signal.status));
}

function isSilence(status: string): boolean {
  return status === 'timeout' || status === 'unreachable' || status === 'skipped';
}

/** Whether nobody is there to be asked. */
export async function areResolversDown({ resolver }: Prober): Promise<boolean> {
  return isSilence((await resolver.ask(...TEST_QUESTION)).status);
}
