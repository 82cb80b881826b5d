import type { Archive } from '../desk/archive.ts';

/**
 * An archive that answers the same question with the same object for as long
 * as one press, or one answer of the API, lasts: ten thousand pages ask for the
 * paper, its personas and its keys, and so does each row of a list. What
 * changes while a press lasts is due again anyway.
 */
export function memoized(archive: Archive): Archive {
  return {
    ...archive,
    paper: once(archive.paper),
    masthead: once(archive.masthead),
    casts: once(archive.casts),
    keys: once(archive.keys),
    months: once(archive.months),
    persona: byName(archive.persona),
    media: byName(archive.media),
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
