import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { confirm, manageToken, unsubscribe } from '../../src/desk/readers/link.ts';
import type { MailRecord } from '../../src/desk/readers/mail.ts';
import { subscribe } from '../../src/desk/readers/subscribe.ts';
import { DEFAULT_CHOICES } from '../../src/desk/readers/subscriber.ts';
import type { AppContext } from '../../src/server/context.ts';
import { linkKey, readerKey } from '../../src/shared/files/data-folder.ts';
import { newId } from '../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { outboxSender } from '../support/mails.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const address = (email: string) => readAddress(email) as Address;
const request = ({ store, clock: { now } }: AppContext, email: string) =>
  subscribe(store.desk, PAPER, address(email), DEFAULT_CHOICES, { now: now(), newId });

test('no token is in the database, and only the owner can read the link key', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOON });
  createPaper(app, { nameplate: 'Ämter & "Häfen"' });
  const {
    desk: { readers },
  } = app.store;
  request(app, 'reader@example.org');
  await outboxSender(app).idle();
  const [name = '', ...others] = readdirSync(join(folder, 'var/outbox'));
  assert.deepEqual(others, []);
  const eml = readFileSync(join(folder, 'var/outbox', name), 'utf8');
  assert.match(eml, /^From: =\?UTF-8\?/m);
  const text = /\r?\n\r?\n([\s\S]*)$/.exec(eml)?.[1] ?? '';
  const token = /token=3D([\w=\r\n-]+?)\r?\n\r?\n/.exec(text)?.[1]?.replace(/=\r?\n/g, '') ?? '';
  assert.equal(token.length, 43);
  confirm(app.store.desk, PAPER, token, app.clock.now());
  const secret = linkKey(app.settings, 'readers');
  const own = manageToken(readers.tokens, secret, PAPER, readerOf(PAPER, address('reader@example.org')));
  const db = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => db.close());
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
  const all = tables
    .filter(({ name: table }) => !table.startsWith('search'))
    .map(({ name: table }) => JSON.stringify(db.prepare(`SELECT * FROM ${table}`).all()))
    .join();
  assert.match(all, /reader@example\.org/);
  for (const mailed of [token, own]) assert.doesNotMatch(all, new RegExp(mailed));
  const file = join(folder, 'var/readers.key');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readerKey(file), secret);
  // Links that went out hold when the key is lost.
  rmSync(file);
  assert.notDeepEqual(readerKey(file), secret);
  unsubscribe(app.store.desk, PAPER, own, app.clock.now());
  assert.equal(readers.subscribers.counts(PAPER).total, 0);
  writeFileSync(file, 'short\n');
  assert.throws(() => readerKey(file), { code: 'unavailable', message: /move it away/ });
});

test('a mail is leased once by any process, and again when its sender died', (t) => {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const {
    desk: { readers },
  } = app.store;
  for (let n = 0; n < 30; n++) request(app, `reader-${n}@example.org`);
  const tables = [readers.mails, appContextIn(t, folder, clock).store.desk.readers.mails];
  const leased = Array.from({ length: 8 }, (_, n) => tables[n % 2]?.lease(NOON, NOON + 1_000, 7) ?? []).flat();
  assert.equal(leased.length, 30);
  assert.equal(new Set(leased.map(({ id }) => id)).size, 30);
  assert.deepEqual(readers.mails.lease(NOON + 999, NOON + 2_000, 100), []);
  assert.equal(readers.mails.lease(NOON + 1_000, NOON + 2_000, 100).length, 30);
});

test('each reader is notified of each event once', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  createPaper(app);
  const {
    desk: { readers },
  } = app.store;
  request(app, 'reader@example.org');
  const subscriber = readers.subscribers.list(PAPER, { limit: 1 })[0]?.id ?? '';
  const queue = (id: string, kind: MailRecord['kind'], about: string) =>
    readers.mails.queue({ id, paper: PAPER, subscriber, kind, about, due_at: NOON });
  assert.equal(queue('c', 'confirm', ''), false, 'one is waiting');
  assert.equal(queue('a', 'instant', 'piece-1'), true);
  assert.equal(queue('b', 'instant', 'piece-1'), false);
  readers.mails.sent('a', NOON);
  assert.equal(queue('b', 'instant', 'piece-1'), false);
  assert.equal(queue('d', 'daily', 'piece-1'), true);
  readers.subscribers.remove(subscriber, 0);
  assert.deepEqual(readers.mails.lease(NOON, NOON + 1, 10), [], 'who is gone is not written to');
});
