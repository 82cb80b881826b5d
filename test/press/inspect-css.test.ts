import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { InvalidStyle, inspectCss, pressedCss } from '../../src/media/inspect-css.ts';
import { COLOR_TOKENS } from '../../src/media/style-rules.ts';
import * as fc from '../support/properties.ts';

const refusal = (css: string): string => {
  try {
    inspectCss(css);
    return '';
  } catch (error) {
    assert(error instanceof InvalidStyle);
    return `${error.line}: ${error.message}`;
  }
};

/** Of the kinds that docs/writing.md allows. */
const ALLOWED = [
  '.plate { background: url(media/paper.png) }',
  '.fair, [class="rail"], .rail::after { content: "❧" }',
  'h2::before { content: "\\2766" / ""; color: var(--accent) }',
  ':root { --text: 1rem; --accent: light-dark(#014f86, #a9d6e5); --gap: clamp(1rem, 3vw, 2rem); --page: 70rem }',
  '@media (width >= 40rem) { @supports (color: red) { a:hover { color: red !important } } }',
  '@charset "utf-8";\n/* a */ .lead h2 { font-size: clamp(2rem, 5vw, 4rem); line-height: 1.1; letter-spacing: -0.02em }',
  '.rail { border-block-start: 2px solid var(--rule); padding-block: 1rem 2rem; margin-top: 0 }',
  'a:hover { text-decoration: underline 2px var(--accent); text-underline-offset: 0.15em }',
  ':root { --line: 1px; --line-soft: var(--line) } .row { border: var(--line-soft) dashed rgb(0 0 0 / 50%) }',
  '',
];

test('a stylesheet of looks and vertical space is accepted and pressed verbatim', () => {
  for (const css of ALLOWED) {
    assert.equal(refusal(css), '', css);
    assert.equal(pressedCss(css), css);
  }
});

test('a stylesheet that loads from elsewhere, or names the mark of an AI persona, is refused with its line', () => {
  for (const css of ['\n.byline .ai { display: none }', '\n[class~="ai"] { opacity: 0 }', "\n[class='ai'] { a: b }"]) {
    assert.match(refusal(css), /^2: styles \.ai, the mark of an AI persona/, css);
  }
  for (const css of [
    '@import "a.css";',
    'a { background: url(//x.example/a.png) }',
    'a { background: url(media/../../x) }',
    'a { background: image-set("https://x.example/a.png" 1x) }',
  ]) {
    assert.match(refusal(css), /elsewhere/, css);
  }
  assert.match(refusal(`${'a{'.repeat(60)}${'}'.repeat(60)}`), /nested deeper/);
  assert.match(refusal('a {\n'), /^1: has a \{ that is never closed/);
});

test('what moves, hides, cuts off or covers is refused with its line, its rule and the remedy', () => {
  assert.equal(
    refusal('a { color: red }\n.byline > span {\n  Display: none;\n}'),
    '3: sets display, which could move, hide or cover the mark of an AI persona; take it out (docs/writing.md lists what a stylesheet may set) (.byline > span)',
  );
  for (const [css, message] of [
    ['@layer first { a { color: red } }', /^1: has @layer/],
    ['@font-face { font-family: "Figtree"; src: local("Wingdings") }', /has @font-face/],
    ['@media print;', /has @media/],
    ['@property --gap { syntax: "*"; inherits: true }', /has @property/],
    ['.row { & .byline { color: red } }', /nests a rule in \.row/],
    ['.row { color: red; span:hover { display: none } }', /gives span a block/],
    ['.row { color: red {} }', /gives color a block/],
    ['.row { --x: {display:none} }', /gives --x a block/],
    ['<!-- .row { color: red } -->', /a comment of HTML/],
    ['.row { *color: red }', /sets \*color/],
    ['.row { all: unset }', /sets all/],
    ['.row { text-indent: -9999px }', /sets text-indent/],
    ['.row { margin-top: -100px }', /sets margin-top to "-100px"; give it 0 to 128px, 0 to 8rem/],
    ['.row { margin-top: calc(0px - 100px) }', /without calc\(\)/],
    ['.row { margin: 0 }', /sets margin,/],
    [':root { --gap: 999px }', /sets --gap/],
    [':root { --page: 1px }', /sets --page/],
    ['.story { --measure: 1px }', /sets --measure/],
    [':root { --a: 900px; --b: var(--a) } .row { border-width: var(--b) }', /sets border-width to "var\(--b\)"/],
    ['.x { --a: 900px } .y { --a: var(--b); --b: var(--a) } .z { border-width: var(--b) }', /border-width/],
    ['.row { border-width: var(--c, 900px) }', /border-width/],
    ['.row { border-width: var(--page) }', /border-width/],
    ['.row { border-width: 1e9px }', /border-width/],
    ['.row { border-width: 9e0px }', /border-width/],
    ['.row { border-width: 1in }', /border-width/],
    ['.row { border: max(1px, 900px) solid }', /sets border /],
    ['.row { font: 0/0 serif }', /sets font,/],
    ['.row { line-height: 0 }', /sets line-height/],
    ['.row { text-decoration: line-through }', /as an underline/],
    ['.row { text-decoration: underline 40px }', /0 to 4px/],
    ['.byline::before { content: "Written by people: " }', /ornament/],
    ['.byline::before { content: "\\41" }', /ornament/],
    ['.byline::before { content: attr(class) }', /ornament/],
    ['.byline { content: url(media/a.png) }', /ornament/],
  ] as const) {
    assert.match(refusal(css), message, css);
    assert.match(pressedCss(css), /^\/\* Left out /, css);
    assert.equal(refusal(pressedCss(css)), '', css);
  }
});

test('of a stylesheet accepted by an earlier version, the allowed part stays', () => {
  const css = 'a { color: red; display: none; fill: red }\n@layer b { i { color: red } }\nu { top: 0 }\n';
  assert.equal(
    pressedCss(css),
    '/* Left out at line 1, 2, 3: what a stylesheet may not set. File it again to see why. */\n' +
      'a { color: red;  fill: red }\n\nu { }\n',
  );
  assert.equal(
    pressedCss('a { color: red }\n@import "a.css";'),
    '/* Left out from line 2 on: what a stylesheet may not set. File it again to see why. */\n',
  );
});

test('every pressed stylesheet is also accepted when filed', () => {
  const part = fc.constantFrom(
    ...['a', '{', '}', ':', ';', 'color', 'red', '--x', 'var(--x)', '@media', '@layer', '(', ')', '900px', '"', "'"],
    ...['/*', '*/', '<!--', '&', ',', 'display', 'border', 'none', '!important', '\n', '\\', 'url(', '[', ']', '.ai'],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      assert.equal(refusal(pressedCss(parts.join(' '))), '');
    }),
    { numRuns: 2_000 },
  );
});

test('the colour tokens are those of tokens.css', () => {
  const tokens = readFileSync(new URL('../../src/layouts/tokens.css', import.meta.url), 'utf8');
  const found = [...tokens.matchAll(/^ {2}(--[a-z-]+): (?:light-dark\()?oklch/gm)].map(([, name]) => name);
  assert.deepEqual(new Set(found), new Set(COLOR_TOKENS));
});
