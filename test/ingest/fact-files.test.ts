import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { problemLine } from '../../src/desk/ingest/source-file.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

const DOCUMENT = 'https://port.example/2025';
const story = (facts: string) =>
  `---\nheadline: A headline\ndek: A dek.\ncategory: News\nbyline: ada\nair: 2026-11-18T06:00:00Z\ncited_facts:\n${facts}  - { statement: So it is., source: NIST, instrument: A book }\n---\n\nOne.[^1] Two.[^2]\n`;
const whole = (tonnes: number) =>
  `  - { statement: "It moved ${tonnes}.", source: Port, instrument: "${DOCUMENT}", claim_key: tonnage }\n`;

test('files of facts correct them, in order and once, and pieces that cite what they say are filed', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.UTC(2026, 10, 20) });
  const write = (path: string, text: string) => {
    const file = join(folder, 'content/a', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const file = async (paths: string[] = []) => {
    const { problems, ...rest } = await fileContent(intakeOf(app), paths);
    return { ...rest, problems: problems.map(problemLine) };
  };
  write('paper.yaml', 'nameplate: The Quay\nsections: [News]\n');
  write('masthead/ada.yaml', 'name: Ada Holm\ntitle: Editor\n');
  write('stories/first.md', story(whole(41)));
  write('facts/tonnage.3.yaml', 'statement: It moved 43.\nnote: Now it is right.\n');
  write('facts/tonnage.2.yaml', `statement: It moved 42.\nquote: "42"\nnote: It was not 41.\n`);
  // Filed first, by its name: it gives the key alone, and so says what the record says in the end.
  write('stories/a-later-one.md', story('  - { claim_key: tonnage }\n'));
  const first = await file();
  assert.deepEqual(first.problems, []);
  assert.deepEqual(first.filed.toSorted(), [
    'a/facts/tonnage.2.yaml',
    'a/facts/tonnage.3.yaml',
    'a/masthead/ada.yaml',
    'a/paper.yaml',
    'a/stories/a-later-one.md',
    'a/stories/first.md',
  ]);
  const { facts: _facts, ...archive } = app.store.desk.archive('a');
  assert.deepEqual(
    archive.factVersions('tonnage').map(({ statement, quote, status }) => [statement, quote, status]),
    [
      ['It moved 41.', null, 'standing'],
      ['It moved 42.', '42', 'corrected'],
      ['It moved 43.', '42', 'corrected'],
    ],
  );
  const again = await file();
  assert.deepEqual([again.filed, again.problems, again.unchanged], [[], [], 2]);

  write('facts/tonnage.2.yaml', 'statement: It moved 40.\nnote: It was not 41.\n');
  write('facts/tonnage.5.yaml', 'note: Too early.\n');
  write('facts/Tonnage.2.yaml', 'note: A name.\n');
  write('facts/tonnage.yaml', 'note: The first.\n');
  write('facts/other.2.yaml', 'statement: It is so.\nnote: Nobody cites it.\n');
  write('facts/tonnage.4.yaml', 'statment: It moved 44.\n');
  const { problems } = await file();
  assert.deepEqual(
    problems.map((line) => line.slice(0, 100)).toSorted(),
    [
      'a/facts/Tonnage.2.yaml:1 file: name the file after the fact’s claim key and the version that it make',
      'a/facts/other.2.yaml:1 file: no piece cites this fact yet, so there is no version 1 to correct; file',
      'a/facts/tonnage.2.yaml:1 statement: version 2 of tonnage is signed and says otherwise; undo the chan',
      'a/facts/tonnage.4.yaml:1 note: this field is missing; add it',
      'a/facts/tonnage.4.yaml:1 statment: there is no field of this name; did you mean statement?',
      'a/facts/tonnage.5.yaml:1 file: version 3 is the newest so far, so there is no version 4 to correct; ',
      'a/facts/tonnage.yaml:1 file: name the file after the fact’s claim key and the version that it makes,',
    ].toSorted(),
  );
  write('facts/tonnage.4.yaml', 'status: retracted\nnote: Nobody weighed it.\n');
  const alone = await file([join(folder, 'content/a/facts/tonnage.4.yaml')]);
  assert.ok(alone.filed.includes('a/facts/tonnage.4.yaml'), JSON.stringify(alone));
  assert.equal(app.store.desk.archive('a').fact('tonnage')?.status, 'retracted');
  const faults = (await auditApp(app)).faults.filter((fault) => !/press/.test(fault));
  assert.deepEqual(faults, []);
});
