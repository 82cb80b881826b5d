import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { he } from './he.ts';
import { hi } from './hi.ts';
import { counted, number } from './intl.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { ko } from './ko.ts';
import { nl } from './nl.ts';
import type { Counted, Phrase, Phrases } from './phrases.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';
import { tr } from './tr.ts';
import { uk } from './uk.ts';
import { zh } from './zh.ts';

/** Every language that papers speak, by its BCP 47 tag. Papers in another one speak English. */
export const TABLES = { en, de, fr, es, pt, it, nl, pl, uk, tr, ja, zh, ko, hi, ar, he } as const;

const tables: Readonly<Record<string, Phrases>> = TABLES;

/** The tag of the table that stands for a language, by lookup (RFC 4647, section 3.4); null when there is none. */
export function tableTag(language: string): string | null {
  if (Object.hasOwn(tables, language)) return language;
  let range = language.toLowerCase();
  while (range !== '' && !Object.hasOwn(tables, range)) range = range.slice(0, Math.max(0, range.lastIndexOf('-')));
  return range || null;
}

/** The language of the words on a page: that of its table, else English. `pt-BR` finds `pt`. */
export const tagOf = (language: string): string => tableTag(language) ?? 'en';

/** The words for a page in a language. */
export const phrasesOf = (language: string): Phrases => tables[tagOf(language)] ?? en;

/**
 * The text of a counted phrase for a number, with the number in its `{count}`, as the language writes it. Other
 * placeholders are left to `fill`.
 */
export const plural = <P extends string>(
  language: string,
  phrase: Counted<P>,
  n: number,
): Phrase<Exclude<P, 'count'>> => counted(tagOf(language), phrase, n).replaceAll('{count}', number(language, n));
