import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { problemLine } from '../../src/desk/ingest/source-file.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

const PERSONA = 'name: Ada Holm\ntitle: Editor\n';
const PAPER = 'nameplate: The Quay\nsections: [News]\n';

/** Files that a desk may write by mistake, and what it is told: every fault at once, each at its line. */
const CASES: [path: string, bytes: string | Buffer, lines: string[]][] = [
  [
    'a/paper.yaml',
    `# A comment.
nameplat: The Quay
sectoins:
  - News
language: english_uk
hue: 400
motto: 1984
paper_public: yes
source_floor: 1
url: quay.example
contact: nobody
default_kind: essay
alerts: { huor: 25, time_zone: Mars }
zzz: 1
`,
    [
      'a/paper.yaml:1 nameplate: this field is missing; add it',
      'a/paper.yaml:7 motto: 1984: must be a text; put it in quotes',
      'a/paper.yaml:5 language: "english_uk": must be a language tag as in BCP 47, such as en, pt-BR or ja',
      'a/paper.yaml:6 hue: 400: must be at most 359',
      'a/paper.yaml:1 sections: this field is missing; add it',
      'a/paper.yaml:12 default_kind: "essay": must be "news" or "blog"',
      'a/paper.yaml:8 paper_public: "yes": must be true or false',
      'a/paper.yaml:9 source_floor: 1: must be at least 2',
      'a/paper.yaml:10 url: "quay.example": must be an address such as https://example.org/',
      'a/paper.yaml:11 contact: "nobody": must be a mail address, or an https address where readers can write to you',
      'a/paper.yaml:13 alerts.time_zone: "Mars": must be a name of the IANA time zone database, such as Europe/Berlin',
      'a/paper.yaml:13 alerts.huor: there is no field of this name; did you mean hour?',
      'a/paper.yaml:2 nameplat: there is no field of this name; did you mean nameplate?',
      'a/paper.yaml:3 sectoins: there is no field of this name; did you mean sections?',
      'a/paper.yaml:14 zzz: there is no field of this name; take it out, or use one of …',
    ],
  ],
  [
    'b/paper.yaml',
    'nameplate: One\nsections: [News]\nhue: red\nnameplate: Two\n',
    [
      'b/paper.yaml:4 yaml: this field appears twice; keep one of the two',
      'b/paper.yaml:3 hue: "red": must be a number',
    ],
  ],
  [
    'c/paper.yaml',
    'nameplate: One\nalerts:\n\thour: 7\nsections: [News]\n',
    ['c/paper.yaml:3 yaml: a tab indents this line; YAML takes spaces alone, so put spaces there'],
  ],
  [
    'd/paper.yaml',
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(PAPER, 'utf16le')]),
    ['d/paper.yaml:1 file: the file is in UTF-16; save it in UTF-8'],
  ],
  [
    'e/paper.yaml',
    Buffer.from('nameplate: Caf\xe9\nsections: [News]\n', 'latin1'),
    ['e/paper.yaml:1 file: the file is not in UTF-8; save it in UTF-8'],
  ],
  ['f/paper.yaml', '', ['f/paper.yaml:1 yaml: there are no fields; write them as name: value']],
  [
    'g/paper.yaml',
    'nameplate: News: the paper\nsections: [News]\n',
    [
      'g/paper.yaml:1 yaml: Nested mappings are not allowed in compact mappings; correct the YAML (quote a text that holds a colon or a quote)',
    ],
  ],
  [
    'h/paper.yaml',
    'nameplate: X\nsections: News\n',
    ['h/paper.yaml:2 sections: "News": must be a list of texts, as in [News, Weather]'],
  ],
  // A byte order mark of UTF-8 is no fault, and the files beside are filed.
  ['i/paper.yaml', `\uFEFF${PAPER}`, []],
  ['i/masthead/ada-holm.yaml', PERSONA, []],
  [
    'i/masthead/bo-ray.yaml',
    'nam: Bo Ray\ntitel: Editor\nactive: 1\n',
    [
      'i/masthead/bo-ray.yaml:1 name: this field is missing; add it',
      'i/masthead/bo-ray.yaml:1 title: this field is missing; add it',
      'i/masthead/bo-ray.yaml:3 active: 1: must be true or false',
      'i/masthead/bo-ray.yaml:1 nam: there is no field of this name; did you mean name?',
      'i/masthead/bo-ray.yaml:2 titel: there is no field of this name; did you mean title?',
    ],
  ],
  [
    'i/stories/many.md',
    `---
headline: Many faults
headlin: twice
dek: 7
category: Weather
byline: nobody
language: xx_YY
cited_facts:
  - statement: One.
    instrument: A book
  - statement: Two.
    source: B
    instrument: javascript:x
---

One.[^1] Two <b>.

Three.[^9]
`,
    [
      'i/stories/many.md:4 dek: 7: must be a text; put it in quotes',
      'i/stories/many.md:9 cited_facts[0].source: this field is missing; add it',
      'i/stories/many.md:3 headlin: there is no field of this name; did you mean headline?',
      'i/stories/many.md:5 category: "Weather" is not a section of this paper; use one of …',
      'i/stories/many.md:6 byline: "nobody" is not an active persona of this desk; use one of …',
      'i/stories/many.md:7 language: "xx_YY" is not a language tag; write it as in BCP 47, such as en, pt-BR or ja',
      'i/stories/many.md:16 prose: raw HTML "<b>" is not allowed; write Markdown, or put it in backticks to show it',
      'i/stories/many.md:13 cited_facts[1].instrument: "javascript:x" is not the address of a document; give an http or https address, or the document\'s name',
      'i/stories/many.md:18 prose: [^9] points at no entry: cited_facts has 2; add the entry or correct the number',
      'i/stories/many.md:11 cited_facts[1]: no [^2] in the prose points at this entry; add the marker or take the entry out',
    ],
  ],
  [
    'i/stories/twice.md',
    '---\nheadline: A\nheadline: B\ndek: ""\ncategory: Weather\nbyline: ada-holm\nslug: other\nair: false\n---\n\nOne.[^1]\n',
    [
      'i/stories/twice.md:3 yaml: this field appears twice; keep one of the two',
      `i/stories/twice.md:7 slug: the slug is the file's name, "twice", not "other"; rename the file or take the field out`,
      'i/stories/twice.md:2 cited_facts: this field is missing; add it',
      'i/stories/twice.md:5 category: "Weather" is not a section of this paper; use one of …',
    ],
  ],
  [
    'i/pages/about.md',
    '---\ntitel: About\nprose: here\nnav: top\n---\n\nA <b>.\n',
    [
      'i/pages/about.md:3 prose: the prose is the text below the front matter; move it there',
      'i/pages/about.md:2 title: this field is missing; add it',
      'i/pages/about.md:4 nav: "top": must be one of "footer", "sections", "none"',
      'i/pages/about.md:2 titel: there is no field of this name; did you mean title?',
      'i/pages/about.md:7 prose: raw HTML "<b>" is not allowed; write Markdown, or put it in backticks to show it',
    ],
  ],
  [
    'i/cast/2026-11-20.yaml',
    'tittle: A day\nvideo: 7\nposter: media/a.jpg\n',
    [
      'i/cast/2026-11-20.yaml:1 title: this field is missing; add it',
      'i/cast/2026-11-20.yaml:2 video: 7: must be a text; put it in quotes',
      'i/cast/2026-11-20.yaml:1 tittle: there is no field of this name; did you mean title?',
    ],
  ],
];

test('every fault of a record is reported together, with its line and its cure, and nothing is filed', async (t) => {
  const folder = tempFolder(t);
  for (const [path, bytes] of CASES) {
    const file = join(folder, 'content', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const { filed, problems } = await fileContent(intakeOf(app));
  assert.deepEqual(filed, ['i/paper.yaml', 'i/masthead/ada-holm.yaml']);
  for (const [path, , expected] of CASES) {
    const told = problems.filter(({ file }) => file === path).map(problemLine);
    const shown = told.map((line) => line.replace(/(use one of ).*/, '$1…'));
    assert.deepEqual(shown, expected);
  }
  assert.deepEqual(app.store.desk.paperSlugs(), ['i']);
});
