import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FAMILIES } from '../../src/astro/font-faces.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { needsAsset, TYPEFACE_NAMES, TYPEFACES } from '../../src/desk/papers/typefaces.ts';
import { shapeProblems } from '../../src/shared/shape.ts';

const LAYOUTS = new URL('../../src/layouts/', import.meta.url);

test('each pair has its stylesheet, and each family its files', () => {
  const sheets = readdirSync(LAYOUTS).flatMap((name) => /^type-(.+)\.css$/.exec(name)?.[1] ?? []);
  assert.deepEqual(sheets.sort(), [...TYPEFACE_NAMES].sort());
  const files = readdirSync(new URL('typefaces/', LAYOUTS));
  for (const [pair, families] of Object.entries(TYPEFACES)) {
    const css = readFileSync(new URL(`type-${pair}.css`, LAYOUTS), 'utf8');
    for (const family of families) {
      assert.ok(css.split(/[ ;]/).includes(family), `${pair}: ${family}`);
      assert.ok(files.includes(`${family}-latin.woff2`) && family in FAMILIES, family);
    }
  }
});

test('a paper’s tree has only the fonts of its own pair', () => {
  const file = (name: string) => `_astro/${name}.B16QE50w.woff2`;
  assert.ok(needsAsset(file('source-serif-4-latin-italic'), 'source-serif'));
  assert.ok(needsAsset(file('source-serif-4-latin-italic'), 'lora'), 'pages of the shared host have it');
  assert.ok(needsAsset(file('public-sans-cyrillic'), 'bitter'));
  assert.ok(!needsAsset(file('lora-european'), 'public-sans'));
  assert.ok(!needsAsset('_astro/type-lora.B1.css', 'source-serif'));
  for (const path of ['_astro/paper.DuwUq0F_.css', '_astro/type-bitter.B1.css', 'favicon.svg'])
    assert.ok(needsAsset(path, 'bitter'), path);
});

test('an unknown pair is refused with the list of those there are', () => {
  const body = { nameplate: 'The Quay', sections: ['City'], typefaces: 'comic-sans' };
  const { error } = PaperBody.safeParse(body);
  assert.ok(error);
  const [problem] = shapeProblems(error, body);
  assert.equal(problem?.field, 'typefaces');
  for (const name of TYPEFACE_NAMES) assert.ok(problem.message.includes(name), problem.message);
});
