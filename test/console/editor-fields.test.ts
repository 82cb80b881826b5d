import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NewStory } from '../../api/desk/writing/filing.ts';
import {
  type EditorFields,
  fieldsFrom,
  filingBody,
  inOrderCited,
  newFields,
  problemAt,
  withoutFact,
} from '../../src/desk/console/editor-fields.ts';
import { differences, merged } from '../../src/desk/console/versions.ts';
import { markersIn } from '../../src/desk/door/markers.ts';
import * as fc from '../support/properties.ts';

const EMPTY = newFields({ category: 'Time', byline: 'osric-tamblyn', kind: 'news', air_zone: 'UTC' });
const fact = (statement: string) => ({ statement, source: 'NIST', instrument: 'A', claim_key: '' });
const given = (fields: Partial<EditorFields>): EditorFields => ({ ...EMPTY, ...fields });
const body = (fields: Partial<EditorFields>) => filingBody(given(fields), true).body as Record<string, unknown>;

describe('the fields of the editor', () => {
  it('are what the API takes', () => {
    const fields = {
      ...{ headline: 'A', dek: 'B', prose: 'C.[^1]', language: ' pt-BR ', tags: 'one, two ,,three', kind: 'blog' },
      ...{ aliases: '/a/\n\n /b/ ', authors: 'Ada Byron https://ada.example/\nJane <https://jane.example/>\nN. N.' },
      ...{ image_src: 'media/a.png', image_alt: 'A quay', slug: 'a-b', facts: [fact('So.')] },
    };
    const made = body(fields);
    assert.deepEqual(made.tags, ['one', 'two', 'three']);
    assert.deepEqual(made.aliases, ['/a/', '/b/']);
    assert.deepEqual(made.authors, [
      { name: 'Ada Byron', url: 'https://ada.example/' },
      { name: 'Jane', url: 'https://jane.example/' },
      'N. N.',
    ]);
    assert.deepEqual(made.image, { src: 'media/a.png', alt: 'A quay', credit: null });
    assert.equal(made.language, 'pt-BR');
    assert.deepEqual(NewStory.safeParse(made).error?.issues ?? [], []);
    assert.deepEqual(NewStory.safeParse(body({})).error?.issues ?? [], []);
    assert.equal(filingBody(given(fields), false).body.slug, undefined);
  });

  it('go on air at a time of the zone that they name', () => {
    assert.equal(body({ air: 'now' }).air, true);
    assert.equal(body({ air: 'keep', air_at: 'x' }).air, false);
    assert.equal(
      body({ air: 'at', air_at: '2031-07-01T06:30', air_zone: 'Asia/Kolkata' }).air,
      '2031-07-01T01:00:00.000Z',
    );
    for (const [air_at, air_zone, input] of [
      ['', 'UTC', 'air_at'],
      ['2031-03-30T02:30', 'Europe/Berlin', 'air_at'],
      ['2031-07-01T06:30', 'Mars/Olympus', 'air_zone'],
    ] as const) {
      const { problems } = filingBody(given({ air: 'at', air_at, air_zone }), true);
      assert.deepEqual(
        problems.map((one) => one.input),
        [input],
        air_at,
      );
    }
  });

  it('come from a form with its rows, those without any text at the end left out', () => {
    const form = new FormData();
    form.set('prose', 'a\r\nb');
    for (const [n, statement] of ['one', '', 'three', ''].entries()) {
      form.append('fact_statement', statement);
      form.append('fact_source', n === 3 ? ' ' : 'NIST');
    }
    const { prose, facts, headline } = fieldsFrom(form);
    assert.deepEqual([prose, headline, facts.length], ['a\nb', '', 3]);
    assert.deepEqual(facts[1], { statement: '', source: 'NIST', instrument: '', claim_key: '' });
  });

  it('have every problem of the door at one of them', () => {
    const at = (field: string) => problemAt({ field, message: 'x' }).input;
    assert.equal(at('cited_facts[2].source'), 'fact-3-source');
    assert.equal(at('cited_facts[0]'), 'fact-1-statement');
    assert.equal(at('cited_facts'), 'facts');
    assert.equal(at('image.alt'), 'image_alt');
    assert.equal(at('tags[3]'), 'tags');
    assert.equal(at('authors[0].url'), 'authors');
    assert.equal(at('air'), 'air_at');
    assert.equal(at('more'), null);
  });

  it('number their sources as the text cites them, and lose one with its markers', () => {
    const facts = ['a', 'b', 'c', 'd'].map(fact);
    const fields = given({ prose: 'x[^3] y[^1] \\[^2] z[^3][^9] `[^2]`', facts });
    const ordered = inOrderCited(fields);
    assert.equal(ordered.prose, 'x[^1] y[^2] \\[^2] z[^1][^9] `[^3]`');
    assert.deepEqual(
      ordered.facts.map(({ statement }) => statement),
      ['c', 'a', 'b', 'd'],
    );
    const less = withoutFact(ordered, 1);
    assert.equal(less.prose, 'x y[^1] \\[^2] z[^9] `[^2]`');
    assert.deepEqual(
      less.facts.map(({ statement }) => statement),
      ['a', 'b', 'd'],
    );
  });

  it('cite the same statements after they are numbered', () => {
    const piece = fc.constantFrom('[^1]', '[^2]', '[^3]', '[^5]', '\\[^1]', ' a ', '\n\n', '[^x]', '`');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 0, max: 4 }), (pieces, count) => {
        const facts = Array.from({ length: count }, (_, index) => fact(`s${index}`));
        const before = given({ prose: pieces.join(''), facts });
        const after = inOrderCited(before);
        const cited = ({ prose, facts: all }: EditorFields) =>
          markersIn(prose).map(({ n }) => all[n - 1]?.statement ?? n);
        assert.deepEqual(cited(after), cited(before));
        assert.deepEqual(inOrderCited(after), after);
      }),
      { numRuns: 500 },
    );
  });
});

