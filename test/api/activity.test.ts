import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ACTING } from '../../api/middleware/acting.ts';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { paperWebhooks } from '../../src/desk/jobs/paper-webhooks.ts';
import { pausePaperKey, revokePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { DAY, HOUR } from '../../src/proof/time.ts';
import { intakeOf } from '../../src/server/context.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { deskInProcess as desk, type ActivityRow as Row } from '../support/desk-in-process.ts';
import { storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const acts = (rows: Row[]) => rows.map(({ action }) => action).reverse();

test('a change is recorded with who made it, to what, by which way and from where', async (t) => {
  const { app, api, log, of } = await desk(t);
  const before = await log();
  assert.ok(
    before.length > 0 && before.every(({ who, from }) => ['folder', 'cli'].includes(who.id) && from.network === null),
  );
  assert.ok(before.some(({ action, who }) => action === 'key.made' && who.id === 'cli'));
  assert.ok(before.some(({ action, subject }) => action === 'piece.aired' && subject?.slug === 'high-water'));

  await api('config', { method: 'PUT', body: { motto: 'Thrice a day' } });
  const { json: filed } = await api('stories', {
    body: { ...storyBody('neap-tide'), air: true, placement: { pin: 2 } },
  });
  const id: string = filed.story.id;
  const revised = await api(`stories/${id}`, {
    method: 'PUT',
    body: { ...storyBody('neap-tide'), headline: 'Neap tides, again', revision: 1, correction: 'The hour was wrong.' },
    // As the console sends it, for the key of a seat.
    env: { [ACTING]: { way: 'console' } },
  });
  assert.equal(revised.status, 200, revised.text);
  const rows = (await log()).slice(0, -before.length);
  assert.deepEqual(acts(rows), ['config.changed', 'piece.filed', 'piece.aired', 'front.placed', 'piece.revised']);
  const [last] = rows;
  const own = app.store.desk.keys.list('tides').find(({ level }) => level === 'admin');
  assert.deepEqual(last, {
    id: last?.id,
    at: new Date(app.clock.now()).toISOString(),
    who: { id: own?.id, name: own?.name, level: 'admin', seat: null },
    action: 'piece.revised',
    outcome: 'done',
    subject: { kind: 'piece', id, slug: 'neap-tide', title: 'Neap tides, again', state: 'on_air' },
    from: { way: 'console', network: '198.51.100.0/24' },
    detail: { revision: 2, correction: true },
  });
  assert.deepEqual(rows.at(-1)?.detail, { changed: ['motto'] });
  assert.equal(rows.at(-1)?.from.way, 'api');

  // What changes nothing leaves no row, and a repeat under an Idempotency-Key none of its own.
  const count = (await log()).length;
  await api('config', { method: 'PUT', body: { motto: 'Thrice a day' } });
  await api(`stories/${id}/airing`, { body: {} });
  const headers = { 'idempotency-key': 'one' };
  await api('keys', { body: { level: 'read', name: 'An archive' }, headers });
  await api('keys', { body: { level: 'read', name: 'An archive' }, headers });
  assert.equal((await log()).length, count + 1);

  // Filters and pages.
  assert.deepEqual(acts(await log(`subject=${id}`)), ['piece.filed', 'piece.aired', 'piece.revised']);
  assert.deepEqual(acts(await log('action=front.placed')), ['front.placed']);
  assert.ok((await log('who=folder')).every(({ who }) => who.id === 'folder'));
  assert.deepEqual(await log(`since=${new Date(app.clock.now() + 1).toISOString()}`), []);
  const all = await log();
  const paged: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await api(`activity?limit=3${cursor && `&cursor=${cursor}`}`, { method: 'GET' });
    paged.push(...json.activity);
    cursor = json.next_cursor;
  }
  assert.deepEqual(paged, all);

  // Another paper's log is not shown, and lower levels see none.
  assert.equal((await api('activity', { method: 'GET', key: of('tides').agent })).json.error, 'level_too_low');
  assert.equal((await api('activity', { method: 'GET', key: of('quiet').admin })).json.error, 'wrong_paper');
  assert.equal((await api('activity?action=all', { method: 'GET' })).json.field, 'action');
  const key = app.store.desk.keys.list('tides').find(({ name }) => name === 'An archive');
  revokePaperKey(app, 'tides', key?.id ?? '');
  const [gone] = await log();
  assert.deepEqual([gone?.action, gone?.who.id, gone?.subject?.title], ['key.revoked', 'cli', 'An archive']);
});

test('an erased reader leaves no address in the log', async (t) => {
  const { folder, api, log } = await desk(t);
  const email = 'ana.reader@example.org';
  await api('subscribers', { body: { emails: [email] } });
  await api(`subscribers/${email}`, { method: 'DELETE' });
  const rows = (await log()).slice(0, 2);
  assert.deepEqual(acts(rows), ['subscribers.invited', 'subscriber.erased']);
  assert.deepEqual(rows[1]?.detail, { invited: 1, webhook: false });
  const db = new DatabaseSync(databaseFile({ dataDir: join(folder, 'var') }));
  const stored = JSON.stringify(db.prepare('SELECT * FROM activity').all());
  db.close();
  assert.doesNotMatch(stored, /ana\.reader/);
});

test('what the door refuses to an agent is listed, up to a number in an hour, and then counted', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { clock, app, api, log, of } = await desk(t);
  const { json: terms } = await api('agent/terms', { method: 'GET' });
  await api('agent/terms/accept', { body: { version: terms.version, signed_by: 'Mara Vell' } });
  const key = of('tides').agent;
  const id = app.store.desk.keys.list('tides').find(({ level }) => level === 'agent')?.id ?? '';
  const bad = { ...storyBody('ebb'), headline: 'A bad ebb', category: 'Nowhere', prose: 'No source.' };
  const refused = await api('stories', { key, body: bad });
  assert.equal(refused.status, 422, refused.text);
  const [row] = await log();
  assert.deepEqual(
    { ...row, id: 0, at: 0 },
    {
      ...{ id: 0, at: 0, action: 'piece.filed', outcome: 'refused' },
      who: { id, name: 'A key to agent', level: 'agent', seat: null },
      subject: { kind: 'piece', id: null, slug: 'ebb', title: 'A bad ebb', state: null },
      from: { way: 'api', network: '198.51.100.0/24' },
      detail: {
        problems: refused.json.problems.map(({ field, rule }: { field: string; rule: string }) => ({ field, rule })),
        problems_total: refused.json.problems.length,
      },
    },
  );
  // Texts that cannot be stored, and far too many problems.
  const hostile = {
    headline: `\u0000${'x'.repeat(5_000)}`,
    [`${'y'.repeat(9_000)}\u0000`]: 1,
    cited_facts: Array(99).fill({}),
  };
  assert.equal((await api('stories', { key, body: { ...bad, ...hostile } })).status, 400);
  const [odd] = await log();
  assert.equal(odd?.subject?.title?.length, 300);
  assert.ok(JSON.stringify(odd).length < 6_000);
  // An admin's own slips are not noted.
  await api('stories', { body: bad });
  assert.equal((await log('outcome=refused')).length, 2);
  for (let n = 0; n < 70; n++) await api('stories', { key, body: { headline: 'x' } });
  const listed = await log('outcome=refused');
  assert.equal(listed.length, 60);
  assert.equal(listed[0]?.detail.more_are_counted, true);
  assert.deepEqual(app.store.desk.activity.workOf(id), { filed: 0, refused: 72, last_at: clock.now });
  clock.now += HOUR;
  await api('stories', { key, body: { headline: 'x' } });
  assert.equal((await log('outcome=refused')).length, 61);
  // It files one, and is counted for it.
  const done = await api('stories', { key, body: storyBody('ebb') });
  assert.equal(done.status, 201, done.text);
  const work = app.store.desk.activity.workOf(id);
  assert.deepEqual([work?.filed, app.store.desk.activity.onAir(id)], [1, 0]);

  // A headline that is withheld is gone from the refusals too.
  const piece = done.json.story.id;
  const again = { ...storyBody('ebb'), headline: 'A bad ebb', air: true, revision: 1 };
  assert.equal((await api(`stories/${piece}`, { method: 'PUT', body: again })).status, 200);
  assert.ok((await log()).some(({ subject }) => subject?.title === 'A bad ebb'));
  const body = { reason: 'It named somebody.', withhold_headline: true };
  assert.equal((await api(`stories/${piece}/airing`, { method: 'DELETE', body })).status, 200);
  assert.doesNotMatch(JSON.stringify(await log()), /bad ebb|"ebb"/);
});

