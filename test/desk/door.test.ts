import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinctPublishers, filingProblems, type PaperRules, sourceFloorProblems } from '../../src/desk/door/door.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import type { CitedFact } from '../../src/proof/basis.ts';
import { filing } from '../support/app-context.ts';

const rules: PaperRules = {
  sections: ['City', 'Port & Sea'],
  personas: ['ines-calloway'],
  source_floor: 2,
  hasMedia: (path) => path === 'media/art/quay.svg',
  hasPage: (slug) => slug === 'about',
  aliasOwner: (alias) => (alias === '/2019/taken' ? 'another-piece' : null),
  fact: () => null,
};

const fact = (n: number, more: Partial<CitedFact> = {}): CitedFact => ({
  n,
  statement: 'It is so.',
  source: `Publisher ${n}`,
  instrument: 'https://example.org/',
  claim_key: null,
  ...more,
});
const noFacts = { prose: 'No facts.', cited_facts: [] };
const oneFact = (more: Partial<CitedFact>) => ({ prose: 'One.[^1]', cited_facts: [fact(1, more)] });

/** Each rule of the door: what breaks it, and the whole of what the door says. */
const TABLE: [rule: string, broken: Partial<Filing>, said: [field: string, message: RegExp][]][] = [
  ['nothing is wrong', {}, []],
  ['an empty dek is one', { dek: '' }, []],
  [
    'a slug is in words of a–z and 0–9',
    { slug: 'Harbor Ledger' },
    [['slug', /^"Harbor Ledger" is not a slug; use 1 to 150/]],
  ],
  ['a slug climbs out of no folder', { slug: '../x' }, [['slug', /^"\.\.\/x" is not a slug/]]],
  ['a slug is not empty', { slug: '' }, [['slug', /^"" is not a slug/]]],
  ['a slug is not too long', { slug: 'a'.repeat(151) }, [['slug', /is not a slug/]]],
  [
    'a slug does not look like an id',
    { slug: '01jd000000000000000000000a' },
    [['slug', /nothing that looks like a piece's id/]],
  ],
  ['a headline is there', { headline: '' }, [['headline', /^this field is empty; write it$/]]],
  [
    'a headline is not too long',
    { headline: 'Tide '.repeat(2_000) },
    [['headline', /^10000 characters are more than 300; shorten it \(it begins "Tide Tide/]],
  ],
  [
    'a headline is one line',
    { headline: 'One\ntwo' },
    [['headline', /^the control character U\+000A is at character 4; remove it$/]],
  ],
  [
    'a headline has no heap of marks',
    { headline: `One${'\u0301\u0316'.repeat(51)}` },
    [['headline', /^more than 100 combining marks or invisible characters in a row; remove those/]],
  ],
  [
    'a headline shows something',
    { headline: '\u200b\u2060\u3164' },
    [
      [
        'headline',
        /^this field shows nothing: it has only U\+200B ZERO WIDTH SPACE, U\+2060 WORD JOINER, U\+3164 HANGUL FILLER; write/,
      ],
    ],
  ],
  [
    'a headline of blanks of Braille shows nothing',
    { headline: '\u2800\u2800' },
    [['headline', /U\+2800 BRAILLE PATTERN BLANK/]],
  ],
  [
    'a headline leaves no direction open',
    { headline: 'Tide \u202egnp.exe' },
    [['headline', /^U\+202E RIGHT-TO-LEFT OVERRIDE at character 6 is never closed, so it changes/]],
  ],
  [
    'a headline closes no direction that is not open',
    { headline: 'Tide\u202c' },
    [['headline', /^U\+202C POP DIRECTIONAL FORMATTING at character 5 closes nothing/]],
  ],
  [
    'a direction within another is closed before it',
    { headline: '\u2067a \u202bb\u2069' },
    [['headline', /^U\+202B RIGHT-TO-LEFT EMBEDDING at character 4 is never closed/]],
  ],
  ['directions that are closed are taken', { headline: 'A \u2067\u202bשלום\u202c\u2069 b \u200f\u200e' }, []],
  ['a headline may be of one sign, and joined', { headline: '👩‍🚀' }, []],
  ['Arabic, Hebrew and Hindi stand as they are written', { headline: 'می‌خواهم שלום क्‍ष' }, []],
  [
    'a dek, if there is one, shows something',
    { dek: '\u2063' },
    [['dek', /^this field shows nothing: it has only U\+2063;/]],
  ],
  ['a tag leaves no direction open', { tags: ['a\u2066'] }, [['tags[0]', /U\+2066 LEFT-TO-RIGHT ISOLATE/]]],
  ['the prose shows something', { prose: '\u200b', cited_facts: [] }, [['prose', /^this field shows nothing/]]],
  ['a source shows something', oneFact({ source: '\u200b' }), [['cited_facts[0].source', /^this field shows nothing/]]],
  ['a headline may be of marks that are used', { headline: `T${'\u0301\u0316'.repeat(15)}ide` }, []],
  [
    'prose has no heap of marks that invisible characters part',
    { prose: `One.${'\u094d\u200d\u093c\u200d'.repeat(30)}`, cited_facts: [] },
    [['prose', /^more than 100 combining marks or invisible characters/]],
  ],
  [
    'a marker is not repeated without end',
    { prose: '[^1]'.repeat(5_001), cited_facts: [fact(1)] },
    [['prose', /^5001 markers are more than 5000; split the piece$/]],
  ],
  ['a headline has no hidden line', { headline: 'One\u2028two' }, [['headline', /U\+2028 is at character 4/]]],
  [
    'a headline is Unicode',
    { headline: 'One \ud83d' },
    [['headline', /^it contains an unpaired surrogate; write it again in UTF-8$/]],
  ],
  ['a dek is Unicode', { dek: '\udc00' }, [['dek', /an unpaired surrogate/]]],
  [
    'a section is the paper’s',
    { category: 'Sport' },
    [['category', /^"Sport" is not a section of this paper; use one of City, Port & Sea, or add it to paper\.yaml$/]],
  ],
  [
    'a persona signs',
    { persona: 'nobody' },
    [
      [
        'byline',
        /^"nobody" is not an active persona of this desk; use one of ines-calloway, or add masthead\/nobody\.yaml$/,
      ],
    ],
  ],
  ['no path is proposed for a persona', { persona: '../x' }, [['byline', /or add masthead\/<slug>\.yaml$/]]],
  [
    'a language has a tag',
    { language: 'english_US' },
    [['language', /^"english_US" is not a language tag; write it as in BCP 47/]],
  ],
  ['prose is there', { prose: '', cited_facts: [] }, [['prose', /^the piece has no text; write it$/]]],
  [
    'prose is not too long',
    { ...noFacts, prose: 'a'.repeat(400_001) },
    [['prose', /^400001 characters are more than 400000/]],
  ],
  [
    'prose holds no control character',
    { ...noFacts, prose: 'a\u0000b' },
    [['prose', /^the control character U\+0000 is at character 2; remove it$/]],
  ],
  ['prose holds no half pair', { ...noFacts, prose: 'a\ud800b' }, [['prose', /an unpaired surrogate/]]],
  ['prose may hold tabs and lines', { ...noFacts, prose: 'a\tb\nc' }, []],
  [
    'prose holds no HTML',
    { ...noFacts, prose: 'a <b>b</b>' },
    [
      ['prose', /^raw HTML "<b>" is not allowed; write Markdown, or put it in backticks to show it$/],
      ['prose', /"<\/b>"/],
    ],
  ],
  ['prose holds no comment', { ...noFacts, prose: '<!-- x -->' }, [['prose', /^raw HTML "<!-- x -->" is not allowed/]]],
  ['HTML may be shown in backticks', { ...noFacts, prose: 'a `<b>` and a <commit-id>' }, []],
  [
    'prose links to addresses',
    { ...noFacts, prose: '[x](javascript:alert(1))' },
    [['prose', /^the link "javascript:alert\(1\)" is not allowed; link to an http, https or mailto address$/]],
  ],
  [
    'prose shows pictures of the paper',
    { ...noFacts, prose: '![x](https://example.org/x.png)' },
    [
      [
        'prose',
        /^the picture "https:\/\/example\.org\/x\.png" is not a media file of this paper; put it under media\/ and name it from there$/,
      ],
    ],
  ],
  ['a picture of the paper is one', { ...noFacts, prose: '![x](media/art/quay.svg)' }, []],
  [
    'a marker has an entry',
    { ...noFacts, prose: 'a[^9]' },
    [['prose', /^\[\^9\] points at no entry: cited_facts has 0; add the entry or correct the number$/]],
  ],
  ['a marker without entry is told once', { ...noFacts, prose: 'a[^9] b[^9]' }, [['prose', /\[\^9\]/]]],
  ['markers count from one', { ...noFacts, prose: 'a[^0]' }, [['prose', /^\[\^0\] points at no entry/]]],
  ['a marker in code is a marker', { ...noFacts, prose: '`a[^9]`' }, [['prose', /\[\^9\]/]]],
  ['an escaped marker is none', { ...noFacts, prose: 'a\\[^9]' }, []],
  [
    'a marker behind an escaped backslash is one',
    { ...noFacts, prose: 'a\\\\[^9]' },
    [['prose', /\[\^9\] points at no entry/]],
  ],
  [
    'an entry has a marker',
    { prose: 'a[^1]', cited_facts: [fact(1), fact(2)] },
    [['cited_facts[1]', /^no \[\^2\] in the prose points at this entry; add the marker or take the entry out$/]],
  ],
  [
    'a marker is where readers see it',
    { ...oneFact({}), prose: '![a[^1]](media/art/quay.svg)' },
    [['prose', /^\[\^1\] is where no reader sees it: in a picture's description/]],
  ],
  ['a statement is there', oneFact({ statement: '' }), [['cited_facts[0].statement', /empty/]]],
  ['a source is there', oneFact({ source: '' }), [['cited_facts[0].source', /empty/]]],
  ['an instrument is there', oneFact({ instrument: '' }), [['cited_facts[0].instrument', /empty/]]],
  [
    'an instrument runs nothing',
    oneFact({ instrument: 'JavaScript:alert(1)' }),
    [
      [
        'cited_facts[0].instrument',
        /^"JavaScript:alert\(1\)" is not the address of a document; give an http or https address, or the document's name$/,
      ],
    ],
  ],
  ['a claim key is one line', oneFact({ claim_key: 'a\nb' }), [['cited_facts[0].claim_key', /write "a-b"/]]],
  ['a claim key is not too long', oneFact({ claim_key: 'a'.repeat(81) }), [['cited_facts[0].claim_key', /at most 80/]]],
  [
    'entries are numbered in order',
    oneFact({ n: 2 }),
    [
      [
        'cited_facts[0].n',
        /^2 is not the entry's place in the list, 1; number the entries 1, 2, 3 …, or leave the numbers out$/,
      ],
    ],
  ],
  [
    'entries are not too many',
    {
      prose: Array.from({ length: 1_001 }, (_, n) => `a[^${n + 1}]`).join(' '),
      cited_facts: Array.from({ length: 1_001 }, (_, n) => fact(n + 1)),
    },
    [['cited_facts', /^1001 entries are more than 1000; split the piece$/]],
  ],
  [
    'a picture is the paper’s',
    { image: { src: '../etc/passwd', alt: 'A file', credit: null } },
    [['image.src', /^"\.\.\/etc\/passwd" is not a media file of this paper/]],
  ],
  [
    'a picture has a description',
    { image: { src: 'media/art/quay.svg', alt: ' ', credit: null } },
    [
      [
        'image.alt',
        /^the picture "media\/art\/quay\.svg" has no description; say what it shows in alt, as in image: {src: media/,
      ],
    ],
  ],
  [
    'a picture in prose has a description',
    {
      ...noFacts,
      prose: 'One.\n\n![](media/art/quay.svg)\n\n![A quay](media/art/quay.svg) ![ ](media/art/quay.svg "Dusk")',
    },
    [
      [
        'prose',
        /^the picture "media\/art\/quay\.svg" has no description; .* !\[Two ferries at the quay\]\(media\/art\/quay\.svg\)$/,
      ],
      ['prose', /has no description/],
    ],
  ],
  [
    'a picture with a description and a caption is one',
    { ...noFacts, prose: '![A quay](media/art/quay.svg "Dusk")' },
    [],
  ],
  [
    'a description is one line',
    { image: { src: 'media/art/quay.svg', alt: 'a\nb', credit: null } },
    [['image.alt', /U\+000A/]],
  ],
  ['a credit is not too long', { credit: 'a'.repeat(2_001) }, [['credit', /more than 2000/]]],
  ['a correction holds no control character', { correction: 'a\u009fb' }, [['correction', /U\+009F/]]],
];

for (const [rule, broken, said] of TABLE) {
  test(`the door: ${rule}`, () => {
    const problems = filingProblems(filing('tide', broken), rules);
    assert.deepEqual(
      problems.map(({ field }) => field),
      said.map(([field]) => field),
      JSON.stringify(problems),
    );
    for (const [index, [, message]] of said.entries()) assert.match(problems[index]?.message ?? '', message);
  });
}

test('the door reports every problem together', () => {
  const problems = filingProblems(
    filing('No Slug', {
      headline: '',
      category: 'Sport',
      persona: 'nobody',
      language: '',
      prose: '<i>a</i>[^7]',
      image: { src: 'x', alt: '', credit: null },
    }),
    rules,
  );
  assert.deepEqual(
    problems.map(({ rule }) => rule),
    [
      'slug_form',
      'required',
      'unknown_section',
      'unknown_persona',
      'language_form',
      'raw_html',
      'raw_html',
      'marker_without_entry',
      'entry_without_marker',
      'entry_without_marker',
      'unknown_media',
      'no_description',
    ],
  );
});

test('imported pieces may have pictures without descriptions', () => {
  const image = { src: 'media/art/quay.svg', alt: '', credit: null };
  const bare = filing('bare', { image, prose: '![](media/art/quay.svg)', cited_facts: [] });
  assert.deepEqual(filingProblems(bare, { ...rules, takesUndescribed: true }), []);
  assert.equal(filingProblems(bare, rules).length, 2);
});

test('unclosed brackets are rejected before parsing, and the paragraph is named', () => {
  const problemsOf = (prose: string) => filingProblems(filing('bracketed', { prose, cited_facts: [] }), rules);
  const hostile = `One.\n\nTwo.\n\n${'!['.repeat(10_000)}`;
  assert.deepEqual(problemsOf(hostile), [
    {
      field: 'prose',
      rule: 'open_brackets',
      message: `by line 5 of the prose, in the paragraph that begins ${JSON.stringify('!['.repeat(20))}, too many square brackets are open at a time; close them, or write \\[ for one that is text`,
      offset: 12,
    },
  ]);
  for (const hostileShape of ['[', '[a\n', '[a][b', '[[]', '[![', '> [']) {
    const [problem] = problemsOf(hostileShape.repeat(6_000));
    assert.equal(problem?.rule, 'open_brackets', hostileShape);
  }
  for (const sound of ['[a](https://a.example/) ', '[![a](b_)](c_)', '\\[', 'a[0]', '\u2003[0m a\n\n']) {
    const rest = problemsOf(sound.repeat(3_000)).filter(({ rule }) => rule !== 'unknown_media');
    assert.deepEqual(rest, [], sound);
  }
  assert.deepEqual(
    problemsOf(`\`\`\`\n${'[0m line\n'.repeat(9_000)}\`\`\`\n`),
    [],
    'a log in a fence has its own brackets',
  );
});

test('a problem of the prose has its position', () => {
  const prose = 'One.\n\nTwo &lt; [a](&#106;avascript:x)\n\nThree <b>.';
  const problems = filingProblems(filing('tide', { prose, cited_facts: [] }), rules);
  assert.deepEqual(
    problems.map(({ rule, offset }) => [rule, prose.slice(0, offset).split('\n').length]),
    [
      ['raw_html', 5],
      ['unsafe_link', 3],
    ],
  );
});

const publishers = (...sources: string[]): number => distinctPublishers(sources.map((source) => ({ source })));

test('publishers are compared in NFKC and folded case', () => {
  assert.equal(publishers('IETF', 'ｉｅｔｆ', 'Ietf', ' ietf '), 1);
  assert.equal(publishers('Straße', 'STRASSE', 'strasse'), 1);
  assert.equal(publishers('ΟΔΟΣ', 'οδος', 'οδοσ'), 1);
  assert.equal(publishers('ﬁnance', 'Finance'), 1);
  assert.equal(publishers('Café', 'Cafe\u0301'), 1);
  assert.equal(publishers('New  York', 'New\u00a0York'), 1);
  assert.equal(publishers('IE\u200bTF', 'IETF', 'IE\u00adTF', '\ufeffIETF'), 1);
  assert.equal(publishers('IETF', 'IANA'), 2);
  assert.equal(publishers('Cafe', 'Café'), 2);
});

test('the floor binds a piece that goes on air', () => {
  const facts = [fact(1, { source: 'IETF' }), fact(2, { source: 'ietf' })];
  assert.deepEqual(
    sourceFloorProblems({ cited_facts: facts, provenance: null }, rules).map(({ field, rule, message }) => ({
      field,
      rule,
      message,
    })),
    [
      {
        field: 'cited_facts',
        rule: 'source_floor',
        message:
          'the piece rests on 1 distinct publisher, and this paper puts nothing on air with fewer than 2; cite another publisher (two pages of one publisher are one)',
      },
    ],
  );
  assert.deepEqual(sourceFloorProblems({ cited_facts: [fact(1), fact(2)], provenance: null }, rules), []);
  assert.deepEqual(sourceFloorProblems({ cited_facts: [], provenance: 'archive' }, rules), []);
});
