import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { codeColours } from '../../src/desk/press/code-colours.ts';
import { codeKey, proseHtml } from '../../src/desk/press/prose-html.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const FACTS = [{ n: 1, statement: 'So it is.', source: 'Harbour office', instrument: 'A table', claim_key: null }];
const fence = (info: string, code: string): string => `\`\`\`${info}\n${code}\n\`\`\``;
const plain = (prose: string): string => proseHtml(prose, FACTS, (path) => path).html;
const coloured = async (prose: string): Promise<string> =>
  proseHtml(prose, FACTS, (path) => path, { colours: await codeColours(prose) }).html;
/** The colours of words in a code, by the words. */
async function coloursIn(info: string, code: string): Promise<Record<string, string>> {
  const spans = (await coloured(fence(info, code))).matchAll(/<span class="hl-([a-z]+)">([^<]*)<\/span>/g);
  return Object.fromEntries([...spans].map(([, colour = '', text = '']) => [text.trim(), colour]));
}

test('code is coloured by what its words are, in the language that its fence names', async () => {
  const typescript = `export const port = 8080; // the default\nconst name: Host = \`a \${port} b\`;\nserve("x");`;
  assert.deepEqual(await coloursIn('ts', typescript), {
    'export const': 'keyword',
    '8080': 'number',
    '// the default': 'comment',
    const: 'keyword',
    Host: 'type',
    '`a': 'string',
    'b`': 'string',
    serve: 'name',
    '&quot;x&quot;': 'string',
  });
  assert.deepEqual(await coloursIn('Python {.numbered}', 'def f(x): # no\n    return None'), {
    def: 'keyword',
    f: 'name',
    '# no': 'comment',
    return: 'keyword',
    None: 'number',
  });
  for (const name of ['c++', 'c#', 'sh', 'yml', 'JSON']) {
    assert.notDeepEqual(await coloursIn(name, 'a: "x" // 1 # 2'), {}, name);
  }
});

test('code without a known language stays as it was, to the byte', async () => {
  for (const prose of [
    fence('', 'const a = 1;'),
    fence('klingon', 'const a = 1;'),
    fence('__proto__', 'x'),
    '    const a = 1;',
    '`const a = 1;`',
    'No code.',
  ]) {
    assert.equal(await coloured(prose), plain(prose));
  }
});

test('a marker in code is a link, and does not change the colours', async () => {
  const html = await coloured(fence('js', 'const [^1]a = "one[^1]"; // two [^1] [^9]\n'));
  assert.equal(html.match(/href="#fact-1"/g)?.length, 3);
  const unmarked = await coloured(fence('js', 'const a = "one"; // two  [^9]\n'));
  const withoutMarks = html.replace(/<sup .*?<\/sup>/g, '').replace(/<\/span><span class="hl-[a-z]+">/g, '');
  assert.equal(withoutMarks, unmarked);
});

test('no letter of a code is lost or changed, whatever it is', async () => {
  const bit = fc.constantFrom(
    '[^1]',
    '"',
    "'",
    '`',
    '/*',
    '*/',
    '//',
    '<!--',
    '<script>',
    '</',
    '&amp;',
    '\\',
    '\n',
    '\t',
    ' ',
    'é',
    '🙂',
    '${',
    '}',
    '(',
    'class ',
    'x',
    '```',
    '\u2028',
    '<?php ',
    '#',
  );
  const language = fc.constantFrom('ts', 'html', 'php', 'python', 'rust', 'markdown', 'diff', 'yaml');
  await fc.assert(
    fc.asyncProperty(language, fc.array(bit, { maxLength: 40 }), async (name, bits) => {
      const prose = `~~~~${name}\n${bits.join('')}\n~~~~`;
      const html = await coloured(prose);
      assert.equal(html.replace(/<\/?span[^>]*>/g, ''), plain(prose), JSON.stringify(prose));
    }),
    { numRuns: 100 },
  );
});

test('the colours of a block do not depend on those before it', async () => {
  const markdown = fence('markdown', '# A\n\n```js\nconst a = 1;\n```\n'.replaceAll('```', '~~~'));
  const alone = await coloured(markdown);
  for (const name of ['js', 'css', 'html', 'php', 'ruby', 'cpp', 'sql', 'go'])
    await coloured(fence(name, 'const a = 1;'));
  assert.equal(await coloured(markdown), alone);
});

