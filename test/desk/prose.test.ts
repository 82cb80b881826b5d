import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markersIn, splitAtMarkers } from '../../src/desk/door/markers.ts';
import { markdown, parseProse, plainText } from '../../src/desk/door/prose.ts';
import * as fc from '../support/properties.ts';

const html = (prose: string): string => markdown.render(prose);
const rawHtmlIn = (prose: string) => parseProse(prose).rawHtml;
const unsafeLinksIn = (prose: string) => parseProse(prose).unsafeLinks;
const picturesIn = (prose: string) => parseProse(prose).pictures;
const hiddenMarkersIn = (prose: string) => parseProse(prose).hiddenMarkers;
const targets = (prose: string): string[] => unsafeLinksIn(prose).map(({ text }) => text);

/** The addresses in rendered prose whose scheme is not one of the web or of mail. */
function foreignAddresses(prose: string): string[] {
  return [...html(prose).matchAll(/(?:href|src)="([^"]*)"/g)]
    .map(([, address = '']) => address)
    .filter((address) => {
      const scheme = /^[\s\p{C}]*([a-z][a-z0-9+.\s-]*):/iu.exec(address)?.[1];
      return scheme !== undefined && !/^(?:https?|mailto)$/i.test(scheme);
    });
}

/** Links that no reader may be given, each as Markdown would spell it. */
const UNSAFE = [
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](&#x6A;avascript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](javascript&#58;alert(1))',
  '[x](\\javascript:alert(1))',
  '[x](<javascript:alert(1)>)',
  '[x](\njavascript:alert(1))',
  '[x](   javascript:alert(1)   "title")',
  '[x]: javascript:alert(1)\n\n[x]',
  '[x]: <javascript:alert(1)> "title"\n\n[here][x]',
  '<javascript:alert(1)>',
  '![x](javascript:alert(1))',
  '[![x](media/x.svg)](javascript:alert(1))',
  '> - [x](vbscript:x)',
  '| a |\n|-|\n| [x](data:text/html,x) |',
  '[x](data:image/png;base64,AAAA)',
  '[x](file:///etc/passwd)',
  '[x](blob:https://example.org/x)',
  '<view-source:https://example.org>',
  '[x](xdata:)',
  '[x](doi:10.1000/182)',
  '![x](doi:10.1000/182)',
  '[x]: tel:1\n\n[x]',
];

for (const prose of UNSAFE) {
  test(`an unsafe link is found and never rendered: ${JSON.stringify(prose)}`, () => {
    const found = targets(prose);
    // A backslash before a letter stays: the target is then no scheme, and no link out of the paper.
    if (prose.includes('\\j')) assert.deepEqual(found, []);
    else assert.equal(found.length, 1, JSON.stringify(found));
    assert.deepEqual(foreignAddresses(prose), []);
  });
}

for (const prose of ['<xdata:>', '<doi:10.1000/182>', '<xs:element>', '<x+y.z-1:a>']) {
  test(`a name in angle brackets is accepted and shown verbatim: ${prose}`, () => {
    assert.deepEqual(targets(prose), []);
    assert.equal(html(prose), `<p>${prose.replace('<', '&lt;').replace('>', '&gt;')}</p>\n`);
  });
}

test('safe links are accepted', () => {
  for (const prose of [
    '[x](https://example.org/a:b)',
    '[x](HTTP://example.org)',
    '[x](mailto:desk@example.org)',
    '<desk@example.org>',
    '<doi:10.1000/182>',
    '[x](/stories/a/)',
    '[x](#fact-1)',
    '[x](a/b:c)',
    '[x](?q=a:b)',
    '`[x](javascript:alert(1))`',
    '    [x](javascript:alert(1))',
    '\\[x](javascript:alert(1))',
    'javascript: is a scheme',
  ]) {
    assert.deepEqual(targets(prose), [], prose);
  }
});

test('nothing that the door accepts renders with an executable address', () => {
  const bit = fc.constantFrom(
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '!',
    'x',
    ':',
    '\n',
    ' ',
    '&#106;',
    'javascript:',
    'data:',
    '&colon;',
    '\\',
    '"',
    '`',
    '[x]: ',
    'java\tscript:',
    '\u00a0',
    '//',
  );
  fc.assert(
    fc.property(fc.array(bit, { maxLength: 14 }), (bits) => {
      const prose = bits.join('');
      if (unsafeLinksIn(prose).length > 0) return;
      assert.deepEqual(foreignAddresses(prose), [], JSON.stringify(prose));
    }),
    { numRuns: 500 },
  );
});

