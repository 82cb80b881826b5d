import type { Archive } from '../archive.ts';

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
  };
}

function cached<Args extends string[], T>(ask: (...args: Args) => T): (...args: Args) => T {
  const answers = new Map<string | undefined, T>();
  return (...args) => {
    const [name] = args;
    if (!answers.has(name)) answers.set(name, ask(...args));
    return answers.get(name) as T;
  };
}
