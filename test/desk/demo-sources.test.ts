import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pino } from 'pino';
import { evidenceRow } from '../../src/desk/evidence.ts';
import { checkSources, readSources, sourceTools } from '../../src/desk/jobs/evidence-job.ts';
import type { AppContext } from '../../src/server/context.ts';
import { demoPaper, PAPER } from '../support/demo-sources.ts';

const evidence = ({ store }: AppContext, slug: string) =>
  (store.desk.archive(PAPER).storyBySlug(slug)?.evidence ?? []).map((one) => {
    const { status, distance } = evidenceRow(one, true, 'http://localhost');
    return [one.n, status, distance];
  });

test('the demo reads its own documents, on loopback, and finds the same each time', async (t) => {
  const app = await demoPaper(t);
  app.settings = { ...app.settings, demoSources: true };
  const found = () => [evidence(app, 'desk-note-two-publishers'), evidence(app, 'desk-note-corrections')];
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
  const app = await demoPaper(t);
  const asked: string[] = [];
  const tools = sourceTools(app);
  t.after(() => tools.close());
  const read: typeof tools.read = async (instrument) => {
    asked.push(instrument);
    return tools.read(instrument);
  };
  while ((await readSources(app, { ...tools, read }, pino({ level: 'silent' }))) > 0);
  assert.deepEqual([asked, evidence(app, 'desk-note-two-publishers')], [[], []]);
});
