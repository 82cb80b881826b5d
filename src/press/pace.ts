import { setImmediate as breathe } from 'node:timers/promises';

/** For how long work may hold the thread before others get it, in ms. */
const SLICE = 10;

/** Returns a function to await within a long loop: it lets others have the thread once the loop has held it for a turn. */
export function yielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE) return undefined;
    return breathe().then(() => {
      since = performance.now();
    });
  };
}
