import type { Probe } from '../../proof/records/signal.ts';
import { GROUP_LEAST } from '../../shared/sql/group-commit.ts';
import type { ProbeOutcome, ScanQueue } from '../probe/scan-queue.ts';

/** How long a probe waits for others to share its commit, in ms. */
const GATHER_FOR = 50;

interface Waiting {
  lease: string;
  probe: Probe;
  resolve(outcome: ProbeOutcome): void;
  reject(error: unknown): void;
}

/**
 * Groups the probes of a background scanner, which nobody waits for: probes of all its leases that arrive within 50 ms,
 * or that fit one commit, are submitted together. Commits run one at a time, so that other writers of this process get
 * in between. An outcome is still returned only when it is on disk.
 */
export function gatheredQueue<Q extends ScanQueue>(queue: Q): Q {
  const waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isSubmitting = false;
  const submitNext = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    isSubmitting = true;
    const group = waiting.splice(0, GROUP_LEAST);
    await Promise.all(
      group.map(async ({ lease, probe, resolve, reject }) => {
        try {
          const [outcome] = await queue.submit(lease, [probe]);
          if (outcome === undefined) throw new TypeError(`no outcome for ${probe.hostname}`);
          resolve(outcome);
        } catch (error) {
          reject(error);
        }
      }),
    );
    isSubmitting = false;
    plan();
  };
  const plan = (): void => {
    if (isSubmitting || waiting.length === 0) return;
    if (waiting.length >= GROUP_LEAST) void submitNext();
    else timer ??= setTimeout(() => void submitNext(), GATHER_FOR);
  };
  return {
    ...queue,
    submit(lease: string, probes: Probe[]) {
      const outcomes = probes.map(
        (probe) =>
          new Promise<ProbeOutcome>((resolve, reject) => {
            waiting.push({ lease, probe, resolve, reject });
          }),
      );
      plan();
      return Promise.all(outcomes);
    },
  };
}
