/**
 * Waits until everything has ended, then throws the first failure: unfinished work still uses the database, which is
 * closed next.
 */
export async function allEnded(ends: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(ends);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
