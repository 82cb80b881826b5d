import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotIJson, parseIJson } from '../../src/proof/i-json.ts';
import { assertLinear } from '../complexity/growth.ts';
import * as fc from '../support/properties.ts';

test('the output of JSON.stringify round-trips', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(2), (value, blanks) => {
      const text = JSON.stringify(value, null, blanks);
      assert.deepEqual(parseIJson(text), JSON.parse(text));
    }),
    { numRuns: 300 },
  );
});

test('a member that is named twice is refused, at any depth and in any spelling', () => {
  const twice: [text: string, name: string][] = [
    ['{"headline":"forged","headline":"real"}', 'headline'],
    ['{"\\u0068eadline":"forged","headline":"real"}', 'headline'],
    ['{"headline":"forged","h\\u0065adline":"real"}', 'headline'],
    ['{"a":{"b":[{"c":1},{"c":1,"d":{"e":[]},"c":2}]}}', 'c'],
    ['{"a":[{}],"b":"a","a":null}', 'a'],
    ['{"":1,"":1}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a\\"":1,"a\\u0022":2}', 'a\\"'],
    ['{"a\\\\":1, "b":{}, "a\\\\":2}', 'a\\\\'],
    ['[{"a":"{\\"a\\":1}","b":",","a":3}]', 'a'],
    ['{"\\ud83d\\ude00":1,"😀":2}', '😀'],
  ];
  for (const [text, name] of twice) {
    assert.throws(() => parseIJson(text), { message: `names the member "${name}" twice` }, text);
  }
  const once = ['{"a":{"a":{"a":1}}}', '[{"a":1},{"a":1}]', '{"a":["a","a"],"b":"a"}', '["a","a"]', '"a"', '{"a":"a"}'];
  for (const text of once) assert.deepEqual(parseIJson(text), JSON.parse(text), text);
  for (const text of ['', '{', '{"a":1,}', "{'a':1}", 'NaN', '\ufeff{}']) {
    assert.throws(() => parseIJson(text), { message: 'is not JSON' }, text);
  }
});

test('a copied member is found wherever it is put in', () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
  fc.assert(
    fc.property(json, fc.nat(), fc.boolean(), (value, pick, escaped) => {
      const names = Object.keys(value);
      const name = names[pick % names.length] as string;
      const spelled = escaped
        ? `"${[...Array(name.length).keys()].map((at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(name);
      const text = `{${spelled}:null,${JSON.stringify(value).slice(1)}`;
      // Half a surrogate pair is written in one way only, and read as itself.
      assert.throws(() => parseIJson(text), NotIJson);
    }),
    { numRuns: 300 },
  );
});

test('parsing takes linear time on any repetition', async () => {
  const shapes: ((n: number) => string)[] = [
    (n) => `${'['.repeat(n)}${']'.repeat(n)}`,
    (n) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`,
    (n) => `{${Array.from({ length: n }, (_, at) => `"m${at}":1`).join()}}`,
    (n) => `"${'\\\\'.repeat(n)}"`,
    (n) => `[${'"\\"",'.repeat(n)}0]`,
    (n) => `{"${'\\u0061'.repeat(n)}":1}`,
  ];
  for (const [index, shape] of shapes.entries()) {
    await assertLinear(`shape ${index}`, shape, parseIJson, { shortest: 50_000, longest: 100_000 });
  }
});
