/** How many requests to a target are in flight. */
export const IN_FLIGHT = 32;

/** Works on each item, `IN_FLIGHT` at a time. After a failure no further item begins; rejects when all others ended. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const next = asyncIterator(items);
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      try {
        const { value, done } = await next();
        if (done === true) return;
        await work(value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  if (failures.length > 0) throw failures[0];
}

function asyncIterator<T>(items: Iterable<T> | AsyncIterable<T>): () => Promise<IteratorResult<T>> {
  const iterator = (async function* () {
    yield* items;
  })();
  return () => iterator.next();
}
