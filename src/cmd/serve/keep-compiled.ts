import { flushCompileCache } from 'node:module';
import { eventLoop } from '../../app/event-loop.ts';
import { SECOND } from '../../time.ts';

/** How long after it is ready a server keeps what it compiled, in ms. */
const AFTER = SECOND;

/**
 * Puts the compiled modules on disk for the next start. Node does so when a process ends by itself, but not when it is
 * killed. This blocks the event loop for some 0.2 s after an upgrade, and for 2 ms when everything is there.
 */
export function keepCompiled(): void {
  const keep = () => {
    const ended = eventLoop.began({ job: 'keep compiled modules' });
    flushCompileCache();
    ended();
  };
  setTimeout(keep, AFTER).unref();
}
