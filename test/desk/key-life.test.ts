import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { keyRow, makeKey, requireKey } from '../../src/desk/papers/keys.ts';
import {
  KEYS_MAX,
  makeAccountKey,
  makeServiceKey,
  serviceKeyOf,
  serviceKeyRow,
} from '../../src/records/accounts/service-key.ts';
import type { Fault } from '../../src/shared/fault.ts';
import { keyExpiry, keyLog } from '../../src/shared/key-life.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { HOUR } from '../support/probes.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const DAY = 24 * HOUR;

function stand(t: TestContext) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const {
    store,
    clock: { now },
  } = app;
  const tools = { now, newId, random: randomBytes, by: 'cli', transact: store.database.transact };
  const desk = (expires_at?: string) =>
    makeKey({ ...tools, keys: store.desk.keys, archive: store.desk.archive(PAPER) }, PAPER, {
      level: 'read',
      name: 'N',
      expires_at,
    });
  const maker = { ...tools, keys: store.records.serviceKeys };
  const service = (expires_at: number | null = null) =>
    makeServiceKey(maker, { account: null, level: 'service', name: 'N', expires_at });
  return { folder, clock, app, store, desk, service, maker };
}

test('a key expires at an instant or with a day; past and invalid times are rejected with name, value and cure', () => {
  for (const [text, at] of [
    ['2026-11-20', NOON + DAY / 2],
    ['2026-11-20T12:00:00.001Z', NOON + 1],
    ['2026-11-20T14:30+02:00', NOON + HOUR / 2],
    ['2028-02-29', Date.UTC(2028, 2, 1)],
  ] as const) {
    assert.equal(keyExpiry(text, 'expires_at', NOON), at, text);
  }
  for (const [text, why] of [
    ['2026-11-19', 'has passed'],
    ['2026-11-20T12:00:00Z', 'has passed'],
    ['2027-02-29', 'not a valid date or time'],
    ['2026-12-31T24:00:00Z', 'not a valid date or time'],
    ['2026-12-31T10:00:00', 'not a valid date or time'],
    ['9999-12-31', 'is after the year 9999'],
    ['9999-12-31T23:59:59-01:00', 'is after the year 9999'],
    ['tomorrow', 'not a valid date or time'],
    ['', 'not a valid date or time'],
  ] as const) {
    assert.throws(
      () => keyExpiry(text, 'expires_at', NOON),
      ({ code, message, details }: Fault) =>
        code === 'invalid_request' &&
        details.field === 'expires_at' &&
        message.startsWith(`expires_at ${JSON.stringify(text)} `) &&
        message.includes(why) &&
        message.includes('2026-12-20T00:00:00Z'),
      text,
    );
  }
});

test('a key that has ended opens nothing, has its own code, and stays ended when the clock is set back', (t) => {
  const { clock, store, desk, service } = stand(t);
  const { key, made } = desk('2026-11-20T13:00:00Z');
  const lasting = desk();
  const other = service(NOON + HOUR);
  const ask = () => requireKey(store.desk.keys, key, clock.now);
  const askOther = () => serviceKeyOf(store.records.serviceKeys, other.key, clock.now);
  const rows = () =>
    store.desk.keys.list(PAPER).map((row) => keyRow(row, store.desk.keys.hasExpired(row, clock.now)).state);
  clock.now = NOON + HOUR - 1;
  assert.deepEqual([ask().id, askOther().id, ...rows()], [made.id, other.made.id, 'in_force', 'in_force']);
  clock.now = NOON + HOUR;
  const ended = { code: 'key_expired', message: /this key expired at 2026-11-20T13:00:00\.000Z; / };
  assert.throws(ask, ended);
  assert.throws(askOther, ended);
  assert.deepEqual(rows(), ['expired', 'in_force']);
  clock.now = NOON;
  assert.throws(ask, ended);
  assert.throws(askOther, ended);
  assert.deepEqual(rows(), ['expired', 'in_force']);
  store.desk.keys.revoke(PAPER, made.id, clock.now, 'cli');
  assert.throws(ask, { code: 'key_invalid' });
  assert.equal(requireKey(store.desk.keys, lasting.key, clock.now + 9_999 * DAY).id, lasting.made.id);
});

test('the log lists who created and revoked a key, and each day of use once', (t) => {
  const { clock, store, desk, service } = stand(t);
  for (const [keys, made, row] of [
    [store.desk.keys, desk().made, () => store.desk.keys.list(PAPER).map((key) => keyRow(key, false))[0]],
    [
      store.records.serviceKeys,
      service().made,
      () => store.records.serviceKeys.list(null).map((key) => serviceKeyRow(key, false))[0],
    ],
  ] as const) {
    assert.deepEqual(row()?.uses, { days: 0, first_day: null, last_day: null });
    for (const at of [NOON, NOON + 1, NOON + HOUR, NOON + DAY, NOON + DAY + HOUR, NOON + 4 * DAY]) {
      keys.used([[made.id, at]]);
    }
    keys.used([['gone', NOON]]);
    clock.now = NOON + 5 * DAY;
    const ofPaper = keys === store.desk.keys;
    if (ofPaper) store.desk.keys.revoke(PAPER, made.id, clock.now, 'key:other');
    else store.records.serviceKeys.revoke(made.id, clock.now, 'session:one');
    const told = row();
    assert.deepEqual(told?.uses, { days: 3, first_day: '2026-11-20', last_day: '2026-11-24' });
    const by = ofPaper ? 'key:other' : 'session:one';
    assert.deepEqual([told?.state, told?.made_by, told?.revoked_by], ['revoked', 'cli', by]);
    const key = keys.byId(made.id);
    assert.ok(key);
    assert.deepEqual(keyLog(key, keys.daysOf(made.id), false), [
      { at: '2026-11-20T12:00:00.000Z', event: 'made', by: 'cli' },
      { at: '2026-11-20', event: 'used' },
      { at: '2026-11-21', event: 'used' },
      { at: '2026-11-24', event: 'used' },
      { at: '2026-11-25T12:00:00.000Z', event: 'revoked', by },
    ]);
    clock.now = NOON;
  }
});

test('keys that have ended leave room for others, and go with their account', (t) => {
  const { clock, store, maker } = stand(t);
  store.records.accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: NOON });
  const make = (expires?: string) => makeAccountKey(maker, 'ada', { name: 'N', ...(expires ? { expires } : {}) });
  for (let n = 0; n < KEYS_MAX; n++) make('2026-11-21');
  assert.throws(() => make(), { code: 'conflict' });
  clock.now = NOON + 2 * DAY;
  const { made } = make();
  store.records.serviceKeys.used([[made.id, clock.now]]);
  store.records.accounts.remove('ada');
  assert.deepEqual(store.records.serviceKeys.daysOf(made.id), []);
  store.records.serviceKeys.used([[made.id, clock.now]]);
});
