import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fill } from '../../src/phrases/fill.ts';
import type { Phrase } from '../../src/phrases/phrases.ts';
import { phrasesOf, plural, TABLES, tableTag } from '../../src/phrases/tables.ts';

/** The texts of a table by their path: `story.by`, and `story.sources.one` where a phrase is counted. */
function textsOf(group: object, path = ''): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(group)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (typeof value === 'string') texts.set(at, value);
    else for (const [name, text] of textsOf(value, at)) texts.set(name, text);
  }
  return texts;
}

const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)(\|\S[^{}]*)?\}/g)].map(([, name, words]) => (words ? `${name}|` : `${name}`)).sort();
/** The category of a counted phrase, as the last member of its place. */
const CATEGORY = /\.(zero|one|two|few|many|other)$/;
const english = textsOf(TABLES.en);
const modelOf = (path: string): string => english.get(path.replace(CATEGORY, '.other')) ?? '';
/** Parts of a word or of a list, which may begin or end with a space. */
const PARTS = new Set(['choices.between']);

for (const [language, table] of Object.entries(TABLES)) {
  const rules = new Intl.PluralRules(language);
  const numbersOf = Map.groupBy(
    Array.from({ length: 201 }, (_, n) => n),
    (n): string => rules.select(n),
  );

  test(`${language}: every phrase is rendered with its placeholders filled, and is plain text`, () => {
    for (const [path, text] of textsOf(table)) {
      // No typeface of ours has one, and those of some systems neither: stylesheets draw them.
      assert.doesNotMatch(text, /[←→]/, path);
      assert.ok(english.has(path.replace(CATEGORY, '.other')), `${language} ${path} is no phrase of English`);
      const names = placeholders(text);
      const [model, category] = [placeholders(modelOf(path)), CATEGORY.exec(path)?.[1]];
      // A word may stand for the number only where no other number takes its category.
      const numbers = numbersOf.get(category ?? '') ?? [];
      const expected =
        numbers.length <= 1 && !names.includes('count') ? model.filter((name) => name !== 'count') : model;
      assert.deepEqual(names, expected, `${language} ${path}: ${text}`);
      const values = Object.fromEntries(names.map((name) => [name.replace('|', ''), `<${name}>`]));
      const rendered = fill(text as Phrase<string>, values);
      assert.doesNotMatch(rendered, /[{}]/, `${language} ${path}: ${text}`);
      assert.doesNotMatch(text, /[<>]|&\w+;/, `${language} ${path} has markup: ${text}`);
      assert.match(text, /\S/, `${language} ${path} is empty`);
      if (!PARTS.has(path)) assert.equal(text, text.trim(), `${language} ${path}`);
      assert.equal(text, text.normalize('NFC'), `${language} ${path}`);
    }
  });

  test(`${language}: counted phrases have the plural categories of the language, and no others`, () => {
    const categories = rules.resolvedOptions().pluralCategories.toSorted();
    const counted = Map.groupBy(
      [...textsOf(table).keys()].filter((path) => CATEGORY.test(path)),
      (path) => path.replace(CATEGORY, ''),
    );
    assert.ok(counted.size > 0);
    for (const [path, found] of counted) {
      assert.deepEqual(found.map((name) => name.slice(path.length + 1)).sort(), categories, `${language} ${path}`);
    }
    for (const n of [0, 1, 2, 3, 5, 11, 21, 100, 1_000, 1_000_000]) {
      assert.doesNotMatch(plural(language, phrasesOf(language).story.sources, n), /[{}]/);
    }
  });

  if (language === 'en') continue;
  test(`${language}: no sentence is left in English`, () => {
    const same = [...textsOf(table)].filter(
      ([path, text]) => text === modelOf(path) && text.replace(/\{[^{}]*\}/g, '').length > 20,
    );
    assert.deepEqual(same, []);
  });
}

test('a table is found by lookup: a region and a script fall back to their language, an unknown one to English', () => {
  assert.deepEqual(['pt-BR', 'PT-br', 'zh-Hant-TW', 'de', 'sv', 'den', '', 'constructor'].map(tableTag), [
    'pt',
    'pt',
    'zh',
    'de',
    null,
    null,
    null,
    null,
  ]);
  assert.equal(phrasesOf('de-CH').byline.persona, 'KI-Persona');
  assert.equal(phrasesOf('sv'), TABLES.en);
});

test('a counted phrase takes the text of its category, with the number as the language writes it', () => {
  const { sources } = TABLES.pl.story;
  assert.deepEqual(
    [1, 2, 5, 12, 22, 1_234_567].map((n) => plural('pl', sources, n)),
    ['1 źródło', '2 źródła', '5 źródeł', '12 źródeł', '22 źródła', '1\u00a0234\u00a0567 źródeł'],
  );
  assert.equal(plural('en', TABLES.en.story.sources, 12_345), '12,345 sources');
});

test('a value that looks like a placeholder stays unchanged', () => {
  assert.equal(fill(TABLES.en.section.description, { section: '{paper}', paper: '$&' }), '{paper} in $&.');
});
