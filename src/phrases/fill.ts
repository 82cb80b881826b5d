import type { Phrase } from './phrases.ts';

const PLACEHOLDER = /\{(\w+)\}/g;

/** Puts values into the placeholders of a phrase. A placeholder without a value stays as it is. */
export function fill<P extends string>(phrase: Phrase<P>, values: Readonly<Record<P, string | number>>): string {
  const known: Readonly<Record<string, string | number>> = values;
  let text = '';
  let isName = false;
  for (const part of split(phrase)) {
    text += isName ? (known[part] ?? `{${part}}`) : part;
    isName = !isName;
  }
  return text;
}

/** How many phrases are kept in pieces: more than a language has. */
const KEPT_MAX = 2_000;
const kept = new Map<string, readonly string[]>();

/** A phrase in pieces: texts at the even places, names of placeholders at the odd ones. */
export function split(phrase: string): readonly string[] {
  let parts = kept.get(phrase);
  if (parts === undefined) {
    parts = phrase.split(PLACEHOLDER);
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(phrase, parts);
  }
  return parts;
}
