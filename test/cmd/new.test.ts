import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { FRONT_BLOCKS, PaperBody } from '../../src/desk/paper.ts';
import { DEMO_PAPERS, folderDigest } from '../../src/ingest/demo-papers.ts';
import { newPaper } from '../../src/ingest/new-paper.ts';
import { paperSkeleton } from '../../src/ingest/paper-skeleton.ts';
import { tempFolder } from '../support/app-context.ts';
import { copyContent, run } from '../support/program.ts';

const FILES = [
  'masthead/mio-sato.yaml',
  'pages/about.md',
  'pages/imprint.md',
  'paper.yaml',
  'stories/how-to-write-a-day.md',
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
  for (const [path, text] of files) if (path.endsWith('.md')) assert.match(text, /^language: en$/m, path);
});

test('two processes make one paper, whole, and the door accepts it as it is', async (t) => {
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
  const both = await Promise.all([run(t, folder, args), run(t, folder, args)]);
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
  assert.equal(filed.code, 0, filed.stderr);
  assert.deepEqual(JSON.parse(filed.stdout).problems, []);
  const listed = await run(t, folder, ['paper', 'list']);
  assert.equal(listed.stdout, 'le-quai  Le "Quai": *matin*  https://quai.example/  public  1 on air, 0 drafts\n');
  const again = await run(t, folder, args);
  assert.equal(again.stderr, 'broadsheet: there is a paper le-quai already, in the ledger; choose another slug\n');
});

test('every bad value is named at once, with its option and its cure', async (t) => {
  const folder = tempFolder(t);
  const args = ['new', 'The Quay!', '--name', '', '--language', 'english_uk', '--url', 'quay.example'];
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

test('demo remove takes the demo papers and their folders, and nothing of anybody’s', async (t) => {
  const folder = tempFolder(t);
  const content = join(folder, 'content');
  const project = fileURLToPath(new URL('../../content/', import.meta.url));
  for (const { slug, digest } of DEMO_PAPERS)
    assert.equal(digest, folderDigest(join(project, slug)), `src/ingest/demo-papers.ts: the digest of ${slug}`);
  copyContent(folder);
  assert.equal((await run(t, folder, ['new', 'the-quay'])).code, 0);
  writeFileSync(join(content, 'the-plumb-line/stories/mine.md'), 'my own words');
  const asked = await run(t, folder, ['demo', 'remove']);
  assert.deepEqual([asked.code, asked.stderr], [1, 'broadsheet: this takes the demo papers off the air; add --yes\n']);
  // Before anything is filed there are only folders.
  const first = await run(t, folder, ['demo', 'remove', '--yes']);
  assert.deepEqual([first.code, first.stderr], [0, '']);
  assert.match(first.stdout, /^deleted \S+the-leading-light\n\S+the-plumb-line was changed and stays; [^\n]+\n$/);
  assert.deepEqual(readdirSync(content).sort(), ['agreement.md', 'the-plumb-line', 'the-quay']);
  copyContent(folder);
  await run(t, folder, ['file', '--no-press']);
  const second = await run(t, folder, ['demo', 'remove', '--yes']);
  assert.match(
    second.stdout,
    /^removed the-leading-light: 6 pieces withdrawn, .*\nits addresses .*\nremoved the-plumb-line: /,
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
