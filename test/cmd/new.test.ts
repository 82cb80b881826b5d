import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { DEMO_PAPERS, folderDigest } from '../../src/desk/ingest/demo-papers.ts';
import { newPaper, paperSkeleton } from '../../src/desk/ingest/new-paper.ts';
import { FRONT_BLOCKS, PaperBody } from '../../src/desk/papers/paper.ts';
import { TABLES } from '../../src/phrases/tables.ts';
import { tempFolder } from '../support/app-context.ts';
import { copyContent, run, runAlone } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const LANGUAGES = Object.keys(TABLES);
const STORIES = [
  'stories/a-picture-and-its-words.md',
  'stories/from-the-desk.md',
  'stories/how-to-write-a-day.md',
  'stories/three-questions.md',
];
const FILES = [
  'masthead/mio-sato.yaml',
  'media/check.svg',
  'media/day.svg',
  'media/window.svg',
  'pages/about.md',
  'pages/imprint.md',
  'paper.yaml',
  ...STORIES,
];

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

test('paper.yaml of a new paper explains every setting, with an example that is right', () => {
  const persona = { name: 'Ada Holm', title: 'Editor' };
  const files = paperSkeleton({ slug: 'q', nameplate: 'Q', language: 'de', url: undefined, sections: ['A'], persona });
  const lines = files.get('paper.yaml')?.split('\n') ?? [];
  const filled = lines.map((line) => line.replace(/^# (?=[a-z_]+: | {2})/, '')).join('\n');
  const body = PaperBody.parse(parseYaml(filled));
  assert.deepEqual(
    Object.keys(PaperBody.shape).filter((field) => !filled.includes(`\n${field}:`)),
    [],
  );
  assert.deepEqual(body.front?.blocks, [...FRONT_BLOCKS]);
});

test('what a new paper says is in its language, or says that it is in English', () => {
  const persona = { name: 'Ada Holm', title: 'Editor' };
  const made = (language: string) =>
    paperSkeleton({ slug: 'q', nameplate: 'Q', language, url: undefined, sections: ['A'], persona });
  const samples = LANGUAGES.map((language) => made(language));
  for (const path of FILES.filter((file) => file.endsWith('.md'))) {
    const texts = samples.map((files) => files.get(path) ?? '');
    assert.equal(new Set(texts).size, LANGUAGES.length, `${path} is written in each language`);
    for (const text of texts) assert.doesNotMatch(text, /^language:/m, path);
    assert.match(made('sv').get(path) ?? '', /^language: en$/m, path);
    assert.equal(made('pt-BR').get(path), made('pt').get(path));
  }
  for (const files of samples) for (const path of STORIES) assert.match(files.get(path) ?? '', /^air: false$/m);
});

test('a new paper’s sections and the title of its persona are in its language', async (t) => {
  const folder = tempFolder(t);
  for (const [language, expected] of [
    ['ja', /ニュース[\s\S]*編集/],
    ['ar-EG', /الأخبار/],
    ['is', /News[\s\S]*Editor/],
  ] as const) {
    assert.equal(
      (await run(t, folder, ['new', `the-${language.toLowerCase()}`, '--language', language, '--yes'])).code,
      0,
    );
    const paper = join(folder, 'content', `the-${language.toLowerCase()}`);
    const texts = ['paper.yaml', 'masthead/ada-holm.yaml'].map((file) => readFileSync(join(paper, file), 'utf8'));
    assert.match(texts.join('\n'), expected);
  }
});

test('two processes create one complete paper, and the door accepts all of it but the unfilled imprint', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const args = [
    'new',
    'le-quai',
    '--name',
    'Le "Quai": *matin*',
    '--language',
    'fr-CA',
    '--url',
    'https://quai.example/',
  ];
  args.push('--section', 'À la une', '--section', '港', '--persona', 'Mio Sato, Editor: harbour');
  const both = await Promise.all([runAlone(t, folder, args), runAlone(t, folder, args)]);
  assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1]);
  const lost = both.find(({ code }) => code === 1)?.stderr ?? '';
  assert.match(
    lost,
    /^broadsheet: \S+content\/le-quai exists already, and nothing in it was changed; choose another slug\n$/,
  );
  assert.deepEqual(
    filesIn(join(folder, 'content')),
    FILES.map((path) => `le-quai/${path}`),
  );

  const filed = await run(t, folder, ['file', '--no-press', '--json']);
  assert.equal(filed.code, 1);
  const { problems } = JSON.parse(filed.stdout) as { problems: { file: string; rule: string; message: string }[] };
  assert.deepEqual(
    problems.map(({ file, rule }) => [file, rule]),
    [['le-quai/pages/imprint.md', 'to_fill_in']],
  );
  assert.match(problems[0]?.message ?? '', /^⟦votre nom⟧ is to be filled in before readers see the page; write what/);
  const listed = await run(t, folder, ['paper', 'list']);
  assert.equal(listed.stdout, 'le-quai  Le "Quai": *matin*  https://quai.example/  public  0 on air, 4 drafts\n');
  const imprint = join(folder, 'content/le-quai/pages/imprint.md');
  writeFileSync(imprint, readFileSync(imprint, 'utf8').replaceAll(/⟦[^⟧]+⟧/g, 'Mio Sato'));
  const filled = await run(t, folder, ['file', '--no-press']);
  assert.equal(filled.code, 0, filled.stderr);
  assert.match(filled.stdout, /^filed le-quai\/pages\/imprint\.md$/m);
  const again = await run(t, folder, args);
  assert.equal(again.stderr, 'broadsheet: there is a paper le-quai already, in the ledger; choose another slug\n');
});