test('a marker counts wherever readers see it, and nowhere else', () => {
  const numbers = (prose: string) => markersIn(prose).map(({ n }) => n);
  assert.deepEqual(numbers('a[^1] b[^22]'), [1, 22]);
  assert.deepEqual(numbers('\\[^1] \\\\[^2] \\\\\\[^3]'), [2]);
  assert.deepEqual(numbers('[^] [^a] [^1234567] [1]'), []);
  assert.deepEqual(splitAtMarkers('a[^1]b\\[^2]'), ['a', 1, 'b\\[^2]']);
  assert.deepEqual(splitAtMarkers('[^1]'), ['', 1, '']);
});

/** How many markers the grammar shows, wherever they stand. */
function shown(prose: string): number {
  return markdown
    .parse(prose, {})
    .flatMap((block) => block.children ?? [block])
    .reduce((sum, { type, content }) => {
      if (type === 'marker') return sum + 1;
      return ['text', 'code_inline', 'code_block', 'fence'].includes(type) ? sum + markersIn(content).length : sum;
    }, 0);
}

test('the door counts the markers that the grammar renders, plus those it calls hidden', () => {
  const bit = fc.constantFrom(
    '[^1]',
    '[^2]',
    '\\',
    '[',
    '^',
    ']',
    '(',
    ')',
    '!',
    '`',
    ' ',
    '\n',
    '\n\n',
    '    ',
    'a',
    ': ',
    '*',
    '<http://a/',
    '>',
    '&#91;',
    '&#94;',
    '```\n',
    '- ',
    'http://b',
    '"',
  );
  fc.assert(
    fc.property(fc.array(bit, { maxLength: 16 }), (bits) => {
      const prose = bits.join('').trim();
      assert.equal(shown(prose), markersIn(prose).length - hiddenMarkersIn(prose).length, JSON.stringify(prose));
    }),
    { numRuns: 2_000 },
  );
});

test('a line that begins with a marker and a colon is text', () => {
  assert.match(html('[^1]: https://example.org/\n\nText.[^1]'), /: https:\/\/example\.org\//);
  assert.equal(plainText('[^1]: word'), ': word');
});

test('pictures and HTML are found with their places', () => {
  assert.deepEqual(picturesIn('One.\n\n![x](media/x.svg) ![y](media/y.svg)'), [
    { text: 'media/x.svg', offset: 11 },
    { text: 'media/y.svg', offset: 29 },
  ]);
  assert.deepEqual(rawHtmlIn('One.\n\n<b>\n\nTwo <!-- c --> <commit-id> `<b>`'), [
    { text: '<b>', offset: 6 },
    { text: '<!-- c -->', offset: 15 },
  ]);
});

test('each find has its own place, also in one paragraph, in a table, and where it is written otherwise', () => {
  const offsets = (found: { offset: number }[]) => found.map(({ offset }) => offset);
  assert.deepEqual(offsets(rawHtmlIn('a <b> a <b>\n<b>')), [2, 8, 12]);
  assert.deepEqual(offsets(rawHtmlIn('- a\n\n  <b>\n- <i>\n')), [7, 13]);
  const table = '<b>\n\n| a | b |\n|---|---|\n| <b> | <i> |\n| <b> | |\n';
  assert.deepEqual(offsets(rawHtmlIn(table)), [0, 27, 33, 41]);
  const spelled = 'One.\n\n[x](java&#115;cript:a)\n\n[x](data:a)';
  assert.deepEqual(unsafeLinksIn(spelled), [
    { text: 'javascript:a', offset: 6 },
    { text: 'data:a', offset: 34 },
  ]);
});

/** Prose made to be slow to read. Twice the length may cost about twice the time, not four times. */
const SLOW: Record<string, (n: number) => string> = {
  blanks: (n) => `x](${' '.repeat(n)}`,
  brackets: (n) => '['.repeat(n),
  pictures: (n) => '!['.repeat(n / 2),
  markers: (n) => '[^'.repeat(n / 2),
  backslashes: (n) => '\\'.repeat(n),
  tags: (n) => '<a '.repeat(n / 3),
  comments: (n) => '<!--'.repeat(n / 4),
  attributes: (n) => `<a ${'x="" '.repeat(n / 5)}`,
  emphasis: (n) => '*_'.repeat(n / 2),
};

for (const [name, make] of Object.entries(SLOW)) {
  test(`prose of many ${name} is read in a time that grows with its length`, () => {
    const cost = (prose: string): number => {
      const start = process.cpuUsage().user;
      for (const find of [rawHtmlIn, unsafeLinksIn, picturesIn, hiddenMarkersIn, markersIn]) find(prose);
      return process.cpuUsage().user - start;
    };
    cost(make(2_000));
    const small = Math.min(cost(make(20_000)), cost(make(20_000)));
    const large = Math.min(cost(make(160_000)), cost(make(160_000)));
    // Eight times the length: a quadratic reader takes 64 times as long.
    assert(large < Math.max(small, 10_000) * 30, `${small} µs, then ${large} µs`);
  });
}
