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
import type { Counted, Phrase, Phrases, Translation } from './phrases.ts';
import pl from './pl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import tr from './tr.json' with { type: 'json' };
import uk from './uk.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };

interface Group {
  [name: string]: string | Group;
}

/** The table of a translation, with the plural categories of its language. */
function table<Categories extends Intl.LDMLPluralRule>(texts: Translation<Categories>): Phrases {
  const root: Group = {};
  for (const [path, text] of Object.entries<string>(texts)) {
    const names = path.split('.');
    const name = names.pop() ?? '';
    let group = root;
    for (const parent of names) {
      group[parent] ??= {};
      group = group[parent] as Group;
    }
    group[name] = text;
  }
  return root as unknown as Phrases;
}

/**
 * Every language with phrases, by its BCP 47 tag. The compiler rejects a translation that lacks an English phrase or a
 * plural category. The phrases of papers in other languages are English.
 */
export const TABLES = {
  en,
  de: table<'one' | 'other'>(de),
  fr: table<'one' | 'many' | 'other'>(fr),
  es: table<'one' | 'many' | 'other'>(es),
  pt: table<'one' | 'many' | 'other'>(pt),
  it: table<'one' | 'many' | 'other'>(it),
  nl: table<'one' | 'other'>(nl),
  pl: table<'one' | 'few' | 'many' | 'other'>(pl),
  uk: table<'one' | 'few' | 'many' | 'other'>(uk),
  tr: table<'one' | 'other'>(tr),
  ja: table<'other'>(ja),
  zh: table<'other'>(zh),
  ko: table<'other'>(ko),
  hi: table<'one' | 'other'>(hi),
  ar: table<'zero' | 'one' | 'two' | 'few' | 'many' | 'other'>(ar),
  he: table<'one' | 'two' | 'other'>(he),
};

const tables: Readonly<Record<string, Phrases>> = TABLES;

/** The tag of the table for a language, by lookup (RFC 4647, section 3.4); null when there is none. */
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
