import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { phrasesOf } from '../../src/phrases/tables.ts';
import { copyPaper } from './papers.ts';

/** Languages in scripts that no typeface of papers has. */
export const SCRIPT_LANGUAGES = ['ja', 'zh', 'ko', 'ar', 'hi', 'he'] as const;

/** The length of a text in these languages that takes a hundred letters in English. */
const DENSE = { ja: 45, zh: 35, ko: 50, ar: 90, hi: 100, he: 80 };

/**
 * Adds a copy of a demo paper whose headlines, deks and prose are of sentences in a language of `SCRIPT_LANGUAGES`.
 */
export function scriptPaper(
  folder: string,
  slug: string,
  language: (typeof SCRIPT_LANGUAGES)[number],
  theme: string,
  only?: readonly string[],
): void {
  const inLanguage = (yaml: string) => yaml.replace('language: en', `language: ${language}\ntheme: ${theme}`);
  copyPaper(folder, 'the-leading-light', slug, inLanguage, only);
  const sentences = textsIn(phrasesOf(language)).filter((text) => text.length > 12);
  let n = 0;
  const words = (length: number): string => {
    let text = '';
    while (text.length < (length * DENSE[language]) / 100) text += `${sentences[n++ % sentences.length]} `;
    return text.trim();
  };
  const line = (name: string, length: number) =>
    `${name}: ${JSON.stringify([...words(length)].slice(0, length).join(''))}`;
  const stories = join(folder, 'content', slug, 'stories');
  for (const name of readdirSync(stories)) {
    const file = join(stories, name);
    const [, head = '', prose = ''] = /^(---\n[\s\S]*?\n---\n)([\s\S]*)$/.exec(readFileSync(file, 'utf8')) ?? [];
    const inWords = prose
      .split('\n')
      .map((text) =>
        /^[A-Z“]/.test(text) ? [words(text.length), ...(text.match(/\[\^\d+\]/g) ?? [])].join('') : text,
      );
    const heading = head
      .replace(/^headline: .*$/m, () => line('headline', 60))
      .replace(/^dek: .*$/m, () => line('dek', 150));
    writeFileSync(file, heading + inWords.join('\n'));
  }
}

/** The texts of a table of phrases, without their placeholders. */
function textsIn(phrases: unknown): string[] {
  if (typeof phrases === 'string') return [phrases.replace(/[{}<>|*_#[\]]/g, '')];
  return typeof phrases === 'object' && phrases !== null ? Object.values(phrases).flatMap(textsIn) : [];
}