test('a key’s row tells what it did, and while it is paused it only reads', async (t) => {
  const { clock, app, api, log, of } = await desk(t);
  const { json: terms } = await api('agent/terms', { method: 'GET' });
  await api('agent/terms/accept', { body: { version: terms.version, signed_by: 'Mara Vell' } });
  const key = of('tides').agent;
  const id = app.store.desk.keys.list('tides').find(({ level }) => level === 'agent')?.id ?? '';
  const row = async () => {
    const { json } = await api('keys', { method: 'GET' });
    return json.keys.find((one: { id: string }) => one.id === id);
  };
  const filed = await api('stories', { key, body: { ...storyBody('spring-tide'), air: true } });
  assert.equal(filed.status, 201, filed.text);
  const first = new Date(clock.now).toISOString();
  await api('stories', { key, body: { headline: 'x' } });
  clock.now += 2 * HOUR;
  const revision = { ...storyBody('spring-tide'), headline: 'Spring tides', revision: 1 };
  assert.equal((await api(`stories/${filed.json.story.id}`, { method: 'PUT', key, body: revision })).status, 200);
  const rate = { hour: { filed: 1, refused: 0 }, day: { filed: 2, refused: 1 } };
  const { work, rate: listed } = await row();
  assert.deepEqual(work, { filed: 2, refused: 1, last_at: new Date(clock.now).toISOString() });
  assert.deepEqual(listed, rate);
  const { json: whole } = await api(`keys/${id}`, { method: 'GET' });
  assert.deepEqual([whole.rate, whole.on_air], [rate, 1]);
  assert.equal((await log(`who=${id}`)).at(-1)?.at, first);

  assert.equal(pausePaperKey(app, 'tides', id, true), true);
  assert.equal(pausePaperKey(app, 'tides', id, true), false);
  assert.deepEqual([(await row()).state, (await row()).paused_by], ['paused', 'cli']);
  const refused = await api('stories', { key, body: { headline: 'x' } });
  assert.deepEqual([refused.status, refused.json.error], [403, 'key_paused']);
  // An upload is refused before it is read, and so is what acts in process for the key.
  const acting = { [ACTING]: { way: 'mcp', key: app.store.desk.keys.byId(id) } };
  assert.equal(
    (await api('cast/2026-11-20', { method: 'PUT', key: '', body: {}, env: acting })).json.error,
    'key_paused',
  );
  assert.equal((await api('drafts', { method: 'GET', key })).status, 200);
  assert.equal((await row()).work.refused, 1);
  assert.equal((await api(`keys/${id}`, { method: 'PUT', body: { paused: false } })).status, 200);
  assert.equal((await api('stories', { key, body: storyBody('ebb') })).status, 201);
  assert.deepEqual(acts(await log(`subject=${id}`)), ['key.made', 'key.paused', 'key.resumed']);
});