describe('two versions of a piece', () => {
  const base = given({ headline: 'Old', dek: 'D', prose: 'One.\n\nTwo.\n\nThree.', facts: [fact('a')] });

  it('are told apart field by field, and theirs is proposed where they alone changed it', () => {
    const theirs = { ...base, headline: 'New', prose: 'One!\n\nTwo.\n\nThree.' };
    const mine = { ...base, dek: 'E', prose: 'One.\n\nTwo.\n\nThree?', facts: [fact('a'), fact('b')] };
    const found = differences(base, theirs, mine);
    assert.deepEqual(
      found.map(({ field, parts }) => [
        field,
        ...parts.flatMap(({ take, isTheirs }) => (take === null ? [] : isTheirs)),
      ]),
      [
        ['headline', true],
        ['dek', false],
        ['prose', true, false],
        ['facts', false],
      ],
    );
    const takes = found.flatMap(({ parts }) =>
      parts.flatMap(({ take, isTheirs }) => (isTheirs && take !== null ? take : [])),
    );
    const both = merged(theirs, mine, new Set(takes));
    assert.deepEqual(both, { ...mine, headline: 'New', prose: 'One!\n\nTwo.\n\nThree?' });
  });

  it('give either back whole when all or nothing is taken', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b ', '\n', 'the ', '渡', '.'), { maxLength: 30 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(text, text, text, (old, one, other) => {
        const [theirs, mine] = [one, other].map((prose) => given({ prose })) as [EditorFields, EditorFields];
        const all = differences(given({ prose: old }), theirs, mine).flatMap(({ parts }) =>
          parts.flatMap(({ take }) => take ?? []),
        );
        assert.equal(merged(theirs, mine, new Set(all)).prose, one);
        assert.equal(merged(theirs, mine, new Set()).prose, other);
      }),
      { numRuns: 500 },
    );
  });
});
