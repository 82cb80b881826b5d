import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { generationAudit } from '../../src/desk/generation-audit.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { signingPeriodFaults } from '../../src/proof/key-text.ts';
import { parseObservation } from '../../src/proof/records/receipt.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { HOUR, probe } from '../support/probes.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const DAY = 24 * HOUR;
const BY = { by: 'cli' };

function stand(t: TestContext) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  return { folder, clock, app };
}

const rotate = ({ store, settings, clock: { now } }: AppContext) =>
  rotateSigningKey(store, signingKeyFile(settings), signingName(settings), now());

/** When each receipt of the paper says that it was filed, by `seq`. */
const filedAt = ({ store }: AppContext) =>
  [...store.desk.entries()].flatMap((entry) => (entry.type === 'generation' ? [entry.at] : []));

async function observe(app: AppContext, name: string) {
  const { records } = app.store;
  records.watch([parseHostname(name)], app.clock.now());
  const queue = localQueue(app, 'test');
  const lease = queue.leaseNames([name])?.lease ?? '';
  const [entered] = await queue.submit(lease, [probe(name, app.clock.now(), { A: ['192.0.2.1'] })]);
  assert.equal(entered?.outcome, 'recorded');
}

test('a clock that was set back never dates a filing before the previous one', async (t) => {
  const { app, clock } = stand(t);
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  airStory(deskOf(app), PAPER, 'tide', BY);
  clock.now = NOON - DAY;
  fileStory(deskOf(app), PAPER, filing('ebb'), BY);
  fileStory(deskOf(app), PAPER, filing('flood'), BY);
  clock.now = NOON + 1;
  fileStory(deskOf(app), PAPER, filing('wrack'), BY);
  assert.deepEqual(filedAt(app), [NOON, NOON, NOON, NOON + 1]);

  clock.now = NOON - DAY;
  const { story } = airStory(deskOf(app), PAPER, 'wrack', BY);
  assert.deepEqual([story.state, story.published_at], ['on_air', NOON + 1], 'on air no earlier than it was filed');
  const gone = withdrawStory(deskOf(app), PAPER, 'wrack', { ...BY, reason: 'It was wrong.' });
  assert.equal(gone.withdrawn_at, NOON + 1, 'and withdrawn no earlier than that');
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !/press/.test(fault)),
    [],
  );
});

test('a piece scheduled under a clock that was set back airs at its time, not at the next filing', (t) => {
  const { app, clock } = stand(t);
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  fileStory(deskOf(app), PAPER, filing('embargoed'), BY);
  clock.now = NOON - 2 * HOUR;
  airStory(deskOf(app), PAPER, 'embargoed', { ...BY, at: NOON - HOUR });
  fileStory(deskOf(app), PAPER, filing('flood'), BY);
  rotate(app);
  const state = () => app.store.desk.archive(PAPER).storyBySlug('embargoed')?.state;
  assert.equal(state(), 'scheduled');
  clock.now = NOON - HOUR;
  fileStory(deskOf(app), PAPER, filing('wrack'), BY);
  assert.equal(state(), 'on_air');
});

test('no receipt is of a time before its key was in use, or after it was retired', async (t) => {
  const { app, clock } = stand(t);
  await observe(app, 'harbor.example');
  fileStory(deskOf(app), PAPER, filing('tide'), BY);
  clock.now = NOON - DAY;
  rotate(app);
  await observe(app, 'harbor.example');
  await observe(app, 'quay.example');
  fileStory(deskOf(app), PAPER, filing('ebb'), BY);
  const keys = app.store.desk.verifyingKeys('records');
  assert.equal(keys.length, 2);
  const { records } = app.store;
  for (const { id } of records.everyHost()) {
    for (const { receipt } of records.observationsOf(id)) {
      const said = parseObservation(receipt.slice(0, receipt.lastIndexOf('\n\n') + 1));
      const key = keys.find(({ kid }) => kid === said?.kid);
      assert.ok(said !== null && key !== undefined);
      assert.deepEqual(signingPeriodFaults('observed', said.observed_at, key), []);
    }
  }
  for (const entry of app.store.desk.entries()) {
    if (entry.type !== 'generation') continue;
    const key = keys.find(({ kid }) => kid === entry.kid);
    assert.ok(key !== undefined && entry.at >= key.nbf && entry.at < (key.retired_at ?? Number.POSITIVE_INFINITY));
  }
});

test('the auditor finds a receipt of an earlier time than the one before it', (t) => {
  const { app, clock } = stand(t);
  // As a program did that knew no better.
  const careless = {
    ...deskOf(app),
    signingKey: deskOf(app).signingKey,
    store: { ...app.store.desk, lastFiledAt: () => 0 },
  };
  fileStory(careless, PAPER, filing('tide'), BY);
  clock.now = NOON - HOUR;
  fileStory({ ...careless, signingKey: { ...careless.signingKey, nbf: 0 } }, PAPER, filing('ebb'), BY);
  const audit = generationAudit(app.store.desk.verifyingKeys('desk'));
  const faults = [...app.store.desk.entries()].flatMap(audit.next);
  assert.deepEqual(faults, [
    'harbor-ledger/ebb: revision 1: filed at 2026-11-20T11:00:00.000Z, but its key was in use only from 2026-11-20T12:00:00.000Z',
    'harbor-ledger/ebb: seq 2: filed at 2026-11-20T11:00:00.000Z, before seq 1 at 2026-11-20T12:00:00.000Z',
  ]);
  const retired = generationAudit(
    app.store.desk.verifyingKeys('desk').map((key) => ({ ...key, retired_at: NOON - 30 * DAY })),
  );
  const late = [...app.store.desk.entries()].flatMap(retired.next);
  assert.match(late[0] ?? '', /^harbor-ledger\/tide: revision 1: filed at \S+, but its key was retired at 2026-10-21T/);
  // Such a ledger travels all the same.
  const lenient = generationAudit(app.store.desk.verifyingKeys('desk'), { clock: false });
  assert.deepEqual([...app.store.desk.entries()].flatMap(lenient.next), []);
});
