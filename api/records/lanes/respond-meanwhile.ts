import type { Next } from 'hono';

/**
 * Makes the response while the disk takes what was charged for it. Resolves when both are done, and rejects only then
 * too: a handler that is still at work would outlive the refund of its unit.
 */
export async function respondMeanwhile(next: Next, synced: Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled([next(), synced]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
