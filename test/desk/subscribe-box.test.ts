import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdown, parseProse, plainText, withoutBoxes } from '../../src/desk/door/prose.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { proseHtml, SUBSCRIBE_BOX } from '../../src/desk/press/prose-html.ts';
import { wordCount } from '../../src/desk/story.ts';

const html = (prose: string) => proseHtml(prose, [], (path) => path, { hasBox: true }).html;
const boxes = (prose: string) => markdown.parse(prose, {}).filter(({ type }) => type === 'subscribe_box').length;

test('the line stands for the form wherever a paragraph may begin, and ends the one above', () => {
  for (const prose of [
    '::subscribe',
    '::subscribe  \t',
    '   ::subscribe',
    'a\n::subscribe\nb',
    '> a\n\n::subscribe',
    '> a\n::subscribe',
    '- a\n\n::subscribe',
  ])
    assert.equal(boxes(prose), 1, JSON.stringify(prose));
  assert.equal(html('a\n::subscribe\nb'), `<p>a</p>\n${SUBSCRIBE_BOX}<p>b</p>\n`);
});

test('anything else is text', () => {
  const texts = ['\\::subscribe', '::subscribe me', 'a ::subscribe', ':subscribe', '::Subscribe', '::subscribe{}'];
  const quoted = ['> ::subscribe', '- ::subscribe', '- a\n  ::subscribe', '    ::subscribe', '```\n::subscribe\n```'];
  for (const prose of [...texts, ...quoted]) {
    assert.equal(boxes(prose), 0, JSON.stringify(prose));
    assert.match(plainText(prose).toLowerCase(), /:subscribe/, JSON.stringify(prose));
    assert.equal(withoutBoxes(prose), prose);
  }
});

test('the form is shown once, and only where a page asks for it', () => {
  const twice = '::subscribe\n\na\n\n::subscribe';
  assert.equal(html(twice), `${SUBSCRIBE_BOX}<p>a</p>\n`);
  assert.equal(proseHtml(twice, [], (path) => path).html, '<p>a</p>\n');
  assert.equal(plainText(twice), 'a');
  assert.equal(withoutBoxes('a\n\n::subscribe\n\nb\n::subscribe\nc'), 'a\n\nb\nc');
  assert.equal(wordCount(`One two.\n\n::subscribe\n\nThree`, 'en'), 3);
  // A writer cannot write what stands for it.
  assert.ok(!html(`\`${SUBSCRIBE_BOX}\``).includes(SUBSCRIBE_BOX));
  assert.deepEqual(parseProse(twice).hiddenMarkers, []);
});

test('ten thousand lines take no longer for each', () => {
  const prose = '::subscribe\n'.repeat(10_000);
  assert.equal(boxes(prose), 10_000);
  assert.equal(withoutBoxes(prose).trim(), '');
});

test('the settings of a paper are refused with what they may be', () => {
  const body = (more: object) => PaperBody.safeParse({ nameplate: 'A', sections: ['B'], ...more });
  assert.ok(body({ subscribe_box: 'end', link_cards: true }).success);
  // A record of an earlier version stays as it is.
  assert.deepEqual(
    Object.keys(body({}).data ?? {}).filter((name) => /subscribe|link/.test(name)),
    [],
  );
  assert.match(body({ subscribe_box: 'top' }).error?.message ?? '', /must be end, or left out/);
  assert.equal(body({ link_cards: 'yes' }).success, false);
});