test('all invalid values are reported together, each with its option and its cure', async (t) => {
  const folder = tempFolder(t);
  const args = ['new', '…', '--name', '', '--language', 'english_uk', '--url', 'quay.example'];
  args.push('--section', 'News', '--section', 'news', '--persona', 'Ada Holm');
  const { code, stderr } = await run(t, folder, args);
  assert.equal(code, 1);
  const lines = stderr.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf(':'))),
    ['SLUG', '--name', '--language', '--section', '--url', '--persona', 'broadsheet'],
  );
  assert.match(stderr, /^--language: "english_uk": must be a language tag as in BCP 47, such as en, pt-BR or ja$/m);
  assert.equal(existsSync(join(folder, 'content')), false);

  const asked = { slug: 'quay', name: 'Quay', language: 'en', url: undefined, sections: ['News'], persona: 'A, B' };
  const fieldsOf = (wrong: object) => newPaper({ ...asked, ...wrong }).problems.map(({ field }) => field);
  assert.deepEqual(fieldsOf({}), []);
  for (const slug of ['', 'log', 'api', 'a--b', '-a', 'Ä', 'a/b', '..', 'a'.repeat(61)])
    assert.deepEqual(fieldsOf({ slug }), ['SLUG'], slug);
  for (const name of ['', ' ', 'x'.repeat(81), 'a\nb', '\u202Eabc\u0000'])
    assert.deepEqual(fieldsOf({ name }), ['--name'], name);
  for (const language of ['', 'xx_YY', 'e', 'en-', '日本'])
    assert.deepEqual(fieldsOf({ language }), ['--language'], language);
  for (const url of ['x', 'ftp://a.example', 'https://a.example/?q', 'https://u@a.example'])
    assert.deepEqual(fieldsOf({ url }), ['--url'], url);
  for (const sections of [[], [''], ['a', 'A'], ['x'.repeat(61)]])
    assert.deepEqual([...new Set(fieldsOf({ sections }))], ['--section'], String(sections));
  for (const persona of ['', 'Ada', ', Editor', 'Ada,', `Ada, ${'x'.repeat(121)}`, 'Ada, a\nb'])
    assert.deepEqual([...new Set(fieldsOf({ persona }))], ['--persona'], persona);
});

