import { formatters } from './intl.ts';
import type { Counted, Phrase } from './phrases.ts';

const rules = formatters((tag) => new Intl.PluralRules(tag));

/** The text of a counted phrase for a number, by the tag of its table. Its `{count}` is not filled. */
export const counted = <P extends string>(tag: string, phrase: Counted<P>, n: number): Phrase<P> =>
  phrase[rules(tag).select(n)] ?? phrase.other;
