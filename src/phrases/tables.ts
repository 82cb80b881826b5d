import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import { en } from './en.ts';
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import he from './he.json' with { type: 'json' };
import hi from './hi.json' with { type: 'json' };
import { counted, number } from './intl.ts';
import it from './it.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import ko from './ko.json' with { type: 'json' };
import nl from './nl.json' with { type: 'json' };
import type { Counted, Phrase, Phrases } from './phrases.ts';
import pl from './pl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import tr from './tr.json' with { type: 'json' };
import uk from './uk.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };

/**
 * Every language that papers speak, by its BCP 47 tag, with its plural categories: the compiler refuses a table without
 * one of the English phrases or one of the categories. Papers in another language speak English.
 */
export const TABLES = {
  en,
  de: de satisfies Phrases<'one' | 'other'>,
  fr: fr satisfies Phrases<'one' | 'many' | 'other'>,
  es: es satisfies Phrases<'one' | 'many' | 'other'>,
  pt: pt satisfies Phrases<'one' | 'many' | 'other'>,
  it: it satisfies Phrases<'one' | 'many' | 'other'>,
  nl: nl satisfies Phrases<'one' | 'other'>,
  pl: pl satisfies Phrases<'one' | 'few' | 'many' | 'other'>,
  uk: uk satisfies Phrases<'one' | 'few' | 'many' | 'other'>,
  tr: tr satisfies Phrases<'one' | 'other'>,
  ja: ja satisfies Phrases<'other'>,
  zh: zh satisfies Phrases<'other'>,
  ko: ko satisfies Phrases<'other'>,
  hi: hi satisfies Phrases<'one' | 'other'>,
  ar: ar satisfies Phrases<'zero' | 'one' | 'two' | 'few' | 'many' | 'other'>,
  he: he satisfies Phrases<'one' | 'two' | 'other'>,
};

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
