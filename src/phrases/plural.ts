import { counted } from './counted.ts';
import { number } from './intl.ts';
import type { Counted, Phrase } from './phrases.ts';
import { tagOf } from './tables.ts';

/** How many texts of one phrase are kept: a press prints small numbers again and again, and Intl is slow. */
const KEPT_MAX = 1_000;
const kept = new WeakMap<object, Map<string, string>>();

/**
 * The text of a counted phrase for a number, with the number in its `{count}`, as the language writes it. Other
 * placeholders are left to `fill`.
 */
export function plural<P extends string>(language: string, phrase: Counted<P>, n: number): Phrase<Exclude<P, 'count'>> {
  const made = kept.get(phrase) ?? new Map<string, string>();
  const key = `${language} ${n}`;
  let text = made.get(key);
  if (text === undefined) {
    text = counted(tagOf(language), phrase, n).replaceAll('{count}', number(language, n));
    if (made.size >= KEPT_MAX) made.clear();
    kept.set(phrase, made.set(key, text));
  }
  return text;
}
