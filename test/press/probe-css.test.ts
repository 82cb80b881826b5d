import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidStyle, probeCss } from '../../src/press/probe-css.ts';

const refusal = (css: string): string => {
  try {
    probeCss(css);
    return '';
  } catch (error) {
    assert(error instanceof InvalidStyle);
    return `${error.line}: ${error.message}`;
  }
};

test('a stylesheet that loads from elsewhere, or names the mark of an AI persona, is refused with its line', () => {
  for (const css of [
    '.plate { background: url(media/paper.png) }',
    '.fair, [class="rail"], .rail::after { content: "ai" }',
    ':root { --text: 1rem }',
  ]) {
    assert.equal(refusal(css), '', css);
  }
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
