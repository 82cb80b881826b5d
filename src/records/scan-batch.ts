import type { Prober } from '../net/prober.ts';
import type { Entered, Leased, ScanQueue } from './scan-queue.ts';
import type { Probe } from './signal.ts';
import { isKnown } from './signal.ts';

/** What a batch of looks came to. */
export interface BatchOutcome {
  entered: Entered[];
  /** Whether no resolver answered anything, so that nothing was learned of the hosts and nothing entered. */
  isBlind: boolean;
}

/** Asked when nothing was learned; any answer, a refusal too, shows that somebody is there. */
const PROBE = ['com', 'NS'] as const;

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
  { lease, hostnames }: Leased,
  { isStopping, release }: BatchOptions,
): Promise<BatchOutcome> {
  const entered: Entered[] = [];
  const ready: Probe[] = [];
  const blind: Probe[] = [];
  let held = hostnames.length;
  const letGo = (count: number): void => {
    held -= count;
    release(count);
  };
  let entering: Promise<void> = Promise.resolve();
  let failure: unknown;
  // What comes while the last ones are entered goes together.
  const enterReady = async (): Promise<void> => {
    if (failure !== undefined || ready.length === 0) return;
    const looks = ready.splice(0);
    try {
      entered.push(...(await queue.enter(lease, looks)));
      letGo(looks.length);
    } catch (error) {
      failure = error;
    }
  };
  try {
    await Promise.all(
      hostnames.map(async (hostname) => {
        const look = await prober.probe(hostname);
        // A client that was closed answers by saying nothing.
        if (isStopping()) return;
        if (isBlind(look)) {
          blind.push(look);
          return;
        }
        ready.push(look);
        entering = entering.then(enterReady);
      }),
    );
    await entering;
    const isDeaf = blind.length > 0 && !isStopping() && (await isUnanswered(prober));
    if (!isDeaf && !isStopping()) {
      ready.push(...blind);
      await enterReady();
    }
    if (isDeaf || isStopping() || failure !== undefined) await queue.release(lease);
    if (failure !== undefined) throw failure;
    return { entered, isBlind: isDeaf };
  } finally {
    letGo(held);
  }
}

/** Whether a look had no answer at all. */
export function isBlind({ signals }: Probe): boolean {
  return Object.values(signals).every((signal) => !isKnown(signal) && isSilence(signal.status));
}

function isSilence(status: string): boolean {
  return status === 'timeout' || status === 'unreachable' || status === 'skipped';
}

/** Whether nobody is there to be asked. */
export async function isUnanswered({ resolver }: Prober): Promise<boolean> {
  return isSilence((await resolver.ask(...PROBE)).status);
}
