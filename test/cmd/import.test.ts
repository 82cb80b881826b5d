import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const line = (slug: string, more: object = {}): string =>
  JSON.stringify({
    slug,
    headline: `About ${slug}`,
    dek: 'At six.',
    section: 'Sea',
    kind: 'news',
    published_at: '2019-05-20T00:00:00Z',
    prose: 'One.[^1] Two.[^2]',
    cited_facts: [
      { n: 1, statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4', claim_key: null },
      { n: 2, statement: 'Two.', source: 'IETF', instrument: 'RFC 2119', claim_key: null },
    ],
    authors: ['Grace Person', { name: 'Alan Person' }],
    license: 'CC BY 4.0',
    origin: 'example.org/a.md',
    byline: { name: 'Grace Person', title: 'Author' },
    ...more,
  });

interface Imported {
  filed: number;
  unchanged: number;
  refused: { line: number; slug: string | null; problems: { field: string; rule: string; message: string }[] }[];
}

const importInto = async (t: TestContext, folder: string, file: string, ...more: string[]) => {
  const args = ['import', file, '--paper', 'quay', '--create', '--air', '--no-press', '--json', ...more];
  const { code, stdout, stderr } = await run(t, folder, args);
  return {
    code,
    outcome: (stdout === '' ? null : JSON.parse(stdout)) as Imported | null,
    lines: stderr.split('\n').filter((text) => text !== ''),
  };
};

const importLines = (t: TestContext, folder: string, lines: (string | Uint8Array)[], ...more: string[]) => {
  const file = join(folder, 'archive.jsonl');
  writeFileSync(file, Buffer.concat(lines.flatMap((text) => [Buffer.from(text), Buffer.from('\n')])));
  return importInto(t, folder, file, ...more);
};

/** The ledger as its export gives it. */
async function ledgerOf(
  t: TestContext,
  folder: string,
): Promise<
  {
    type: string;
    piece?: { slug: string; revision: number; credit: string; byline: { name: string }; prose: string };
  }[]
> {
  const file = join(folder, 'export.jsonl');
  assert.equal((await run(t, folder, ['ledger', 'export', file])).code, 0);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
}

const NO_CREDIT = { authors: null, license: null, origin: null };

/** What the ledger holds, line by line. */
async function typesOf(t: TestContext, folder: string): Promise<string[]> {
  return (await ledgerOf(t, folder)).map(({ type }) => type).slice(1, -1);
}

/** The credits of all generations, in the ledger's order. */
async function creditsOf(t: TestContext, folder: string): Promise<(string | undefined)[]> {
  return (await ledgerOf(t, folder)).flatMap(({ type, piece }) => (type === 'generation' ? [piece?.credit] : []));
}

test('a line that cannot be filed is named by its number, and the rest goes on', async (t) => {
  const folder = tempFolder(t);
  const cases: [text: string | Uint8Array, said: RegExp | null][] = [
    [line('sound'), null],
    ['{"slug": ', /^archive\.jsonl:2 line: the line is not JSON \(.*\); correct it$/],
    ['', null],
    ['null', /^archive\.jsonl:4 body: null: must be an object$/],
    [
      line('nul', { prose: 'a\u0000b.[^1] [^2]' }),
      /^archive\.jsonl:5 nul prose: the control character U\+0000 is at character 2; remove it$/,
    ],
    ['\u0000', /^archive\.jsonl:6 line: the line is not JSON/],
    [
      Buffer.concat([Buffer.from(line('latin').slice(0, -2)), Buffer.from([0xe9, 0x22, 0x7d])]),
      /^archive\.jsonl:7 line: the line is not in UTF-8; save the file in UTF-8$/,
    ],
    [
      line('long', { prose: `One.[^1] Two.[^2] ${'Tide '.repeat(1_000_000)}` }),
      /^archive\.jsonl:8 long prose: 5000017 characters are more than 400000; shorten it/,
    ],
    [
      line('poor', { cited_facts: [JSON.parse(line('x')).cited_facts[0]], prose: 'One.[^1]' }),
      /^archive\.jsonl:9 poor cited_facts: the piece rests on 1 distinct publisher/,
    ],
    [
      line('when', { published_at: '2019-02-30T00:00:00Z' }),
      /^archive\.jsonl:10 when published_at: "2019-02-30T00:00:00Z": is not a time such as 2019-05-20T00:00:00Z$/,
    ],
    [
      line('sound', { headline: 'Again' }),
      /^archive\.jsonl:11 sound line: line 1 already has this slug; give each piece its own slug$/,
    ],
    [line('No Slug'), /^archive\.jsonl:12 No Slug slug: "No Slug" is not a slug/],
    [
      line('html', { prose: 'One.[^1] <b>Two</b>.[^2]' }).replace('</b>', ''),
      /^archive\.jsonl:13 html prose: raw HTML "<b>" is not allowed/,
    ],
    [
      line('picture', { prose: 'One.[^1] Two.[^2] ![x](y.png)' }),
      /^archive\.jsonl:14 picture prose: the picture "y\.png" is not a media file of this paper/,
    ],
    [line('separator', { prose: 'One.[^1] \u2028 Two.[^2]' }), null],
    [`${line('carriage')}\r`, null],
  ];
  const { code, outcome, lines } = await importLines(
    t,
    folder,
    cases.map(([text]) => text),
  );
  const expected = cases.flatMap(([, said]) => said ?? []);
  assert.equal(lines.length, expected.length, lines.join('\n'));
  for (const [index, said] of expected.entries()) assert.match(lines[index] ?? '', said);
  assert.equal(code, 1);
  assert.deepEqual([outcome?.filed, outcome?.unchanged, outcome?.refused.length], [3, 0, expected.length]);
});

test('all problems of a line are reported together, those of its shape and of the desk’s rules', async (t) => {
  const folder = tempFolder(t);
  const prose = 'One.[^1] Two.[^2] <b>Three.[^9]';
  const mixed = line('mixed', { headline: 7, published_at: 'yesterday', prose, tags: ['x'.repeat(41)] });
  const { outcome } = await importLines(t, folder, [line('good'), mixed]);
  assert.equal(outcome?.filed, 1);
  assert.deepEqual(
    outcome?.refused.map(({ line: n, slug, problems }) => [
      n,
      slug,
      ...problems.map((one) => `${one.field} ${one.rule}`),
    ]),
    [
      [
        2,
        'mixed',
        'headline wrong_type',
        'published_at wrong_type',
        'prose raw_html',
        'prose marker_without_entry',
        'tags[0] too_long',
      ],
    ],
  );
});

test('running an import again changes nothing; a changed line is a new revision', async (t) => {
  const folder = tempFolder(t);
  await importLines(t, folder, [line('a'), line('b', { published_at: '2999-01-01T00:00:00Z' })]);
  const before = await ledgerOf(t, folder);
  const again = await importLines(t, folder, [line('a'), line('b', { published_at: '2999-01-01T00:00:00Z' })]);
  assert.deepEqual([again.code, again.outcome?.filed, again.outcome?.unchanged], [0, 0, 2]);
  assert.deepEqual(await ledgerOf(t, folder), before);
  const changed = await importLines(t, folder, [line('a', { headline: 'Another' }), line('c', { section: 'Land' })]);
  assert.deepEqual([changed.code, changed.outcome?.filed], [0, 2]);
  const revisions = (await ledgerOf(t, folder)).flatMap(({ type, piece }) =>
    type === 'generation' ? [`${piece?.slug} ${piece?.revision}`] : [],
  );
  assert.deepEqual(revisions, ['a 1', 'b 1', 'a 2', 'c 1']);
});

test('authors become the credit and never a persona', async (t) => {
  const folder = tempFolder(t);
  await importLines(t, folder, [line('a')], '--persona', 'reader-desk');
  const entries = await ledgerOf(t, folder);
  const [piece] = entries.flatMap((entry) => entry.piece ?? []);
  assert.equal(piece?.byline.name, 'Reader Desk');
  assert.equal(
    piece?.credit,
    'Written by Grace Person and Alan Person. First published at example.org/a.md. Licence: CC BY 4.0.',
  );
  const personas = entries.filter((entry) => (entry as { kind?: string }).kind === 'persona');
  assert.equal(JSON.stringify(personas).includes('Grace'), false);
});

test('a paper is made with its first piece, and not by an import that files nothing', async (t) => {
  const folder = tempFolder(t);
  const refused = Array.from({ length: 201 }, (_, n) => line(`poor-${n}`, { cited_facts: [], prose: 'One.' }));
  const { code, outcome } = await importLines(t, folder, refused);
  assert.deepEqual([code, outcome?.filed, outcome?.refused.length], [1, 0, refused.length]);
  assert.deepEqual(await typesOf(t, folder), ['key', 'leaf']);
  const file = join(folder, 'archive.jsonl');
  const told = await run(t, folder, ['import', file, '--paper', 'quay', '--create', '--air']);
  assert.equal(told.stdout, '0 filed, 0 unchanged, 201 refused\nthe paper quay was not created: nothing was filed\n');
  // The first piece may come after a whole batch of refused ones.
  const mended = await importLines(t, folder, [...refused, line('a')]);
  assert.deepEqual([mended.code, mended.outcome?.filed], [1, 1]);
  assert.deepEqual(await typesOf(t, folder), [
    ...['key', 'record', 'record', 'generation', 'airing'],
    // Of the key, the draft and the piece on air.
    ...['leaf', 'leaf', 'leaf'],
  ]);
  // Nor does one that files nothing add a section or a persona to a paper that is there.
  const before = await ledgerOf(t, folder);
  const none = await importLines(t, folder, [line('b', { section: 'Land', prose: '' })], '--persona', 'other-desk');
  assert.deepEqual([none.code, none.outcome?.filed], [1, 0]);
  assert.deepEqual(await ledgerOf(t, folder), before);
});

test('a credit mentions changes only where the archive does', async (t) => {
  const folder = tempFolder(t);
  const changes = 'Links were turned into numbered sources.';
  await importLines(t, folder, [line('changed', { changes }), line('plain'), line('alone', { ...NO_CREDIT, changes })]);
  assert.deepEqual(await creditsOf(t, folder), [
    `Written by Grace Person and Alan Person. First published at example.org/a.md. Licence: CC BY 4.0. Changes: ${changes}`,
    'Written by Grace Person and Alan Person. First published at example.org/a.md. Licence: CC BY 4.0.',
    `Changes: ${changes}`,
  ]);
});

test('what an earlier import wrote into a credit makes no revision by itself, and goes with the next one', async (t) => {
  const folder = tempFolder(t);
  const before =
    'First published at example.org/a.md. The mark-up was changed: links were turned into numbered sources.';
  const now = 'First published at example.org/a.md.';
  const bare = { ...NO_CREDIT, origin: 'example.org/a.md' };
  // An archive that says so itself comes to the same text as the earlier import did.
  const origin = before.slice('First published at '.length, -1);
  await importLines(t, folder, [line('a', { ...bare, origin }), line('b', { ...bare, origin })]);
  assert.deepEqual(await creditsOf(t, folder), [before, before]);
  const again = await importLines(t, folder, [line('a', bare), line('b', bare)]);
  assert.deepEqual([again.outcome?.filed, again.outcome?.unchanged], [0, 2]);
  await importLines(t, folder, [line('a', { ...bare, headline: 'Another' }), line('b', bare)]);
  assert.deepEqual(await creditsOf(t, folder), [before, before, now]);
});

test('what cannot be imported at all is one line', async (t) => {
  const folder = tempFolder(t);
  const sound = join(folder, 'sound.jsonl');
  writeFileSync(sound, `${line('a')}\n`);
  const empty = join(folder, 'empty.jsonl');
  writeFileSync(empty, '');
  const cut = join(folder, 'cut.jsonl.gz');
  const noise = Array.from({ length: 400 }, (_, n) => line(`a-${n}`, { dek: String(Math.sin(n)) })).join('\n');
  writeFileSync(cut, gzipSync(noise).subarray(0, -500));
  const plain = join(folder, 'plain.jsonl.gz');
  writeFileSync(plain, line('a'));
  const cases: [args: string[], said: RegExp][] = [
    [
      [join(folder, 'none.jsonl'), '--paper', 'quay', '--create'],
      /^broadsheet: .*none\.jsonl does not exist; name the file or the folder of an archive$/,
    ],
    [
      [sound, '--paper', 'quay'],
      /^broadsheet: there is no paper "quay"; create it with --create, or file a content folder first$/,
    ],
    [[sound, '--paper', '../x', '--create'], /^broadsheet: "\.\.\/x" cannot be a paper's address/],
    [
      [sound, '--paper', 'quay', '--create', '--persona', '../x'],
      /^broadsheet: --persona "\.\.\/x" cannot be a persona's address/,
    ],
    [
      [cut, '--paper', 'quay', '--create'],
      /^broadsheet: .*cut\.jsonl\.gz cannot be read \(unexpected end of file\); it is damaged or cut short: get it again$/,
    ],
    [
      [plain, '--paper', 'quay', '--create'],
      /^broadsheet: .*plain\.jsonl\.gz cannot be read \(incorrect header check\)/,
    ],
    [[empty, '--paper', 'quay', '--create'], /^broadsheet: no line of .*empty\.jsonl names a section; write one/],
    [[folder, '--paper', 'quay', '--create'], /^broadsheet: .* is no folder of Hugo, Jekyll or Eleventy: .*--from$/],
  ];
  for (const [args, said] of cases) {
    const { code, stderr } = await run(t, folder, ['import', ...args, '--no-press']);
    assert.match(stderr.trimEnd(), said);
    assert.equal(code, 1);
  }
});

const CORPUS = fileURLToPath(new URL('../../../shared/corpus/', import.meta.url));
const archives = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => name.endsWith('.jsonl.gz')) : [];
/** A tenth of the pieces, which takes a tenth of the time; all of them in `.ci/wide`. */
const EVERY = process.env.WHOLE_CORPUS === '1' ? 1 : 10;
const skip = archives.length === 0 && 'the corpus (../shared/corpus) is not there';

// On a push one of them: what they hold differs, what files them does not.
for (const name of archives.length === 0 ? ['corpus'] : ONLY_WIDE === false ? archives : archives.slice(0, 1)) {
  test(`${name} is filed where it may be published, and not elsewhere`, { skip }, async (t) => {
    const folder = tempFolder(t);
    const lines = gunzipSync(readFileSync(join(CORPUS, name)))
      .toString()
      .split('\n')
      .filter((text, index) => text !== '' && index % EVERY === 0);
    const archive = join(folder, name);
    writeFileSync(archive, gzipSync(`${lines.join('\n')}\n`));
    const pieces = lines.map((text) => JSON.parse(text) as { slug: string; publishable: boolean; prose: string });
    const { code, outcome } = await importInto(t, folder, archive);
    assert(outcome !== null);
    const refused = new Map(outcome.refused.map(({ slug, problems }) => [slug, problems]));
    const wrong = pieces.filter(({ slug, publishable }) => publishable === refused.has(slug));
    for (const { slug, publishable } of wrong) {
      assert(publishable, `${slug} was filed`);
      // The few that are refused all the same, each for a rule that it truly breaks.
      const rules = refused.get(slug)?.map(({ rule }) => rule) ?? [];
      assert(
        rules.every((rule) => ['raw_html', 'unknown_media'].includes(rule)),
        `${slug}: ${rules}`,
      );
    }
    assert(wrong.length < 5, `${wrong.length} of ${pieces.length}: ${wrong.map(({ slug }) => slug)}`);
    assert.equal(outcome.filed + outcome.refused.length, pieces.length);
    assert.equal(code, outcome.refused.length > 0 ? 1 : 0);
    if (name.startsWith('wikinews')) assert.equal(outcome.refused.length, pieces.length);
    const again = await importInto(t, folder, archive);
    assert.deepEqual([again.outcome?.filed, again.outcome?.unchanged], [0, outcome.filed]);
    const audit = await run(t, folder, ['audit', '--json']);
    const { generations, faults } = JSON.parse(audit.stdout) as { generations: number; faults: string[] };
    assert.equal(generations, outcome.filed);
    assert.deepEqual(
      faults.filter((fault) => !/waits? for the press/.test(fault)),
      [],
    );
    t.diagnostic(
      `${outcome.filed} filed, ${outcome.refused.length} refused, ${wrong.length} of them though publishable: ${wrong.map(({ slug }) => `${slug} (${refused.get(slug)?.[0]?.rule})`).join(', ')}`,
    );
  });
}
