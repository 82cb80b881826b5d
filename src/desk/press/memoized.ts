import type { Archive } from '../archive.ts';

/** An archive that caches, for one press or response, what each page and every row of a list reads. */
export function memoized(archive: Archive): Archive {
  return {
    ...archive,
    paper: once(archive.paper),
    masthead: once(archive.masthead),
    casts: once(archive.casts),
    keys: once(archive.keys),
    isLogCosigned: once(archive.isLogCosigned),
    months: once(archive.months),
    persona: byName(archive.persona),
    media: byName(archive.media),
    pages: once(archive.pages),
  };
}

function once<T>(ask: () => T): () => T {
  let answer: { value: T } | undefined;
  return () => {
    answer ??= { value: ask() };
    return answer.value;
  };
}

function byName<T>(ask: (name: string) => T): (name: string) => T {
  const answers = new Map<string, T>();
  return (name) => {
    let answer = answers.get(name);
    if (answer === undefined) {
      answer = ask(name);
      answers.set(name, answer);
    }
    return answer;
  };
}
