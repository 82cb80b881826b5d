import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { confirm } from '../../src/desk/readers/link.ts';
import { readerCounts, subscribe } from '../../src/desk/readers/subscribe.ts';
import { DEFAULT_CHOICES } from '../../src/desk/readers/subscriber.ts';
import { DAY } from '../../src/proof/time.ts';
import { secretHash } from '../../src/shared/access-key.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { newId } from '../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import { deskInProcess } from '../support/desk-in-process.ts';

const PAPER = 'tides';

test('readers are found by a part of the address and by state, exported, and counted by day', async (t) => {
  const { clock, app, api, of } = await deskInProcess(t);
  const { readers } = app.store.desk;
  const join_ = (email: string, confirms = true) => {
    const address = readAddress(email) as Address;
    subscribe(app.store.desk, PAPER, address, DEFAULT_CHOICES, { now: clock.now, newId });
    if (!confirms) return;
    const reader = readerOf(PAPER, address);
    const hash = secretHash(email);
    readers.tokens.keep({ hash, paper: PAPER, reader, purpose: 'confirm', expires_at: clock.now + DAY, used_at: null });
    confirm(app.store.desk, PAPER, email, clock.now);
  };
  const list = async (query: string) => {
    const { json, text } = await api(`subscribers?${query}`, { method: 'GET' });
    assert.ok(Array.isArray(json.subscribers), text);
    return json.subscribers.map(({ email }: { email: string }) => email);
  };
  join_('Ana@one.example');
  join_('=bo@two.example');
  join_('cy@two.example', false);
  clock.now += DAY;
  join_('di_100%@two.example');
  await api('subscribers/Ana@one.example', { method: 'DELETE' });

  assert.deepEqual(await list('q=TWO.exam'), ['=bo@two.example', 'cy@two.example', 'di_100%@two.example']);
  assert.deepEqual(await list('q=_100%25'), ['di_100%@two.example']);
  assert.deepEqual(await list('q=ana'), []);
  assert.deepEqual(await list('state=pending'), ['cy@two.example']);
  assert.deepEqual(await list('q=two&state=confirmed&limit=1'), ['=bo@two.example']);
  const first = await api('subscribers?q=two&limit=2', { method: 'GET' });
  assert.deepEqual(await list(`q=two&limit=2&cursor=${first.json.next_cursor}`), ['di_100%@two.example']);
  assert.equal((await api('subscribers?state=gone', { method: 'GET' })).json.field, 'state');

  const { text, status } = await api('subscribers/export?state=confirmed', { method: 'GET' });
  assert.equal(status, 200);
  const [head, bo, di, ...rest] = text.split('\r\n');
  assert.equal(head, 'email,confirmed_at,cadence,sections,cast,last_sent_at');
  // A spreadsheet must not take an address for a formula.
  assert.match(String(bo), /^'=bo@two\.example,\S+Z,daily,Tides; Lights,true,$/);
  assert.match(String(di), /^di_100%@two\.example,/);
  assert.deepEqual(rest, ['']);
  const lower = { method: 'GET', key: of(PAPER).agent };
  assert.equal((await api('subscribers/export', lower)).json.error, 'level_too_low');

  const day = (back: number) => new Date(clock.now - back * DAY).toISOString().slice(0, 10);
  const { json } = await api('subscribers/counts?days=3', lower);
  assert.deepEqual(json, {
    total: 3,
    confirmed: 2,
    days: [
      { day: day(2), confirmed: 0, left: 0, total: 0 },
      { day: day(1), confirmed: 2, left: 0, total: 2 },
      { day: day(0), confirmed: 1, left: 1, total: 2 },
    ],
  });
  assert.equal((await api('subscribers/counts?days=many', lower)).json.field, 'days');
  assert.equal((await api('subscribers/counts', { method: 'GET' })).json.days.length, 90);
  const record = await api('subscribers/cy@two.example', { method: 'GET' });
  assert.deepEqual(
    record.json.mails.map(({ state, error }: { state: string; error: null }) => [state, error]),
    [['due', null]],
  );
});

test('fifty thousand readers are searched in an index', async (t) => {
  const { folder, app, api } = await deskInProcess(t);
  const db = new DatabaseSync(databaseFile({ dataDir: join(folder, 'var') }));
  db.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
     INSERT INTO subscribers (id, paper, reader, email, cadence, cast, made_at, ordered_at, confirmed_at)
     SELECT printf('%026d', i), '${PAPER}', 'r' || i, 'reader-' || i || '@mail-' || (i % 100) || '.example', 'daily', 1, 0, 0,
       iif(i % 10 = 0, NULL, i) FROM n`,
  );
  const plan = db
    .prepare(
      `EXPLAIN QUERY PLAN SELECT id FROM subscribers INDEXED BY subscribers_addresses
       WHERE paper = ? AND id > ? AND email LIKE ? ESCAPE '\\' AND confirmed_at IS NOT NULL ORDER BY id LIMIT 9`,
    )
    .all(PAPER, '', 'x');
  db.close();
  assert.match(JSON.stringify(plan), /COVERING INDEX subscribers_addresses/);
  assert.doesNotMatch(JSON.stringify(plan), /TEMP B-TREE/);
  const { json } = await api('subscribers?q=-49999@&state=confirmed', { method: 'GET' });
  assert.deepEqual(
    json.subscribers.map(({ email }: { email: string }) => email),
    ['reader-49999@mail-99.example'],
  );
  const times: string[] = [];
  for (const query of [
    'subscribers',
    'subscribers?q=nobody',
    'subscribers?q=mail-7.',
    'subscribers?state=pending',
    'subscribers/counts',
  ]) {
    const start = performance.now();
    assert.equal((await api(query, { method: 'GET' })).status, 200);
    times.push(`${query} ${(performance.now() - start).toFixed(1)} ms`);
  }
  t.diagnostic(times.join(', '));
  assert.equal(readerCounts(app.store.desk.readers, PAPER, { days: 1, now: app.clock.now() }).length, 1);
});
