import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { withoutFileLine } from '../../src/desk/ingest/story-files.ts';
import { deskOf } from '../../src/server/context.ts';
import { filedContent } from '../../src/store/desk/filed-content.ts';
import { writingDesk } from '../../src/writing/desk.ts';
import { deskPage } from '../../src/writing/desk-page.ts';
import { allLostPieces } from '../../src/writing/outlook.ts';
import { withPanel } from '../../src/writing/panel.ts';
import { appContextIn, filing, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { chapFrame, id3, mp3 } from '../support/sounds.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'nameplate: The Quay\nsections: [City, Port]\n';
const PERSONA = 'name: Ines Calloway\ntitle: Editor\n';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><rect width="16" height="9"/></svg>\n';
const story = (more = '', prose = 'One thing is so.[^1] Another is so.[^2]'): string => `---
headline: The tide turns
dek: At six.
category: City
byline: ines-calloway
${more}cited_facts:
  - statement: One thing is so.
    source: RFC Editor
    instrument: https://www.rfc-editor.org/rfc/rfc2119
  - statement: Another is so.
    source: NIST
    instrument: FIPS 180-4
---

${prose}
`;

/** A content folder with one sound paper and these files; null removes one. */
function contentIn(t: TestContext, files: Record<string, string | Uint8Array | null> = {}): string {
  const folder = tempFolder(t);
  const sound = {
    'quay/paper.yaml': PAPER,
    'quay/masthead/ines-calloway.yaml': PERSONA,
    'quay/media/art/quay.svg': SVG,
    'quay/stories/sound.md': story(),
  };
  for (const [path, text] of Object.entries({ ...sound, ...files })) put(folder, path, text);
  return folder;
}

function put(folder: string, path: string, text: string | Uint8Array | null): void {
  const file = join(folder, 'content', path);
  mkdirSync(dirname(file), { recursive: true });
  if (text !== null) writeFileSync(file, text);
}

const file = async (t: TestContext, folder: string) => {
  const { code, stdout, stderr } = await run(t, folder, ['file', '--no-press', '--json']);
  const outcome = stdout === '' ? null : (JSON.parse(stdout) as { filed: string[]; unchanged: number });
  return { code, outcome, lines: stderr.split('\n').filter((line) => line !== '') };
};

const ABOUT = (prose = 'Two people write this.', more = '') => `---\ntitle: About us\n${more}---\n\n${prose}\n`;

/** A file that the door must refuse with one line, while the sound files beside it are filed. */
const BAD: [what: string, files: Record<string, string | Uint8Array>, line: RegExp][] = [
  [
    'a logo with a script',
    {
      'other/media/logo.svg': SVG.replace('<rect', '<script>alert(1)</script><rect'),
      'other/paper.yaml': `${PAPER}logo: media/logo.svg\n`,
    },
    /^other\/media\/logo\.svg:1 file: media\/logo\.svg has a script element, which pictures may not have; remove it\.$/,
  ],
  [
    'a logo that is not there',
    { 'other/paper.yaml': `${PAPER}logo: media/none.svg\n` },
    /^other\/paper\.yaml:3 logo: "media\/none\.svg" is not a media file of this paper; put it under media\/, and name it from there$/,
  ],
  [
    'a stylesheet that loads from elsewhere',
    {
      'other/media/style.css': 'a { color: red }\n\n.plate { background: url(https://x.example/a.png) }\n',
      'other/paper.yaml': `${PAPER}style: media/style.css\n`,
    },
    /^other\/media\/style\.css:3 file: media\/style\.css loads "https:\/\/x\.example\/a\.png" from elsewhere; name a media file/,
  ],
  [
    'a stylesheet with a syntax error',
    { 'quay/media/style.css': 'a {\n  color red;\n}\n' },
    /^quay\/media\/style\.css:2 file: media\/style\.css cannot be read as CSS \(.+\); correct it\.$/,
  ],
  [
    'analytics over http',
    { 'other/paper.yaml': `${PAPER}analytics: http://count.example/script.js\n` },
    /^other\/paper\.yaml:3 analytics: .*must be the https address of a script/,
  ],
  [
    'typefaces that do not come with Broadsheet',
    { 'other/paper.yaml': `${PAPER}typefaces: comic-sans\n` },
    /^other\/paper\.yaml:3 typefaces: .*source-serif.*public-sans/,
  ],
  [
    'a page at an address of the paper itself',
    { 'quay/pages/stories.md': ABOUT() },
    /^quay\/pages\/stories\.md:1 slug: "stories" is an address that the paper itself uses; choose another, such as "our-stories", and rename the file$/,
  ],
  [
    'a page with HTML',
    { 'quay/pages/about.md': ABOUT('One.\n\n<script>alert(1)</script>') },
    /^quay\/pages\/about\.md:7 prose: raw HTML "<script>" is not allowed; write Markdown/,
  ],
  [
    'a page with a marker',
    { 'quay/pages/about.md': ABOUT('It is so.[^1]') },
    /^quay\/pages\/about\.md:5 prose: \[\^1\] points at no entry, because a page cites no facts; link to the source instead$/,
  ],
  [
    'a page in no menu that there is',
    { 'quay/pages/about.md': ABOUT('x', 'nav: sidebar\n') },
    /^quay\/pages\/about\.md:3 nav: /,
  ],
  [
    'a page without a title',
    { 'quay/pages/about.md': '---\nnav: none\n---\n\nText.\n' },
    /^quay\/pages\/about\.md:2 title: this field is missing; add it$/,
  ],
  [
    'no front matter',
    { 'quay/stories/a.md': 'Just text.\n' },
    /^quay\/stories\/a\.md:1 file: the file does not begin with front matter; begin it with a line ---/,
  ],
  [
    'front matter without an end',
    { 'quay/stories/a.md': '---\nheadline: x\n' },
    /^quay\/stories\/a\.md:1 file: the front matter has no end; close it with a line ---/,
  ],
  [
    'an empty file',
    { 'quay/stories/a.md': '' },
    /^quay\/stories\/a\.md:1 file: the file does not begin with front matter/,
  ],
  [
    'malformed front matter',
    { 'quay/stories/a.md': story('correction: "never closed\n') },
    /^quay\/stories\/a\.md:\d+ yaml: .*; correct the YAML/,
  ],
  [
    'a field twice',
    { 'quay/stories/a.md': story('dek: Again.\n') },
    /^quay\/stories\/a\.md:6 yaml: this field appears twice; keep one of the two$/,
  ],
  [
    'an alias of nothing',
    { 'quay/stories/a.md': story('credit: *nobody\n') },
    /^quay\/stories\/a\.md:\d+ yaml: .*write the value out/,
  ],
  [
    'front matter that is a list',
    { 'quay/stories/a.md': '---\n- a\n---\n\nText.\n' },
    /^quay\/stories\/a\.md:2 yaml: there are no fields; write them as name: value$/,
  ],
  [
    'a missing field',
    { 'quay/stories/a.md': story().replace('dek: At six.\n', '') },
    /^quay\/stories\/a\.md:2 dek: this field is missing; add it$/,
  ],
  [
    'a field of another name',
    { 'quay/stories/a.md': story('bylin: x\n') },
    /^quay\/stories\/a\.md:6 bylin: there is no field of this name; did you mean byline\?$/,
  ],
  [
    'a field of another type',
    { 'quay/stories/a.md': story('language: 7\n') },
    /^quay\/stories\/a\.md:6 language: 7: must be a text; put it in quotes$/,
  ],
  [
    'a kind that is none',
    { 'quay/stories/a.md': story('kind: opinion\n') },
    /^quay\/stories\/a\.md:6 kind: "opinion": must be "news" or "blog"/,
  ],
  [
    'an air time that is none',
    { 'quay/stories/a.md': story('air: soon\n') },
    /^quay\/stories\/a\.md:6 air: "soon": must be true, false or a time such as 2026-11-20T06:30:00Z$/,
  ],
  [
    'a revision time that is none',
    { 'quay/stories/a.md': story('revised_at: 2026-02-30\n') },
    /^quay\/stories\/a\.md:6 revised_at: "2026-02-30": must be a time such as 2026-11-20T06:30:00Z$/,
  ],
  [
    'a revision time to come',
    { 'quay/stories/a.md': story('revised_at: 2999-01-01T00:00:00Z\n') },
    /^quay\/stories\/a\.md:6 revised_at: 2999-01-01T00:00:00\.000Z is in the future/,
  ],
  [
    'a slug that is not the file’s name',
    { 'quay/stories/a.md': story('slug: b\n') },
    /^quay\/stories\/a\.md:6 slug: the slug is the file's name, "a", not "b"; rename the file or take the field out$/,
  ],
  [
    'a file name that is no slug',
    { 'quay/stories/A b.md': story() },
    /^quay\/stories\/A b\.md:\d+ slug: "A b" is not a slug/,
  ],
  [
    'prose in the front matter',
    { 'quay/stories/a.md': story('prose: Text.\n') },
    /^quay\/stories\/a\.md:6 prose: the prose is the text below the front matter; move it there$/,
  ],
  [
    'an unknown section',
    { 'quay/stories/a.md': story().replace('City', 'Sport') },
    /^quay\/stories\/a\.md:4 category: "Sport" is not a section of this paper; use one of City, Port/,
  ],
  [
    'an unknown persona',
    { 'quay/stories/a.md': story().replace('ines-', 'anna-') },
    /^quay\/stories\/a\.md:5 byline: "anna-calloway" is not an active persona of this desk; use one of ines-calloway/,
  ],
  [
    'a marker without an entry',
    { 'quay/stories/a.md': story('', 'One.[^1]\n\nTwo.[^2]\n\nThree.[^3]') },
    /^quay\/stories\/a\.md:19 prose: \[\^3\] points at no entry: cited_facts has 2/,
  ],
  [
    'an entry without a marker',
    { 'quay/stories/a.md': story('', 'One.[^1]') },
    /^quay\/stories\/a\.md:10 cited_facts\[1\]: no \[\^2\] in the prose points at this entry/,
  ],
  [
    'one publisher twice',
    { 'quay/stories/a.md': story().replace('NIST', 'ＲＦＣ editor') },
    /^quay\/stories\/a\.md:\d+ cited_facts: the piece rests on 1 distinct publisher, and this paper puts nothing on air with fewer than 2/,
  ],
  [
    'a link that runs',
    { 'quay/stories/a.md': story('', 'One.[^1]\n\n[x](&#106;avascript:x) Two.[^2]') },
    /^quay\/stories\/a\.md:17 prose: the link "javascript:x" is not allowed/,
  ],
  [
    'text that is not UTF-8',
    { 'quay/stories/a.md': Buffer.concat([Buffer.from(story()), Buffer.from([0xe9, 0x0a])]) },
    /^quay\/stories\/a\.md:16 file: the file is not in UTF-8; save it in UTF-8$/,
  ],
  [
    'a picture that is none',
    { 'quay/media/art/a.png': 'not a picture' },
    /^quay\/media\/art\/a\.png:1 file: .*a\.png.*; /,
  ],
  [
    'a video that is cut short',
    {
      'quay/media/cast/a.mp4': readFileSync(
        new URL('../../content/the-plumb-line/media/cast/2026-11-17.mp4', import.meta.url),
      ).subarray(0, 900),
    },
    /^quay\/media\/cast\/a\.mp4:1 file: .*; /,
  ],
  [
    'a sound that is cut short',
    { 'quay/media/cast/a.mp3': mp3(1).subarray(0, -5) },
    /^quay\/media\/cast\/a\.mp3:1 file: media\/cast\/a\.mp3 is cut short: its last frame .*; send the whole file again\.$/,
  ],
  [
    'a picture that the paper does not have',
    { 'quay/stories/a.md': story('image: { src: media/art/none.svg, alt: A quay }\n') },
    /^quay\/stories\/a\.md:6 image\.src: "media\/art\/none\.svg" is not a media file of this paper/,
  ],
  [
    'a persona’s portrait that is not there',
    { 'quay/masthead/b.yaml': `${PERSONA}avatar: media/b.svg\n` },
    /^quay\/masthead\/b\.yaml:3 avatar: "media\/b\.svg" is not a media file of this paper; put it there, or correct the path$/,
  ],
  [
    'a persona’s file name that is no slug',
    { 'quay/masthead/B C.yaml': PERSONA },
    /^quay\/masthead\/B C\.yaml:1 slug: "B C" cannot be a persona's address/,
  ],
  [
    'a persona without a title',
    { 'quay/masthead/b.yaml': 'name: B\n' },
    /^quay\/masthead\/b\.yaml:1 title: this field is missing; add it$/,
  ],
  [
    'a persona of two lines',
    { 'quay/masthead/b.yaml': 'name: "B\\nC"\ntitle: Editor\n' },
    /^quay\/masthead\/b\.yaml:1 name: .*must be one line without control characters$/,
  ],
  [
    'a file that is almost YAML’s name',
    { 'quay/masthead/b.yml': PERSONA },
    /^quay\/masthead\/b\.yml:1 file: a name in this folder ends in \.yaml; rename the file, or move it away$/,
  ],
  [
    'a cast day that is none',
    { 'quay/cast/2026-02-30.yaml': 'title: x\nvideo: v\nposter: p\n' },
    /^quay\/cast\/2026-02-30\.yaml:1 day: "2026-02-30" is not a day; name the file after the day, as in 2026-11-20\.yaml$/,
  ],
  [
    'a cast without its video',
    { 'quay/cast/2026-11-20.yaml': 'title: x\nvideo: media/v.mp4\nposter: media/art/quay.svg\n' },
    /^quay\/cast\/2026-11-20\.yaml:2 video: "media\/v\.mp4" is not a media file of this paper/,
  ],
  [
    'an audio edition with captions',
    { 'quay/cast/2026-11-20.yaml': 'title: x\naudio: media/a.mp3\ncaptions: media/a.vtt\n' },
    /^quay\/cast\/2026-11-20\.yaml:3 captions: "media\/a\.vtt": an audio edition has no captions; name the file in `transcript`$/,
  ],
  [
    'chapters out of order',
    {
      'quay/cast/2026-11-20.yaml':
        'title: x\naudio: media/a.mp3\nchapters:\n  - time: 1:05\n    title: A\n  - time: 0:59\n    title: B\n',
    },
    /^quay\/cast\/2026-11-20\.yaml:6 chapters\[1\]\.time: "0:59": must be later than the chapter before$/,
  ],
  [
    'a cast whose video is a picture',
    { 'quay/cast/2026-11-20.yaml': 'title: x\nvideo: media/art/quay.svg\nposter: media/art/quay.svg\n' },
    /^quay\/cast\/2026-11-20\.yaml:2 video: "media\/art\/quay\.svg" is image\/svg\+xml, not video\/…; name another file$/,
  ],
  [
    'a second revision without a first',
    { 'quay/stories/a.2.md': story() },
    /^quay\/stories\/a\.2\.md:1 slug: there is no a\.md for it to revise; number the files of a piece a\.md, a\.2\.md, a\.3\.md …$/,
  ],
  [
    'a third revision without a second',
    { 'quay/stories/a.md': story(), 'quay/stories/a.3.md': story() },
    /^quay\/stories\/a\.3\.md:1 slug: there is no a\.2\.md for it to revise/,
  ],
  [
    'two files of one slug',
    { 'quay/stories/2025/a.md': story(), 'quay/stories/2026/a.md': story() },
    /^quay\/stories\/2026\/a\.md:1 slug: quay\/stories\/2025\/a\.md is revision 1 of a too; rename one of the two$/,
  ],
  [
    'a folder without a paper',
    { 'empty/stories/a.md': story() },
    /^empty\/paper\.yaml:1 paper: there is no paper\.yaml; write one with at least nameplate and sections$/,
  ],
  [
    'a folder that cannot be an address',
    { 'The Quay/paper.yaml': PAPER, 'The Quay/media/art/quay.svg': SVG },
    /^The Quay\/paper\.yaml:1 paper: the folder's name "The Quay" cannot be a paper's address/,
  ],
  [
    'a folder that the server uses itself',
    { 'api/paper.yaml': PAPER },
    /^api\/paper\.yaml:1 paper: the folder's name "api" cannot be a paper's address/,
  ],
  [
    'a paper whose hue is no angle',
    { 'other/paper.yaml': `${PAPER}hue: 360\n` },
    /^other\/paper\.yaml:3 hue: 360: must be at most 359/,
  ],
  [
    'a paper with a floor of one',
    { 'other/paper.yaml': `${PAPER}source_floor: 1\n` },
    /^other\/paper\.yaml:3 source_floor: 1: must be at least 2/,
  ],
  [
    'a paper with a section twice',
    { 'other/paper.yaml': 'nameplate: X\nsections: [City, city]\n' },
    /^other\/paper\.yaml:2 sections: \["City","city"\]: two sections would have the same address; rename one$/,
  ],
  [
    'sections with names of their own',
    { 'other/paper.yaml': 'nameplate: X\nsections: [{name: News}]\n' },
    /^other\/paper\.yaml:2 sections\[0\]: \{"name":"News"\}: must be a text, as in \[News, Weather\]$/,
  ],
  [
    'sections that are no list',
    { 'other/paper.yaml': 'nameplate: X\nsections: News\n' },
    /^other\/paper\.yaml:2 sections: "News": must be a list of texts, as in \[News, Weather\]$/,
  ],
  [
    'a paper without sections',
    { 'other/paper.yaml': 'nameplate: X\nsections: []\n' },
    /^other\/paper\.yaml:2 sections: /,
  ],
  [
    'a paper of no language',
    { 'other/paper.yaml': `${PAPER}language: en_US\n` },
    /^other\/paper\.yaml:3 language: "en_US": must be a language tag/,
  ],
  [
    'a paper whose address has a query',
    { 'other/paper.yaml': `${PAPER}url: https://quay.example/?a=b\n` },
    /^other\/paper\.yaml:3 url: .*must be an address without a query/,
  ],
  [
    'a paper that is no YAML',
    { 'other/paper.yaml': 'nameplate: [\n' },
    /^other\/paper\.yaml:\d yaml: .*; correct the YAML/,
  ],
];

test('each bad file gets one line and exit code 1, and the rest is filed', async (t) => {
  // Each case is a paper of its own: `quay` stands for it in the table.
  const all: Record<string, string | Uint8Array> = {};
  for (const [index, [, files]] of BAD.entries()) {
    const own = (path: string): string => path.replace(/^(quay|other)\//, `$1-${index}/`);
    Object.assign(all, { [own('quay/paper.yaml')]: PAPER, [own('quay/masthead/ines-calloway.yaml')]: PERSONA });
    Object.assign(all, { [own('quay/media/art/quay.svg')]: SVG, [own('quay/stories/sound.md')]: story() });
    for (const [path, text] of Object.entries(files)) all[own(path)] = text;
  }
  const { code, outcome, lines } = await file(t, contentIn(t, all));
  assert.equal(code, 1);
  assert.equal(lines.length, BAD.length, lines.join('\n'));
  for (const [index, [what, files, expected]] of BAD.entries()) {
    await t.test(what, () => {
      const folder = Object.keys(files)[0]?.split('/')[0] ?? '';
      const name = ['quay', 'other'].includes(folder) ? `${folder}-${index}` : folder;
      const own = lines
        .filter((line) => line.startsWith(`${name}/`))
        .map((line) => line.replaceAll(`${folder}-${index}/`, `${folder}/`));
      assert.equal(own.length, 1, own.join('\n'));
      assert.match(own[0] ?? '', expected);
      assert(outcome?.filed.includes(`quay-${index}/stories/sound.md`));
    });
  }
});

const LINK =
  'this is a link, and no link in the content folder is followed; put the file or folder itself here, or remove the link';

test('no link is followed, wherever it leads, and each is named', { timeout: 120_000 }, async (t) => {
  const folder = contentIn(t, { 'quay/pages/about.md': ABOUT() });
  const outside = join(folder, 'outside');
  mkdirSync(join(outside, 'deep'), { recursive: true });
  writeFileSync(join(outside, 'secret.svg'), SVG);
  writeFileSync(join(outside, 'deep/secret.md'), story());
  writeFileSync(join(outside, 'deep/secret.yaml'), PERSONA);
  writeFileSync(join(outside, 'paper.yaml'), PAPER);
  const at = (path: string) => join(folder, 'content', path);
  mkdirSync(at('other/stories/round'), { recursive: true });
  mkdirSync(at('bare'));
  const links: [target: string, path: string][] = [
    [outside, 'quay/media/art/out'],
    [join(outside, 'secret.svg'), 'quay/media/one.svg'],
    [join(outside, 'deep'), 'quay/stories/deep'],
    [join(outside, 'deep/secret.md'), 'quay/stories/secret.md'],
    [join(outside, 'deep'), 'quay/masthead/deep'],
    [at('quay/pages'), 'quay/pages/again'],
    // Two that lead in a circle.
    ['../stories', 'quay/stories/round'],
    [at('quay/media'), 'quay/media/art/round'],
    [join(outside, 'deep'), 'quay/cast'],
    ['/etc', 'quay/media/etc.txt'],
    [outside, 'linked'],
    [join(outside, 'paper.yaml'), 'bare/paper.yaml'],
  ];
  for (const [target, path] of links) symlinkSync(target, at(path));
  // An editor's lock leads nowhere, and is nothing of the desk's.
  symlinkSync('ada@host.1234', at('quay/stories/.#sound.md'));
  const { code, outcome, lines } = await file(t, folder);
  assert.equal(code, 1);
  const named = lines.filter((line) => line.includes('link')).sort();
  assert.deepEqual(named, links.map(([, path]) => `${path}:1 file: ${LINK}`).sort());
  assert.deepEqual(outcome?.filed.filter((name) => !name.startsWith('other/')).sort(), [
    'quay/masthead/ines-calloway.yaml',
    'quay/media/art/quay.svg',
    'quay/pages/about.md',
    'quay/paper.yaml',
    'quay/stories/sound.md',
  ]);
});

test('a folder where a file belongs is named, and the rest is filed', async (t) => {
  const folder = contentIn(t);
  mkdirSync(join(folder, 'content/quay/stories/a.md'));
  mkdirSync(join(folder, 'content/quay/masthead/b.yaml'));
  mkdirSync(join(folder, 'content/other/paper.yaml'), { recursive: true });
  symlinkSync('/nowhere', join(folder, 'content/quay/stories/b.md'));
  symlinkSync('/nowhere', join(folder, 'content/quay/media/c.svg'));
  const { code, outcome, lines } = await file(t, folder);
  assert.deepEqual(
    lines.sort().map((line) => line.replace(/\(EISDIR.*?\)/, '(…)')),
    [
      'other/paper.yaml:1 file: the file cannot be read (…); replace it with a readable file',
      'quay/masthead/b.yaml:1 file: this is not a file; put the file itself here, or move it away',
      `quay/media/c.svg:1 file: ${LINK}`,
      'quay/stories/a.md:1 file: this is not a file; put the file itself here, or move it away',
      `quay/stories/b.md:1 file: ${LINK}`,
    ],
  );
  assert.equal(code, 1);
  assert(outcome?.filed.includes('quay/stories/sound.md'));
});

test('a file that may not be read is named', {
  skip: process.getuid?.() === 0 && 'root may read everything',
}, async (t) => {
  const folder = contentIn(t, { 'quay/stories/a.md': story(), 'quay/media/art/b.svg': SVG });
  for (const path of ['stories/a.md', 'media/art/b.svg']) chmodSync(join(folder, 'content/quay', path), 0);
  const { code, lines } = await file(t, folder);
  assert.equal(lines.length, 2, lines.join('\n'));
  for (const line of lines) assert.match(line, /^quay\/\S+:1 file: the file cannot be read \(EACCES/);
  assert.equal(code, 1);
});

test('all problems of a file are reported together', async (t) => {
  const folder = contentIn(t, {
    'quay/stories/a.md': story('', 'One <b>.[^1] Three.[^3]')
      .replace('City', 'Sport')
      .replace('ines-', 'anna-')
      .replace('NIST', 'rfc editor'),
  });
  const { lines } = await file(t, folder);
  assert.deepEqual(
    lines.map((line) => /^quay\/stories\/a\.md:(\d+ \S+):/.exec(line)?.[1]),
    ['4 category', '5 byline', '15 prose', '15 prose', '10 cited_facts[1]', '7 cited_facts'],
  );
});

test('filing again changes nothing', async (t) => {
  const folder = contentIn(t, {
    'quay/stories/sound.2.md': story('correction: It was seven.\n', 'One is so.[^1] Another is so.[^2]'),
  });
  assert.equal((await file(t, folder)).code, 0);
  assert.deepEqual((await file(t, folder)).outcome, {
    filed: [],
    unchanged: 1,
    problems: [],
    without_file: [],
    pressed: {},
  });
});

test('the files of older revisions are history: edited, they are named and nothing is filed', {
  skip: ONLY_WIDE,
}, async (t) => {
  const text = (words: string): string => story('', `${words}[^1] Another is so.[^2]`);
  const folder = contentIn(t, { 'quay/stories/a.md': text('One.'), 'quay/stories/a.2.md': text('Two.') });
  await file(t, folder);
  put(folder, 'quay/stories/a.md', text('Uno.'));
  const edited = await file(t, folder);
  assert.deepEqual(edited.lines, [
    'quay/stories/a.md:1 file: this is an older revision and not as it was filed, and what was filed is never changed; put its text back, and make the change in a.3.md',
  ]);
  assert.equal(edited.code, 1);
  assert.deepEqual(edited.outcome?.filed, []);
  put(folder, 'quay/stories/a.md', text('One.'));
  put(folder, 'quay/stories/a.3.md', text('One.'));
  // Back to the first text is a revision like any other.
  assert.deepEqual((await file(t, folder)).outcome?.filed, ['quay/stories/a.3.md']);
  assert.deepEqual((await file(t, folder)).outcome?.filed, []);
  put(folder, 'quay/stories/a.3.md', text('Three.'));
  assert.deepEqual((await file(t, folder)).outcome?.filed, ['quay/stories/a.3.md']);
  assert.equal((await run(t, folder, ['audit'])).stdout.includes('revision'), false);
});

test('a file does not overwrite a revision that was made elsewhere', async (t) => {
  const text = (words: string): string => story('', `${words}[^1] Another is so.[^2]`);
  const folder = contentIn(t, { 'quay/stories/a.md': text('One.'), 'quay/stories/b.md': text('One.') });
  put(folder, 'quay/stories/b.2.md', text('Two.'));
  await file(t, folder);
  // As through the API, or by a process that saw a file which another has not listed.
  const app = appContextIn(t, folder, { now: Date.now() });
  for (const slug of ['a', 'b']) {
    const archive = app.store.desk.archive('quay');
    const piece = archive.piece(archive.storyBySlug(slug)?.id ?? '');
    assert.ok(piece);
    fileStory(deskOf(app), 'quay', { ...piece, prose: 'Elsewhere.[^1] Another is so.[^2]' }, { by: 'a key' });
  }
  const revisions = () => ['a', 'b'].map((slug) => app.store.desk.archive('quay').storyBySlug(slug)?.revision);
  assert.deepEqual(revisions(), [2, 3]);
  assert.deepEqual((await file(t, folder)).outcome, {
    filed: [],
    unchanged: 3,
    problems: [],
    without_file: [],
    pressed: {},
  });
  // Where nobody knows which files were filed, what was filed once is not filed again.
  const database = new Database(join(folder, 'var/broadsheet.db'));
  database.exec("DELETE FROM applied WHERE path LIKE 'quay/stories/%'");
  database.close();
  assert.deepEqual((await file(t, folder)).outcome?.filed, []);
  assert.deepEqual(revisions(), [2, 3]);
  // An edit is a revision, whatever was said before.
  put(folder, 'quay/stories/a.md', text('Three.'));
  put(folder, 'quay/stories/b.2.md', text('Four.'));
  assert.deepEqual((await file(t, folder)).outcome?.filed, ['quay/stories/a.md', 'quay/stories/b.2.md']);
  put(folder, 'quay/stories/a.md', text('One.'));
  assert.deepEqual((await file(t, folder)).outcome?.filed, ['quay/stories/a.md']);
  assert.deepEqual(revisions(), [4, 4]);
});

test('a withdrawn or unscheduled piece stays off when the folder is filed again', async (t) => {
  const folder = contentIn(t, { 'quay/stories/later.md': story('air: 2999-01-01T00:00:00Z\n') });
  await file(t, folder);
  for (const slug of ['sound', 'later']) {
    const reason = 'It was wrong.';
    const { stdout, stderr } = await run(t, folder, [
      'withdraw',
      slug,
      '--paper',
      'quay',
      '--reason',
      reason,
      '--json',
    ]);
    const { state, withdrawn_at, ...row } = JSON.parse(stdout || stderr);
    assert.deepEqual([state, row.reason], [slug === 'sound' ? 'withdrawn' : 'draft', reason]);
    assert.equal(new Date(withdrawn_at).toISOString(), withdrawn_at, 'where it stands, as the doors tell it');
  }
  assert.deepEqual((await file(t, folder)).outcome?.filed, []);
  put(folder, 'quay/stories/later.md', story('air: 2999-01-01T00:00:00Z\n', 'It is so.[^1] And so.[^2]'));
  assert.deepEqual((await file(t, folder)).outcome?.filed, ['quay/stories/later.md']);
  const again = await run(t, folder, ['withdraw', 'later', '--paper', 'quay', '--reason', 'Twice.']);
  assert.match(again.stderr, /later is not on air \(it is draft\)/);
});

test('a video or sound that is exchanged under its name gives its edition the new length and chapters', async (t) => {
  const [first, second] = ['2026-11-17', '2026-11-19'].map((day) =>
    readFileSync(new URL(`../../content/the-plumb-line/media/cast/${day}.mp4`, import.meta.url)),
  );
  const chapter = { time: 1, title: 'Good morning' };
  const sounds = [mp3(3, { tag: id3([chapFrame(chapter)]) }), mp3(2)] as const;
  const folder = contentIn(t, {
    'quay/media/v.mp4': first ?? null,
    'quay/media/w.mp3': sounds[0],
    'quay/cast/2026-11-20.yaml': 'title: x\nvideo: media/v.mp4\nposter: media/art/quay.svg\n',
    'quay/cast/2026-11-21.yaml': 'title: x\naudio: media/w.mp3\n',
  });
  await file(t, folder);
  put(folder, 'quay/media/v.mp4', second ?? null);
  put(folder, 'quay/media/w.mp3', sounds[1]);
  const filed = ['quay/media/v.mp4', 'quay/media/w.mp3', 'quay/cast/2026-11-21.yaml', 'quay/cast/2026-11-20.yaml'];
  assert.deepEqual((await file(t, folder)).outcome?.filed, filed);
  const { stdout } = await run(t, folder, ['ledger', 'export', join(folder, 'e.jsonl')]);
  assert.match(stdout, /entries/);
  const casts = readFileSync(join(folder, 'e.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"kind":"cast"'))
    .map((line) => JSON.parse(line) as { name: string; body: { bytes: number; file_chapters?: unknown } });
  const found = (day: string) => casts.filter(({ name }) => name === day).map(({ body }) => body);
  assert.deepEqual(
    found('2026-11-20').map(({ bytes }) => bytes),
    [first?.length, second?.length],
  );
  assert.deepEqual(
    found('2026-11-21').map(({ bytes, file_chapters = null }) => [bytes, file_chapters]),
    [
      [sounds[0].length, [chapter]],
      [sounds[1].length, null],
    ],
  );
});

test('removing a persona leaves its pieces unchanged', async (t) => {
  const folder = contentIn(t, { 'quay/masthead/b.yaml': PERSONA });
  await file(t, folder);
  put(folder, 'quay/masthead/ines-calloway.yaml', `${PERSONA}active: false\n`);
  const { code, lines, outcome } = await file(t, folder);
  assert.deepEqual(lines, []);
  assert.equal(code, 0);
  assert.deepEqual(outcome?.filed, ['quay/masthead/ines-calloway.yaml']);
  rmSync(join(folder, 'content/quay/paper.yaml'));
  assert.equal((await file(t, folder)).code, 0);
});

test('a page of the paper goes with its file, and one of the API stays', async (t) => {
  const folder = contentIn(t, { 'quay/pages/about.md': ABOUT(), 'quay/pages/imprint.md': ABOUT('Quay Street 1.') });
  const pages = () => {
    const app = appContextIn(t, folder, { now: Date.now() });
    const { store } = app;
    try {
      return store.desk
        .archive('quay')
        .pages()
        .map(({ slug, prose }) => [slug, prose]);
    } finally {
      app.close();
    }
  };
  assert.deepEqual((await file(t, folder)).lines, []);
  assert.deepEqual(pages(), [
    ['about', 'Two people write this.'],
    ['imprint', 'Quay Street 1.'],
  ]);
  const app = appContextIn(t, folder, { now: Date.now() });
  const entry = { at: Date.now(), paper: 'quay', kind: 'page', name: 'from-the-api' } as const;
  app.store.database.transact(() =>
    append(app.store.desk, { type: 'record', ...entry, body: { title: 'A', prose: 'Of the API.' } }),
  );
  app.close();

  rmSync(join(folder, 'content/quay/pages/about.md'));
  put(folder, 'quay/pages/imprint.md', ABOUT('Quay Street 2.'));
  const { outcome } = await file(t, folder);
  assert.deepEqual(outcome?.filed, ['quay/pages/imprint.md', 'quay/pages/about.md']);
  assert.deepEqual(pages(), [
    ['from-the-api', 'Of the API.'],
    ['imprint', 'Quay Street 2.'],
  ]);
  put(folder, 'quay/pages/about.md', ABOUT('We are back.'));
  assert.deepEqual((await file(t, folder)).outcome?.filed, ['quay/pages/about.md']);
});

test('a piece on air whose file was deleted is named with the command that withdraws it, and nothing else is', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = contentIn(t, {
    'quay/stories/gone.md': story(),
    'quay/stories/gone.2.md': story('', 'One thing was so.[^1] Another is so.[^2]'),
    'quay/stories/moved.md': story(),
    'quay/stories/renamed.md': story('tags: [Only here]\n'),
    'quay/stories/draft.md': story('air: false\n'),
    'quay/stories/withdrawn.md': story(),
  });
  assert.deepEqual((await file(t, folder)).code, 0);
  const app = appContextIn(t, folder, { now: Date.now() });
  const { persona, ...rest } = filing('from-the-api');
  fileStory(deskOf(app), 'quay', { ...rest, category: 'City', persona: 'ines-calloway' }, { by: 'key:x' });
  airStory(deskOf(app), 'quay', 'from-the-api', { by: 'key:x' });
  app.close();
  assert.equal(persona, 'ines-calloway');
  const stories = join(folder, 'content/quay/stories');
  const withdrawal = ['withdraw', 'withdrawn', '--paper', 'quay', '--reason', 'It was wrong.'];
  assert.equal((await run(t, folder, withdrawal)).code, 0);
  for (const name of ['gone.md', 'gone.2.md', 'draft.md', 'withdrawn.md']) rmSync(join(stories, name));
  mkdirSync(join(stories, '2026'));
  renameSync(join(stories, 'moved.md'), join(stories, '2026/moved.md'));
  renameSync(join(stories, 'renamed.md'), join(stories, 'new-name.md'));

  const { code, stdout } = await run(t, folder, ['file', '--no-press']);
  assert.equal(code, 0);
  const command = 'npm run -s broadsheet -- withdraw gone --paper quay --reason "Withdrawn by the desk."';
  const said = stdout.split('\n').filter((line) => /without a file|was renamed/.test(line));
  assert.deepEqual(said, [
    `quay/gone is on air without a file: quay/stories/gone.2.md was deleted; put it back, or withdraw the piece: ${command}`,
    `quay/renamed is on air beside quay/stories/new-name.md, into which quay/stories/renamed.md was renamed; to keep one of the two pieces: ${command.replace(' gone ', ' renamed ')}`,
  ]);

  // The writing desk, which only reads the database, says the same.
  const contentDir = join(folder, 'content');
  const desk = writingDesk({ contentDir, origin: 'http://localhost:1', dataOrigin: 'http://localhost:2' });
  t.after(() => desk.close());
  await desk.refresh();
  const filed = filedContent(join(folder, 'var/broadsheet.db'));
  const parts = { desk, filed, now: Date.now(), reloader: '', opensEditor: false };
  assert.deepEqual(allLostPieces(desk, parts.filed).map(withoutFileLine), said);
  const page = deskPage(parts);
  assert.match(page, /On air without a file \(2\)/);
  assert.ok(page.includes(command.replaceAll('"', '&quot;')), page);
  assert.match(
    withPanel('<html><head></head><body></body></html>', '/quay/', parts),
    /On air without a file: gone and 1 more/,
  );

  const words =
    /--(.*)/
      .exec(command)?.[1]
      ?.match(/"[^"]*"|\S+/g)
      ?.map((word) => word.replaceAll('"', '')) ?? [];
  assert.equal((await run(t, folder, words)).code, 0, 'the command works as it is printed');
  assert.doesNotMatch((await run(t, folder, ['file', '--no-press'])).stdout, /quay\/gone /);
});

test('a command whose press fails first says what it did', async (t) => {
  const folder = contentIn(t, { 'quay/stories/bad.md': 'Just text.\n' });
  // A file where the folder of the papers belongs.
  const more = { DIST_DIR: join(folder, 'taken/papers') };
  const played: [args: string[], said: RegExp][] = [
    [['file'], /filed quay\/stories\/sound\.md\n.*1 refused\n$/s],
    [['withdraw', 'sound', '--paper', 'quay', '--reason', 'An error.'], /^sound is withdrawn\n$/],
    [['air', 'sound', '--paper', 'quay'], /^sound is on air since .*\n$/],
    [['key', 'rotate'], /^the signing key is now .*; 1 retired\n$/],
  ];
  writeFileSync(join(folder, 'taken'), '');
  for (const [args, said] of played) {
    const { code, stdout, stderr } = await run(t, folder, args, more);
    assert.equal(code, 1, args.join(' '));
    assert.match(stdout, said, stderr);
    assert.match(stderr, /^broadsheet: .*(?:cannot|a file where a folder belongs)/m, args.join(' '));
  }
});
