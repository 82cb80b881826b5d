import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseProblems } from '../../src/desk/door/door.ts';
import { markersIn } from '../../src/desk/door/markers.ts';
import { MARKUP_MAX } from '../../src/desk/door/piece.ts';
import { plainText } from '../../src/desk/door/prose.ts';
import { excerptOf } from '../../src/desk/press/outputs/front.ts';
import { proseHtml } from '../../src/desk/press/prose-html.ts';
import { wordCount } from '../../src/desk/story.ts';
import * as fc from '../support/properties.ts';

const FACTS = [{ n: 1, statement: 'So it is.', source: 'Harbour office', instrument: 'A table', claim_key: null }];
const html = (prose: string): string => proseHtml(prose, FACTS, (path) => path).html;
const problems = (prose: string) => proseProblems(prose, { hasMedia: () => true });
const rules = (prose: string) => problems(prose).map(({ rule, offset }) => [rule, offset]);

/** The letters of the marks in the text and of the notes, and where both lead. */
function links(prose: string) {
  const printed = html(prose);
  const all = (pattern: RegExp) => [...printed.matchAll(pattern)].map(([, found = '']) => found);
  return {
    marks: all(/<sup class="note" id="(noteref-[a-z0-9-]+)"><a href="#note-[a-z]+" role="doc-noteref">[a-z]+</g),
    notes: all(/<li id="note-([a-z]+)">/g),
    back: all(/<a class="back" href="#(noteref-[a-z0-9-]+)" role="doc-backlink">↑</g),
  };
}