test('long lines and long blocks stay plain', async () => {
  const long = `const a = "${'x'.repeat(200)}";`;
  const html = await coloured(fence('js', `const b = 1;\n${long}\nconst c = 2;`));
  assert.equal(html.match(/hl-keyword/g)?.length, 2, html);
  assert.doesNotMatch(await coloured(fence('js', 'const b = 1;\n'.repeat(1_600))), /hl-/);
  const blocks = Array.from({ length: 4 }, (_, n) => fence('js', `const b${n} = 1;\n`.repeat(1_000)));
  assert.equal((await codeColours(blocks.join('\n\n'))).size, 3, 'so much of one prose is coloured');
});

/** The processor time of colouring a block, in milliseconds, once its language is loaded. */
async function costOf(name: string, code: string): Promise<number> {
  await coloured(fence(name, 'x'));
  const before = process.threadCpuUsage().user;
  await coloured(fence(name, code));
  return (process.threadCpuUsage().user - before) / 1_000;
}

test('lines made to go back for seconds cost no more than a long text', { skip: ONLY_WIDE }, async () => {
  // Without the limit on going back, Oniguruma takes much longer for one such line of C++.
  const text = await costOf('ts', 'const a = "b" + f(1); // c\n'.repeat(700));
  for (const [name, bit] of [
    ['cpp', '[{'],
    ['csharp', '<a '],
    ['html', '<'],
    ['graphql', '{$'],
  ] as const) {
    const spent = await costOf(name, `${bit.repeat(200).slice(0, 200)}\n`.repeat(4));
    assert.ok(spent < 10 * text, `${name} takes ${spent} ms, a text of 20,000 characters ${text} ms`);
  }
});

test('the limit on going back changes no colour of real code', { skip: ONLY_WIDE }, async () => {
  const files = { bash: '.ci/run', ts: 'src/proof/basis.ts', json: 'package.json', css: 'src/layouts/story.css' };
  const others = { sql: 'src/store/migrations/001-ledger.sql', yaml: '.github/workflows/check.yml', md: 'README.md' };
  const proses = Object.entries({ ...files, ...others }).map(([name, file]) =>
    fence(name, readFileSync(file, 'utf8').replaceAll('```', '~~~').slice(0, 10_000)),
  );
  const limited = await Promise.all(proses.map(coloured));
  assert.ok(limited.every((html) => html.includes('hl-')));
  // In a thread of its own, the library starts anew, and with its own limit.
  const original = new Worker(new URL('../support/unlimited-colours.ts', import.meta.url), { workerData: proses });
  const [colours] = await once(original, 'message');
  const unlimited = proses.map((prose, n) => proseHtml(prose, FACTS, (path) => path, { colours: colours[n] }).html);
  assert.deepEqual(limited, unlimited);
});

test('equal blocks are coloured once', async () => {
  const code = { info: 'js', content: 'const a = 1;\n' };
  const colours = await codeColours(`${fence('js', 'const a = 1;')}\n\n`.repeat(1_000));
  assert.deepEqual([...colours.keys()], [codeKey(code)]);
});

/** Relative luminance of an oklch colour (CSS Color 4, 9.3 and WCAG 2.2). */
function luminance(lightness: number, chroma: number, hue: number): number {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  const red = clamp(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const green = clamp(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const blue = clamp(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('every colour of code has the contrast of WCAG AA on the ground of code, in every hue', () => {
  const css = readFileSync(new URL('../../src/layouts/code-colours.css', import.meta.url), 'utf8');
  const tokens = readFileSync(new URL('../../src/layouts/tokens.css', import.meta.url), 'utf8');
  const pair = /light-dark\(oklch\(([\d.]+) ([\d.]+) ([^)]+(?:\))?)\), oklch\(([\d.]+) ([\d.]+) ([^)]+(?:\))?)\)\)/;
  const [, lightL = '', lightC = '', , darkL = '', darkC = ''] = pair.exec(/--sheet: .*/.exec(tokens)?.[0] ?? '') ?? [];
  const rules = [...css.matchAll(/\.(hl-[a-z]+) \{\s*color: (light-dark.*);/g)];
  assert.equal(rules.length, 5);
  for (const [, name, value = ''] of rules) {
    const [, l1 = '', c1 = '', h1 = '', l2 = '', c2 = '', h2 = ''] = pair.exec(value) ?? [];
    for (let hue = 0; hue < 360; hue += 10) {
      const contrast = (one: number, other: number) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      const light = contrast(luminance(+l1, +c1, +h1), luminance(+lightL, +lightC, hue));
      const dark = contrast(luminance(+l2, +c2, +h2), luminance(+darkL, +darkC, hue));
      assert.ok(light >= 4.5 && dark >= 4.5, `${name} on the hue ${hue}: ${light} and ${dark}`);
    }
  }
});
