import { en } from './en.ts';
import type { Phrases } from './phrases.ts';

/** Every language that papers speak, by its BCP 47 tag. Papers in another one speak English. */
export const TABLES: Readonly<Record<string, Phrases>> = { en };

/** The tag of the table for a language, by lookup (RFC 4647, section 3.4): `pt-BR` finds `pt`, an unknown one `en`. */
export function tagOf(language: string): string {
  let range = language.toLowerCase();
  while (range !== '' && !Object.hasOwn(TABLES, range)) range = range.slice(0, Math.max(0, range.lastIndexOf('-')));
  return range || 'en';
}

/** The words for a page in a language. */
export const phrasesOf = (language: string): Phrases => TABLES[tagOf(language)] ?? en;
