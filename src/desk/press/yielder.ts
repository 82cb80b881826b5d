import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a loop may block the event loop before it yields, in ms. */
const SLICE = 10;

/** Returns a function to await in a long loop. It yields to the event loop once the loop has run for `SLICE`. */
export function yielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** The items of a long loop, in slices between which the event loop has its turn. */
export async function* sliced<T>(items: Iterable<T>, yieldTurn = yielder()): AsyncGenerator<T> {
  for (const item of items) {
    await yieldTurn();
    yield item;
  }
}
