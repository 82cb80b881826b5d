import type { Counted, Phrase } from './phrases.ts';

/**
 * Returns a function that gives the formatter of a language. Formatters are expensive to create and a press prints
 * thousands of dates, so each is created once. Falls back to English for a tag that the runtime rejects.
 */
export function formatters<Formatter>(make: (language: string) => Formatter): (language: string) => Formatter {
  const made = new Map<string, Formatter>();
  return (language) => {
    let formatter = made.get(language);
    if (formatter === undefined) {
      try {
        formatter = make(language);
      } catch {
        formatter = make('en');
      }
      made.set(language, formatter);
    }
    return formatter;
  };
}

const numbers = formatters((language) => new Intl.NumberFormat(language));
const rules = formatters((language) => new Intl.PluralRules(language));
const lists = formatters((language) => new Intl.ListFormat(language, { type: 'conjunction' }));

/** 12,345 */
export const number = (language: string, n: number): string => numbers(language).format(n);

/** The text of a counted phrase for a number, by the tag of its table. Its `{count}` is not filled. */
export const counted = <P extends string>(tag: string, phrase: Counted<P>, n: number): Phrase<P> =>
  phrase[rules(tag).select(n)] ?? phrase.other;

/** Science, Culture, and Sport */
export const list = (language: string, parts: readonly string[]): string => lists(language).format(parts);

/** The same as parts: the items, and the words and marks between them. */
export function listParts<Item>(language: string, items: readonly Item[]): (Item | string)[] {
  const places = items.map((_item, index) => String(index));
  return lists(language)
    .formatToParts(places)
    .map(({ type, value }) => (type === 'element' ? (items[Number(value)] ?? value) : value));
}
