import type { Archive } from '../archive.ts';
import { NEWEST_MAX } from '../dependencies.ts';

/** Caches, for one press or response, the parts of an archive that each page and every row of a list reads. */
export function memoized(archive: Archive): Archive {
  return {
    ...archive,
    paper: cached(archive.paper),
    hasArchived: cached(archive.hasArchived),
    hasFacts: cached(archive.hasFacts),
    masthead: cached(archive.masthead),
    casts: cached(archive.casts),
    keys: cached(archive.keys),
    isLogCosigned: cached(archive.isLogCosigned),
    months: cached(archive.months),
    persona: cached(archive.persona),
    media: cached(archive.media),
    pages: cached(archive.pages),
    // As many as a feed has: many feeds have the newest ones.
    storyBySlug: cached(archive.storyBySlug, NEWEST_MAX),
  };
}

/** The answers by the first argument. With `max`, the oldest is dropped when there are more. */
function cached<Args extends string[], T>(ask: (...args: Args) => T, max?: number): (...args: Args) => T {
  const answers = new Map<string | undefined, T>();
  return (...args) => {
    const [name] = args;
    if (!answers.has(name)) {
      const [oldest] = answers.size === max ? answers.keys() : [];
      if (answers.size === max) answers.delete(oldest);
      answers.set(name, ask(...args));
    }
    return answers.get(name) as T;
  };
}
