import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  type ArchiveLine,
  askSections,
  type Fetch,
  lines,
  type Mapping,
  type MediaStore,
  NO_MAPPING,
  openArchive,
  type PaperRules,
  Pictures,
  sections,
} from '../../../packages/import/src/index.ts';
import { PROJECT } from '../../../src/shared/project.ts';
import { tempFolder } from '../../support/app-context.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { packPackage } from '../packed.ts';
import { fetchOf, SITE, wxr, zipOf } from './archives.ts';

/** A paper with rules of its own: the package knows none of Broadsheet's. */
const RULES: PaperRules = {
  max: { slug: 30, dek: 20, tag: 10, tags: 2, aliases: 1 },
  isSlug: (text) => /^[a-z-]+$/.test(text),
  words: (name) => name.toLowerCase().match(/[a-z]+/g) ?? [],
  tags: (names) => [...new Set(names)],
  aliases: (paths) => [...new Set(paths)],
  aliasProblem: (alias) => (alias.startsWith('/wp-') ? 'it is the system’s own' : null),
};

/** Keeps files in memory, and holds PNG alone. */
function store() {
  const kept = new Map<string, Buffer>();
  const media: MediaStore = {
    types: { '.png': 'image/png' },
    bytesMax: { image: 1_000, audio: 2_000 },
    words: RULES.words,
    has: (path) => kept.has(path),
    keep: async (path, file) => void kept.set(path, readFileSync(file)),
  };
  return { kept, media };
}

async function read(path: string, options: { mapping?: Mapping; fetch?: Fetch | null; media?: MediaStore } = {}) {
  const { mapping = NO_MAPPING, fetch = null, media = store().media } = options;
  const source = await openArchive(path);
  assert.ok(source);
  const pictures = new Pictures(source, media, fetch);
  try {
    const found: ArchiveLine[] = [];
    for await (const line of lines(source, { mapping, pictures, rules: RULES })) found.push(line);
    return found;
  } finally {
    source.close();
  }
}

const pieceIn = (line: ArchiveLine | undefined) => (line !== undefined && 'value' in line ? line.value : null);

test('an export becomes lines and a report, by rules and a store that are given', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'old.xml');
  const big = `${SITE}/big.png`;
  writeFileSync(
    file,
    wxr(
      {
        name: 'two-ferries-and-one-quay-of-stone',
        html: `<p>Text</p><p><img src="${SITE}/a.png"><img src="${big}"></p>`,
        excerpt: 'A dek that is too long for it',
        tags: ['Tides', 'A tag that is too long', 'Quays', 'Ropes'],
      },
      { name: 'own', link: `${SITE}/wp-own/`, creator: 'bo', categories: [] },
      { name: 'about', type: 'page', title: 'About' },
      { name: 'year-0', date: '0000-00-00 00:00:00' },
    ),
  );
  const { kept, media } = store();
  const fetch = fetchOf({ [`${SITE}/a.png`]: Buffer.from('a'), [big]: Buffer.alloc(10) });
  const mapping = { sections: {}, section: 'Notes', authors: { bo: 'Bo Ray' } };
  const [first, second, third, fourth] = await read(file, { mapping, fetch, media });
  const value = pieceIn(first);
  assert.deepEqual(
    [value?.slug, value?.dek, value?.tags, value?.aliases, value?.section, value?.provenance],
    [
      'two-ferries-and-one-quay',
      'A dek that is too…',
      ['News', 'Tides'],
      ['/2019/05/two-ferries-and-one-quay-of-stone/'],
      'Notes',
      'archive',
    ],
  );
  assert.deepEqual([...kept.keys()].sort(), first?.shows.toSorted());
  assert.match(String(value?.prose), /^Text\n\n!\[\]\(media\/archive\/a-[0-9a-f]{8}\.png\)!\[\]\(media\/archive\/big-/);
  assert.deepEqual(first?.notes, ['3 of its tags were left out: "A tag that is too long", "Quays", "Ropes"']);
  assert.deepEqual([pieceIn(second)?.authors, pieceIn(second)?.aliases], [['Bo Ray'], []]);
  assert.deepEqual(second?.notes, ['the earlier address "/wp-own/" was left out: it is the system’s own']);
  assert.ok(third !== undefined && 'skipped' in third && fourth !== undefined && 'problem' in fourth);
  assert.deepEqual([third.skipped.slice(0, 12), fourth.problem.field], ['it is a page', 'published_at']);
  // The same archive makes the same lines, and asks for nothing again.
  const asked: string[] = [];
  assert.deepEqual(await read(file, { mapping, fetch: fetchOf({}, asked), media }), [first, second, third, fourth]);
  assert.deepEqual(asked, []);
});

test('questions name each section that the paper lacks, and their answers are a mapping', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'old.xml');
  writeFileSync(
    file,
    wxr(
      { name: 'a', categories: ['News'] },
      { name: 'b', categories: ['Harbour &amp; port', 'Tides'] },
      { name: 'c', categories: ['Harbour &amp; port'] },
      { name: 'd', categories: ['Ropes'] },
      { name: 'e', categories: [] },
    ),
  );
  const source = await openArchive(file);
  assert.ok(source);
  const answers = ['Port', '', null];
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answers.shift() ?? null;
  };
  const mapping = await askSections(ask, source, NO_MAPPING, ['News']);
  assert.deepEqual(questions, [
    'The section for 2 pieces of the category "Harbour & port" [Harbour & port]: ',
    'The section for 1 piece of the category "Ropes" [Ropes]: ',
    'The section of 1 piece without a category [News]: ',
  ]);
  assert.deepEqual(mapping, { sections: { 'Harbour & port': 'Port', Ropes: 'Ropes' }, section: 'News', authors: {} });
  assert.deepEqual(await sections(source, mapping), ['News', 'Port', 'Ropes']);
});

test('npm pack builds one module with types, which runs without Broadsheet', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const tarball = packPackage(folder, 'packages/import');
  const modules = join(folder, 'user/node_modules');
  const own = join(modules, '@broadsheet/import');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules', name), join(modules, name));
  }
  assert.match(readFileSync(join(own, 'dist/types/index.d.ts'), 'utf8'), /openArchive/);
  const zip = await zipOf(join(folder, 'user/letters.zip'), {
    'posts.csv': 'post_id,post_date,is_published,title\n1.a,2019-07-26T20:48:19.814Z,true,A\n',
    'posts/1.a.html': '<p>An <i>old</i> text</p>',
  });
  const program = `import { lines, NO_MAPPING, openArchive } from '@broadsheet/import';
    const rules = { max: { slug: 30, dek: 20, tag: 9, tags: 9, aliases: 9 }, isSlug: () => true, words: () => [], tags: () => [], aliases: () => [], aliasProblem: () => null };
    const source = await openArchive(process.argv[1]);
    for await (const { value } of lines(source, { mapping: NO_MAPPING, pictures: null, rules })) console.log(value.slug, value.prose);`;
  const args = ['--input-type=module', '-e', program, zip];
  assert.equal(
    execFileSync(process.execPath, args, { cwd: join(folder, 'user'), encoding: 'utf8' }),
    'a An _old_ text\n',
  );
});