test('nothing changes the log, and only old rows go', async (t) => {
  const { folder, clock, app, api, log } = await desk(t);
  await api('config', { method: 'PUT', body: { motto: 'Once' } });
  const db = new DatabaseSync(databaseFile({ dataDir: join(folder, 'var') }));
  t.after(() => db.close());
  for (const statement of [
    'DELETE FROM activity',
    "UPDATE activity SET who = 'cli'",
    "UPDATE activity SET title = 'Another'",
    "UPDATE activity SET detail = '{}', title = NULL",
  ]) {
    assert.throws(() => db.exec(statement), /activity is append-only/, statement);
  }
  const all = await log();
  clock.now += 399 * DAY;
  await api('config', { method: 'PUT', body: { motto: 'Twice' } });
  paperWebhooks(app).cleanUp(clock.now);
  assert.equal((await log()).length, all.length + 1);
  clock.now += 2 * DAY;
  paperWebhooks(app).cleanUp(clock.now);
  assert.deepEqual(acts(await log()), ['config.changed']);
  assert.throws(() => db.exec('DELETE FROM activity'), /activity is append-only/);
});

test('a folder that is filed again leaves no row', async (t) => {
  const { app, log } = await desk(t);
  const before = await log();
  assert.equal((await fileContent(intakeOf(app))).problems.length, 0);
  assert.deepEqual(await log(), before);
});

test('a change whose row cannot be written is not made', async (t) => {
  const { folder, app, api, log } = await desk(t);
  const db = new DatabaseSync(databaseFile({ dataDir: join(folder, 'var') }));
  t.after(() => db.close());
  const before = await log();
  db.exec("CREATE TRIGGER no_rows BEFORE INSERT ON activity BEGIN SELECT RAISE(ABORT, 'no rows'); END");
  assert.equal((await api('config', { method: 'PUT', body: { motto: 'Never' } })).status, 500);
  assert.throws(() => pausePaperKey(app, 'tides', before[0]?.subject?.id ?? '', true), /no rows/);
  db.exec('DROP TRIGGER no_rows');
  assert.notEqual((await api('config', { method: 'GET' })).json.motto, 'Never');
  assert.deepEqual(new Set(app.store.desk.keys.list('tides').map(({ paused_at }) => paused_at)), new Set([null]));
  assert.deepEqual(await log(), before);
});