test('an address is derived from text in any script', async (t) => {
  const folder = tempFolder(t);
  for (const [typed, slug] of [
    ['The Quay!', 'the-quay'],
    ['Über Ærø', 'uber-aero'],
    ['Київські новини', 'kiivski-novini'],
    ['東京', 'dongjing'],
  ] as const) {
    const { code, stdout, stderr } = await run(t, folder, ['new', typed, '--persona', 'Олена Бойко, Editor', '--yes']);
    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(`its address is ${slug}, made from "${typed}"\n`), stdout);
    assert.deepEqual(readdirSync(join(folder, 'content', slug, 'masthead')), ['olena-boiko.yaml']);
  }
  assert.match((await run(t, folder, ['new', 'Log', '--yes'])).stderr, /^SLUG: "Log" cannot be a paper's address/);
});

test('a file in the way, and a folder that cannot be written, leave nothing', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'content'));
  writeFileSync(join(folder, 'content/quay'), 'mine');
  const inTheWay = await run(t, folder, ['new', 'quay']);
  assert.deepEqual([inTheWay.code, inTheWay.stderr.split('\n').length], [1, 2]);
  assert.equal(readFileSync(join(folder, 'content/quay'), 'utf8'), 'mine');
  assert.deepEqual(readdirSync(join(folder, 'content')), ['quay']);
  if (process.getuid?.() === 0) return;
  chmodSync(join(folder, 'content'), 0o500);
  t.after(() => chmodSync(join(folder, 'content'), 0o700));
  const refused = await run(t, folder, ['new', 'pier']);
  assert.match(refused.stderr, /^broadsheet: \S+\/pier cannot be written \(EACCES[^\n]*\n$/);
});

test('demo remove deletes the demo papers and their folders, and nothing else', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const content = join(folder, 'content');
  const project = fileURLToPath(new URL('../../content/', import.meta.url));
  for (const { slug, digest } of DEMO_PAPERS)
    assert.equal(digest, folderDigest(join(project, slug)), `src/desk/ingest/demo-papers.ts: the digest of ${slug}`);
  copyContent(folder);
  assert.equal((await run(t, folder, ['new', 'the-quay'])).code, 0);
  writeFileSync(join(content, 'the-plumb-line/stories/mine.md'), 'my own words');
  const asked = await run(t, folder, ['demo', 'remove']);
  assert.deepEqual([asked.code, asked.stderr], [1, 'broadsheet: this takes the demo papers off the air; add --yes\n']);
  // Before anything is filed there are only folders.
  const first = await run(t, folder, ['demo', 'remove', '--yes']);
  assert.deepEqual([first.code, first.stderr], [0, '']);
  assert.match(first.stdout, /^deleted \S+the-leading-light\n\S+the-plumb-line was changed, so it was kept; [^\n]+\n$/);
  assert.deepEqual(readdirSync(content).sort(), ['agreement.md', 'the-plumb-line', 'the-quay']);
  copyContent(folder);
  await run(t, folder, ['file', '--no-press']);
  const second = await run(t, folder, ['demo', 'remove', '--yes']);
  assert.match(
    second.stdout,
    /^removed the-leading-light: \d+ pieces withdrawn, .*\nits addresses .*\nremoved the-plumb-line: /,
  );
  assert.equal(readFileSync(join(content, 'the-plumb-line/stories/mine.md'), 'utf8'), 'my own words');
  const listed = await run(t, folder, ['paper', 'list', '--json']);
  assert.deepEqual(
    JSON.parse(listed.stdout).map(({ slug, removed_at }: { slug: string; removed_at: string | null }) => [
      slug,
      removed_at === null,
    ]),
    [
      ['the-quay', true],
      ['the-leading-light', false],
      ['the-plumb-line', false],
    ],
  );
});
