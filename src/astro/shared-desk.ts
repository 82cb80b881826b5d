import type { DevDesk } from '../writing/shown.ts';

const SHARED_KEY = Symbol.for('broadsheet.writing-desk');

/**
 * Vite reloads the middleware whenever a module changes, separately from the modules of Astro's integrations. This
 * keeps the desk where both find it.
 */
export function shareDesk(desk: DevDesk): void {
  Object.assign(globalThis, { [SHARED_KEY]: desk });
}

export function sharedDesk(): DevDesk {
  const desk = (globalThis as { [SHARED_KEY]?: DevDesk })[SHARED_KEY];
  if (desk === undefined) throw new Error('the writing desk has not been opened');
  return desk;
}
