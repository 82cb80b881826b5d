import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { listenDesk } from '../../api/server.ts';
import { recordActivity } from '../../src/desk/activity.ts';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { addWebhook } from '../../src/desk/readers/webhook.ts';
import { queueTest } from '../../src/desk/readers/webhook-queue.ts';
import { correctFact } from '../../src/desk/recording-facts.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { confirmedReader } from '../support/readers.ts';
import { statementsOf } from '../support/statements.ts';

/** Rows of each kind, one time after another: fewer than a page lists. */
const ROWS = [3, 20, 40] as const;
/** The most statements that a page may run, and the front, which draws the paper's own front. */
const MOST = 40;
const FRONT_MOST = 110;

/** A piece that cites a fact which all do, and one of its own. */
const withKeys = (piece: ReturnType<typeof filing>, n: number) => ({
  ...piece,
  cited_facts: piece.cited_facts.map((fact, index) => ({
    ...fact,
    // Corrected once the first ones are filed; later ones give the key alone.
    ...(index === 0 && n >= ROWS[0] ? { statement: '', source: '', instrument: '' } : {}),
    claim_key: index === 0 ? 'of-all' : `of-${n}`,
  })),
});

/** Adds so many of everything that a console lists. */
function seed(app: AppContext, from: number, count: number): void {
  const { store, clock } = app;
  const desk = deskOf(app);
  const fresh = { now: clock.now(), newId, allowsPrivate: false };
  for (let n = from; n < from + count; n++) {
    const { made } = makePaperKey(app, PAPER, { level: 'agent', name: `Agent ${n}` });
    const by = `key:${made.id}`;
    for (const kind of ['draft', 'scheduled', 'aired', 'withdrawn']) {
      const piece = withKeys(filing(`${kind}-${n}`), n);
      const { story } = fileStory(desk, PAPER, piece, { by });
      if (kind === 'scheduled') airStory(desk, PAPER, piece.slug, { by, at: clock.now() + (n + 1) * 60_000 });
      if (kind === 'aired' || kind === 'withdrawn') airStory(desk, PAPER, piece.slug, { by });
      if (kind === 'aired')
        fileStory(desk, PAPER, { ...piece, dek: 'Another dek.', correction: 'The dek was another.' }, { by });
      if (kind === 'withdrawn') withdrawStory(desk, PAPER, piece.slug, { by, reason: 'It was not so.' });
      store.database.transact(() =>
        recordActivity(
          store.desk,
          { paper: PAPER, now: clock.now(), newId },
          { who: made.id, way: 'api', network: null },
          [{ action: 'piece.filed', subject: { kind: 'piece', id: story.id } }],
        ),
      );
    }
    confirmedReader(app, `reader-${n}@example.org`);
    const hook = addWebhook(
      { webhooks: store.desk.webhooks, transact: store.database.transact },
      PAPER,
      { url: `https://hooks.example.org/${n}` },
      SECTIONS,
      fresh,
    );
    queueTest(store.desk, PAPER, hook, fresh);
  }
}

test('no page of the console asks the database once a row', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.now() });
  createPaper(app);
  seed(app, 0, ROWS[0]);
  const correction = { version: 1, statement: 'It is otherwise.', note: 'It was wrong.', by: 'cli' };
  correctFact(deskOf(app), PAPER, 'of-all', correction);
  const served = await listenDesk({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) });
  t.after(() => served.close());
  const seat = seatAt(served.url, folder, PAPER, 'admin');
  const aired = app.store.desk.archive(PAPER).storyBySlug('aired-0')?.id ?? '';
  const pages = [
    '',
    'pieces',
    'pieces?state=draft',
    'pieces?q=means',
    'facts',
    'facts/of-all',
    `pieces/${aired}`,
    `pieces/${aired}/changes`,
    `pieces/${aired}/edit`,
    'write',
    'front',
    'settings',
    'agents',
    'readers',
    'readers/reader-0@example.org',
    'webhooks',
    'activity',
    'sessions',
  ];
  const few = await countsOf(seat, pages);
  seed(app, ROWS[0], ROWS[1] - ROWS[0]);
  const more = await countsOf(seat, pages);
  // The front asks for each piece that it shows, and shows only so many: it is measured once it is full.
  const { front: _few, ...fewElsewhere } = few;
  const { front: full, ...moreElsewhere } = more;
  assert.deepEqual(moreElsewhere, fewElsewhere, 'statements of each page beside few rows and beside more');
  seed(app, ROWS[1], ROWS[2] - ROWS[1]);
  assert.deepEqual(await countsOf(seat, ['front']), { front: full });
  for (const [path, count] of Object.entries(more))
    assert.ok(count <= (path === 'front' ? FRONT_MOST : MOST), `${path}: ${count}`);
});

/** How many statements each page runs, once what it keeps is warm. */
async function countsOf(seat: Seat, pages: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const path of pages) {
    const read = async () => {
      const { status, html } = await seat.get(path);
      assert.equal(status, 200, `${path}: ${html.slice(0, 400)}`);
    };
    await read();
    const ran = await statementsOf(read);
    counts[path] = ran.length;
  }
  return counts;
}
