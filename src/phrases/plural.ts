import { counted } from './counted.ts';
import { number } from './intl.ts';
import type { Counted, Phrase } from './phrases.ts';
import { tagOf } from './tables.ts';

/**
 * The text of a counted phrase for a number, with the number in its `{count}`, as the language writes it. Other
 * placeholders are left to `fill`.
 */
export const plural = <P extends string>(
  language: string,
  phrase: Counted<P>,
  n: number,
): Phrase<Exclude<P, 'count'>> => counted(tagOf(language), phrase, n).replaceAll('{count}', number(language, n));