/** The text that a page shows, without its marks. */
const shown = (prose: string): string =>
  html(prose)
    .replace(/<sup class="note".*?<\/sup>|&nbsp;<a class="back".*?<\/a>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

test('a note is marked by a letter and stands after the text, with a way back from each mention', () => {
  assert.equal(
    html('High[^tide] and low.[^1] Again[^tide].\n\n[^tide]: Twice a day.[^1]\n\nThe end.'),
    '<p>High<sup class="note" id="noteref-a"><a href="#note-a" role="doc-noteref">a</a></sup> and low.' +
      '<sup class="marker" id="ref-1" data-n="1" data-source="Harbour office"><a href="#fact-1" aria-label="Source 1: Harbour office">1</a></sup> ' +
      'Again<sup class="note" id="noteref-a-2"><a href="#note-a" role="doc-noteref">a</a></sup>.</p>\n<p>The end.</p>\n' +
      '<section class="notes" role="doc-endnotes">\n<ol type="a">\n<li id="note-a"><p>Twice a day.' +
      '<sup class="marker" id="ref-1-2" data-n="1" data-source="Harbour office"><a href="#fact-1" aria-label="Source 1: Harbour office">1</a></sup>' +
      '&nbsp;<a class="back" href="#noteref-a" role="doc-backlink">↑</a>&nbsp;<a class="back" href="#noteref-a-2" role="doc-backlink">↑</a></p>\n</li>\n</ol>\n</section>\n',
  );
});

test('notes come in the order of their marks, those that only notes mention last', () => {
  const prose = 'B[^b] a[^a].\n\n[^a]: First, see [^c].\n[^b]: Second.\n[^c]: Third, see [^a].';
  assert.deepEqual(links(prose), {
    marks: ['noteref-a', 'noteref-b', 'noteref-c', 'noteref-b-2'],
    notes: ['a', 'b', 'c'],
    back: ['noteref-a', 'noteref-b', 'noteref-b-2', 'noteref-c'],
  });
  assert.equal(shown(prose), 'B a. Second. First, see . Third, see .');
  const many = Array.from({ length: 53 }, (_, n) => `n${n}`);
  const { notes } = links(`${many.map((n) => `[^${n}]`).join('')}\n\n${many.map((n) => `[^${n}]: x`).join('\n')}`);
  assert.deepEqual([notes[25], notes[26], notes[27], notes[51], notes[52]], ['z', 'aa', 'ab', 'az', 'ba']);
});

test('a note has the paragraphs, lists and code that are indented below it, as on GitHub', () => {
  const prose =
    'A[^n] b[^m].\n\n[^n]: One\ngoes on.\n\n    Two.\n\n    - list\n\n          code\n\n[^m]:\n    Below.\n\nText again.';
  assert.match(
    html(prose),
    /<p>Text again\.<\/p>\n<section.*<li id="note-a"><p>One\ngoes on\.<\/p>\n<p>Two\.<\/p>\n<ul>\n<li>\n<p>list<\/p>\n<pre.*code\n<\/code><\/pre>\n<\/li>\n<\/ul>\n&nbsp;<a class="back".*<li id="note-b"><p>Below\./s,
  );
  assert.deepEqual(problems(prose), []);
  for (const before of ['Text[^n]', '> Quote[^n]', '- Item[^n]', '1. Item\n\n   More[^n]']) {
    assert.deepEqual(links(`${before}\n[^n]: Note.`).notes, ['a'], before);
  }
});

test('markers keep every rule: digits are never the name of a note, and code keeps brackets', () => {
  const prose = '[^1]: is a marker. `[^a]` x[^a] `[^1]`\n\n    [^a]: code [^1]\n\n[^a]: A note.[^1]';
  assert.deepEqual(links(prose).notes, ['a']);
  assert.equal(html(prose).match(/href="#fact-1"/g)?.length, 4);
  assert.equal(markersIn(prose).length, 4);
  assert.match(html(prose), /<code>\[\^a\]<\/code>/);
  assert.match(html('x[^1234567]\n\n[^1234567]: y'), /x\[\^1234567\]|<a/);
  assert.deepEqual(links('x[^1234567]\n\n[^1234567]: y').notes, []);
});

test('names of every kind are names', () => {
  const names = [
    '__proto__',
    'constructor',
    'toString',
    'الجدول',
    'הערה-1',
    '注',
    '1a',
    'a"b',
    '<b>',
    'a&amp;',
    'é',
    '.',
    ':',
    'a/b?c#d',
    '*x*',
    '`',
  ];
  for (const name of names) {
    const prose = `Text[^${name}].\n\n[^${name}]: The note.`;
    assert.deepEqual(problems(prose), [], name);
    assert.equal(shown(prose), 'Text. The note.', name);
    assert.equal(links(prose).notes.length, 1, name);
  }
  assert.equal(links('a[^Tide] b[^TIDE]\n\n[^tide]: x').marks.length, 2, 'case makes no difference');
  for (const name of ['a b', 'a]', 'a[', '', 'x'.repeat(65), '\\']) {
    assert.deepEqual(links(`Text[^${name}].\n\n[^${name}]: The note.`).notes, [], name);
  }
});

test('what readers could not follow is refused with its place, and stays text on a page', () => {
  assert.deepEqual(problems('Text[^tide].'), [
    {
      field: 'prose',
      rule: 'unknown_note',
      message:
        '"[^tide]" refers to no note; write the note on a line of its own, [^tide]: and its text, or write \\[^tide] for brackets that readers see',
      offset: 4,
    },
  ]);
  assert.equal(shown('Text[^tide].'), 'Text[^tide].');
  assert.deepEqual(rules('Text.\n\n[^tide]: No mark.'), [['unused_note', 7]]);
  assert.equal(shown('Text.\n\n[^tide]: No mark.'), 'Text. [^tide]: No mark.');
  const twice = 'Text[^a].\n\n[^a]: One.\n\n[^A]: Two.';
  assert.deepEqual(rules(twice), [['twice_note', 23]]);
  assert.equal(shown(twice), 'Text. [^A]: Two. One.');
  const circle = 'Text.\n\n[^a]: See [^b].\n[^b]: See [^a].\n[^c]: See [^c].\n[^d]:\n    - item';
  assert.deepEqual(new Set(rules(circle).map(([rule]) => rule)), new Set(['unused_note']));
  assert.equal(shown(circle), 'Text. [^a]: See [^b]. [^b]: See [^a]. [^c]: See [^c]. [^d]: item');
  assert.deepEqual(rules('![Of[^a]](media/x.svg) and[^a].\n\n[^a]: Note.'), [['hidden_note', 4]]);
  assert.deepEqual(rules('Text \\[^a], `[^a-z]`, [^a](https://a.example/)'), []);
  assert.deepEqual(proseProblems('A[^b].\n\n[^a]: x', { hasMedia: () => true, takesUndescribed: true }), []);
});

test('HTML, links and pictures in notes are judged like those in the text', () => {
  assert.deepEqual(rules('Text[^a].\n\n[^a]: <b>bold</b>\n\n    <script>\n'), [
    ['raw_html', 17],
    ['raw_html', 24],
    ['raw_html', 34],
  ]);
  assert.deepEqual(rules('Text[^a].\n\n[^a]: <b>'), [['raw_html', 17]]);
  assert.deepEqual(rules('Text[^a].\n\n[^a]: [x](javascript:a)'), [['unsafe_link', 21]]);
  assert.deepEqual(rules(`Text[^a].\n\n[^a]: ${'> '.repeat(17)}x`), [['nested_too_deep', 11]]);
  assert.deepEqual(rules(`Text[^a].\n\n[^a]: ${'> '.repeat(16)}x`), []);
});

test('other forms of a piece have its notes, and words without their names', () => {
  const prose = 'High[^tide] water.\n\n[^tide]: Twice a day.\n\nThen low.';
  assert.equal(plainText(prose), 'High water.\nThen low.\nTwice a day.');
  assert.equal(excerptOf(prose, 100), 'High water. Then low.');
  assert.equal(excerptOf('A class [^a-z] of letters.', 100), 'A class [^a-z] of letters.');
  assert.equal(wordCount(prose, 'en'), 7);
});

test('every word of an accepted prose is shown exactly once, whatever its notes are', () => {
  const bit = fc.constantFrom(
    '[^a]',
    '[^b]',
    '[^a]: ',
    '\n[^b]: ',
    '\n\n[^c]: ',
    '\n\n',
    '\n',
    '    ',
    '> ',
    '- ',
    '[^1]',
    '`',
    '*',
    ' ',
    '[',
    ']',
    '(',
    ')',
    '!',
  );
  const word = fc.constantFrom('w');
  fc.assert(
    fc.property(fc.array(fc.oneof(bit, word), { maxLength: 30 }), (bits) => {
      let n = 0;
      const prose = bits
        .map((one) => (one === 'w' ? `w${++n}x` : one))
        .join('')
        .trim();
      // A link's target and the title of a reference are no text.
      if (/\]\(|\]: {0,1}\S*\n? *\S/.test(prose.replace(/\[\^[abc1]\]:? ?/g, ''))) return;
      const text = html(prose);
      for (let at = 1; at <= n; at++) {
        const count = text.split(`w${at}x`).length - 1;
        assert.equal(count, 1, `w${at}x is shown ${count} times: ${JSON.stringify(prose)}`);
      }
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, ids.length, JSON.stringify(prose));
      for (const [, to = ''] of text.matchAll(/href="#(note[^"]*)"/g)) assert.ok(ids.includes(to), `${to}: ${prose}`);
    }),
    { numRuns: 1_000 },
  );
});

test('a hundred thousand notes are refused at once, and the most that are taken cost little', () => {
  const cost = (work: () => unknown): number => {
    const start = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1_000;
  };
  const notes = (count: number) =>
    `${Array.from({ length: count }, (_, n) => `[^n${n}]`).join('')}\n\n${Array.from({ length: count }, (_, n) => `[^n${n}]: x`).join('\n')}`;
  const start = '[^n]: x\n'.repeat(100_000);
  assert.ok(cost(() => assert.deepEqual(rules(start), [['too_long', undefined]])) < 1_000);
  assert.deepEqual(
    new Set(rules(start.slice(0, 400_000)).map(([rule]) => rule)),
    new Set(['too_many_lines', 'too_much_markup']),
  );
  const most = notes(MARKUP_MAX / 4);
  assert.deepEqual(problems(most), []);
  const half = cost(() => [problems(notes(MARKUP_MAX / 8)), html(notes(MARKUP_MAX / 8))]);
  const whole = cost(() => [problems(most), html(most)]);
  assert.ok(whole < Math.max(half, 50) * 3, `${half} ms, then ${whole} ms`);
});
