import type { Phrase } from './phrases.ts';

/** A placeholder of a phrase: `{name}`, or `{name|words}` where words of the sentence become a link. */
interface Placeholder {
  name: string;
  /** Empty for a placeholder without words. */
  words: string;
}

const PLACEHOLDER = /\{(\w+)(?:\|([^{}]*))?\}/g;

/** Splits a phrase into its texts and placeholders. */
export function partsOf(phrase: string): (string | Placeholder)[] {
  const found = phrase.split(PLACEHOLDER);
  return found.flatMap((text, index): (string | Placeholder)[] => {
    if (index % 3 === 0) return [text];
    return index % 3 === 1 ? [{ name: text, words: found[index + 1] ?? '' }] : [];
  });
}

/**
 * Puts values into the placeholders of a phrase. A function makes the value from the placeholder's words. A placeholder
 * without a value stays as it is.
 */
export function fill<P extends string>(
  phrase: Phrase<P>,
  values: Readonly<Record<P, string | number | ((words: string) => string)>>,
): string {
  return phrase.replace(PLACEHOLDER, (all, name: P, words = '') => {
    const value = values[name] ?? all;
    return typeof value === 'function' ? value(words) : `${value}`;
  });
}
