import { buildPages, isBuilt } from '../desk/press/build.ts';
import { environmentWith } from '../server/env.ts';

/** The build of the pages for a starting server. */
export type CurrentPages = ReturnType<typeof currentPages>;

/** Starts to build the pages in another process, unless they were built from the current code. */
export function currentPages() {
  if (isBuilt()) return { built: Promise.resolve(), abandon: () => {} };
  const abort = new AbortController();
  // A build runs once per release: storing its compiled modules takes longer than the next build would save.
  const env = { ASTRO_TELEMETRY_DISABLED: '1', BUILD_PRESSES: 'off', NODE_DISABLE_COMPILE_CACHE: '1' };
  const built = buildPages(environmentWith(env), abort.signal);
  // Avoids an unhandled rejection if the caller fails before it awaits this.
  built.catch(() => {});
  return {
    /** Resolves once the pages are built. Rejects with `unavailable` when the build failed. */
    built,
    /** Ends a build that is still running. */
    abandon: () => abort.abort(),
  };
}
