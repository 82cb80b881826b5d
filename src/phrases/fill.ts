import type { Phrase } from './phrases.ts';

const PLACEHOLDER = /\{(\w+)\}/g;

/** Puts values into the placeholders of a phrase. A placeholder without a value stays as it is. */
export function fill<P extends string>(phrase: Phrase<P>, values: Readonly<Record<P, string | number>>): string {
  const known: Readonly<Record<string, string | number>> = values;
  return phrase.replace(PLACEHOLDER, (placeholder, name: string) => `${known[name] ?? placeholder}`);
}

/** A phrase in pieces: texts at the even places, names of placeholders at the odd ones. */
export const split = (phrase: string): string[] => phrase.split(PLACEHOLDER);
