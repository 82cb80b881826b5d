import type { DevDesk } from '../writing/shown.ts';

const SHARED_KEY = Symbol.for('broadsheet.writing-desk');

/**
 * Vite loads the middleware again whenever a module changes, apart from the modules of Astro's integrations. The desk
 * stays where both find it.
 */
export function shareDesk(desk: DevDesk): void {
  Object.assign(globalThis, { [SHARED_KEY]: desk });
}

export function sharedDesk(): DevDesk {
  const desk = (globalThis as { [SHARED_KEY]?: DevDesk })[SHARED_KEY];
  if (desk === undefined) throw new Error('the writing desk has not been opened');
  return desk;
}
