import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileFolder } from '../../src/desk/ingest/content-folder.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

const STORY = `---
headline: A headline
dek: A dek.
category: Port
byline: ines
cited_facts:
  - { statement: One thing., source: NIST, instrument: FIPS 180-4 }
  - { statement: Another., source: IETF, instrument: RFC 2119 }
---
One[^1] and two.[^2]
`;

test('a section with pieces on air cannot be dropped from paper.yaml, and the paper stays as it was', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const paper = join(folder, 'content', 'harbor');
  for (const name of ['masthead', 'stories']) mkdirSync(join(paper, name), { recursive: true });
  const sections = (names: string) =>
    writeFileSync(join(paper, 'paper.yaml'), `nameplate: Harbor\nsections: [${names}]\n`);
  sections('City, Port');
  writeFileSync(join(paper, 'masthead', 'ines.yaml'), 'name: Ines\ntitle: Editor\n');
  writeFileSync(join(paper, 'stories', 'a-story.md'), STORY);
  assert.deepEqual((await fileFolder(intakeOf(app), paper)).problems, []);
  sections('City');
  const { problems } = await fileFolder(intakeOf(app), paper);
  assert.equal(problems.length, 1);
  assert.match(problems[0]?.message ?? '', /^"Port" still has pieces on air \(1\); keep it/);
  assert.equal(problems[0]?.line, 2);
  assert.deepEqual(app.store.desk.paper('harbor')?.sections, ['City', 'Port']);
  sections('Port, City');
  assert.deepEqual((await fileFolder(intakeOf(app), paper)).problems, []);
});
