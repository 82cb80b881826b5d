import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { newPaper } from '../../src/desk/ingest/new-paper.ts';
import { KeyBody } from '../../src/desk/papers/keys.ts';
import { PersonaBody } from '../../src/desk/papers/masthead.ts';
import { PageBody } from '../../src/desk/papers/page.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { castFrom, pageFrom, paperFrom, personaFrom } from '../../src/desk/papers/record.ts';
import { deskOf } from '../../src/server/context.ts';
import type { Fault } from '../../src/shared/fault.ts';
import type { Problem } from '../../src/shared/shape.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const HIDDEN = '\u200b\u200b';
const OPEN = 'a\u202eb';

const fieldsOf = (work: () => unknown): string[] => {
  try {
    work();
  } catch (error) {
    const problems = (error as Fault).details.problems as Problem[];
    for (const { message } of problems)
      assert.match(message, /U\+200B ZERO WIDTH SPACE|U\+202E RIGHT-TO-LEFT OVERRIDE/);
    return problems.map(({ field }) => field);
  }
  return [];
};

test('records whose lines show nothing, or leave a direction open, are refused', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: NOW });
  createPaper(app);
  const archive = app.store.desk.archive(PAPER);
  const paper = PaperBody.parse({ nameplate: HIDDEN, motto: OPEN, description: HIDDEN, sections: [OPEN, 'City'] });
  assert.deepEqual(
    fieldsOf(() => paperFrom(null, paper)),
    ['nameplate', 'motto', 'description', 'sections[0]'],
  );
  const persona = PersonaBody.parse({ name: HIDDEN, title: OPEN, beat: OPEN });
  assert.deepEqual(
    fieldsOf(() => personaFrom(archive, 'x', persona)),
    ['name', 'title', 'beat'],
  );
  const page = PageBody.parse({ title: OPEN, description: HIDDEN, prose: 'Text' });
  assert.deepEqual(
    fieldsOf(() => pageFrom(archive, 'about', page)),
    ['title', 'description'],
  );
  const cast = { title: HIDDEN, description: '', video: 'v', poster: 'p', captions: null };
  assert.deepEqual(
    fieldsOf(() => castFrom(archive, '2026-11-20', cast)),
    ['title'],
  );
  const asked = {
    slug: 'new',
    name: OPEN,
    language: 'en',
    url: undefined,
    sections: [HIDDEN],
    persona: `${OPEN}, ${HIDDEN}`,
  };
  assert.deepEqual(
    newPaper(asked).problems.map(({ field }) => field),
    ['--name', '--section', '--persona', '--persona'],
  );
  assert.equal(KeyBody.safeParse({ level: 'read', name: HIDDEN }).success, false);
});

test('what an older version took is still read, revised elsewhere and aired', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: NOW });
  // Appended as a ledger's import does, without the rules of today.
  createPaper(app, { nameplate: HIDDEN });
  const { store } = app;
  const desk = deskOf(app);
  assert.equal(store.desk.archive(PAPER).paper().nameplate, HIDDEN);
  const persona = { slug: 'old', name: OPEN, title: 'Editor', beat: '', bio: '', avatar: null, active: true };
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: NOW, paper: PAPER, kind: 'persona', name: 'old', body: persona }),
  );
  const { story } = fileStory(desk, PAPER, filing('one', { persona: 'old' }), { by: 'cli', toAir: true });
  assert.equal(story.byline.name, OPEN);
  assert.deepEqual(
    fieldsOf(() => fileStory(desk, PAPER, filing('one', { headline: OPEN }), { by: 'cli', toAir: true })),
    ['headline'],
  );
});
