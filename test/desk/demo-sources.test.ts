import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { evidenceRow } from '../../src/desk/evidence.ts';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { checkSources, readSources, sourceTools } from '../../src/desk/jobs/evidence-job.ts';
import { DAY } from '../../src/proof/time.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { START } from '../support/pressed-paper.ts';

const PAPER = 'the-plumb-line';
const CONTENT = fileURLToPath(new URL(`../../content/${PAPER}`, import.meta.url));
/** What the test files of the demo paper. */
const NEEDED = /^(?:$|paper\.yaml|documents|masthead|media|stories$|stories\/desk-note-(?:two|corr)|facts$)/;

/** The demo paper with its two desk notes, filed. */
async function stand(t: Parameters<typeof tempFolder>[0]) {
  const folder = tempFolder(t);
  cpSync(CONTENT, join(folder, 'content', PAPER), {
    recursive: true,
    filter: (from) => NEEDED.test(from.slice(CONTENT.length + 1)),
  });
  const app = appContextIn(t, folder, { now: START + DAY });
  const { problems } = await fileContent(intakeOf(app));
  assert.deepEqual(problems, []);
  const evidence = (slug: string) =>
    (app.store.desk.archive(PAPER).storyBySlug(slug)?.evidence ?? []).map((one) => {
      const { status, distance } = evidenceRow(one, true, 'http://localhost');
      return [one.n, status, distance];
    });
  return { app, evidence };
}

test('the demo reads its own documents, on loopback, and finds the same each time', async (t) => {
  const { app, evidence } = await stand(t);
  app.settings = { ...app.settings, demoSources: true };
  const found = () => [evidence('desk-note-two-publishers'), evidence('desk-note-corrections')];
  for (const round of [1, 2]) {
    assert.equal(await checkSources(app, [PAPER]), 2, `round ${round}`);
    assert.deepEqual(found(), [
      [
        [5, 'found', null],
        [6, 'found', null],
      ],
      [[5, 'quote_not_found', 4]],
    ]);
  }
  const [first] = app.store.desk.archive(PAPER).storyBySlug('desk-note-two-publishers')?.evidence ?? [];
  assert.match(first?.note ?? '', /\ninstrument http:\/\/documents\.example\/sourcing-rules\.html\n/);
  assert.match(readFileSync(app.store.media.pathOf(first?.kept_text ?? ''), 'utf8'), /^The Plumb Line: rules/);
});

test('nothing else of the demo is read, and nothing at all with DEMO_SOURCES=off', async (t) => {
  const { app, evidence } = await stand(t);
  const asked: string[] = [];
  const tools = sourceTools(app);
  t.after(() => tools.close());
  const read: typeof tools.read = async (instrument) => {
    asked.push(instrument);
    return tools.read(instrument);
  };
  while ((await readSources(app, { ...tools, read }, pino({ level: 'silent' }))) > 0);
  assert.deepEqual([asked, evidence('desk-note-two-publishers')], [[], []]);
});
