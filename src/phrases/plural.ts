import { number } from './intl.ts';
import type { Counted, Phrase } from './phrases.ts';
import { tagOf } from './tables.ts';

const rules = new Map<string, Intl.PluralRules>();

/**
 * The text of a counted phrase for a number, with the number in its `{count}`, as the language writes it. Other
 * placeholders are left to `fill`.
 */
export function plural<P extends string>(
  language: string,
  counted: Counted<P>,
  n: number,
): Phrase<Exclude<P, 'count'>> {
  const tag = tagOf(language);
  let categories = rules.get(tag);
  if (categories === undefined) {
    categories = new Intl.PluralRules(tag);
    rules.set(tag, categories);
  }
  const text: string = counted[categories.select(n)] ?? counted.other;
  return text.replaceAll('{count}', number(language, n));
}
