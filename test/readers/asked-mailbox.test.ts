import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { confirm } from '../../src/desk/readers/link.ts';
import { erase, subscribe } from '../../src/desk/readers/subscribe.ts';
import { ASKED_DAILY, CONFIRM_REST, DEFAULT_CHOICES } from '../../src/desk/readers/subscriber.ts';
import type { AppContext } from '../../src/server/context.ts';
import { linkToken, secretHash } from '../../src/shared/access-key.ts';
import { newId } from '../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SECRET = Buffer.alloc(32, 1);

function stand(t: TestContext) {
  const clock = { now: NOON };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app);
  /** Asks to subscribe an address; returns the ids of the mails that this brought. */
  const ask = (text: string, paper = PAPER): string[] => {
    const address = readAddress(text) as Address;
    subscribe(app.store.desk, paper, address, DEFAULT_CHOICES, { now: clock.now, newId });
    const mails = app.store.desk.readers.mails.lease(clock.now, clock.now + HOUR, 100);
    for (const { id } of mails) app.store.desk.readers.mails.sent(id, clock.now);
    return mails.map(({ id }) => id);
  };
  return { app, clock, ask };
}

/** Every spelling reaches one mailbox of Gmail. */
const SPELLINGS = ['ada.holm@gmail.com', 'adaholm@gmail.com', 'a.daholm+1@gmail.com', 'Ad.aholm@googlemail.com'];

function confirmAs({ store }: AppContext, text: string, id: string, now: number): void {
  const token = linkToken(SECRET, 'confirm', id);
  const reader = readerOf(PAPER, readAddress(text) as Address);
  const kept = { paper: PAPER, reader, purpose: 'confirm', expires_at: now + DAY, used_at: null } as const;
  store.desk.readers.tokens.keep({ hash: secretHash(token), ...kept });
  confirm(store.desk, PAPER, token, now);
}

test('spellings of one mailbox are asked as seldom as one address', (t) => {
  const { clock, ask } = stand(t);
  const spell = (n: number) => `ada.holm+${n}@googlemail.com`;
  let mails = 0;
  for (let minute = 0; minute < 24 * 60; minute += 5, clock.now += 5 * 60_000) mails += ask(spell(minute)).length;
  // At 0, 5, 15, 30, 60 … 960 minutes: no paper brings a mailbox more than it would a single address.
  assert.equal(mails, 9);
});

test('two spellings may be asked immediately, others after a pause', (t) => {
  const { clock, ask } = stand(t);
  assert.deepEqual(
    SPELLINGS.map((address) => ask(address).length),
    [1, 1, 0, 0],
  );
  assert.equal(ask('ben@gmail.com').length, 1, 'another mailbox is another matter');
  clock.now += CONFIRM_REST;
  assert.equal(ask(SPELLINGS[2] ?? '').length, 1);
});

test('a mailbox gets ten requests a day over all papers', (t) => {
  const { clock, ask } = stand(t);
  const papers = Array.from({ length: ASKED_DAILY + 3 }, (_, n) => `paper-${n}`);
  const brought = papers.map((slug, n) => ask(`ada+${n}@example.org`, slug).length);
  assert.equal(
    brought.reduce((sum, count) => sum + count, 0),
    ASKED_DAILY,
  );
  clock.now += DAY + 1;
  assert.equal(ask('ada@example.org', papers.at(-1)).length, 1);
});

test('a mailbox that answered, or was erased, may be asked again immediately', (t) => {
  const { app, clock, ask } = stand(t);
  const [first = '', second = '', third = ''] = SPELLINGS;
  const [id = ''] = ask(first);
  ask(second);
  assert.equal(ask(third).length, 0);
  confirmAs(app, first, id, clock.now);
  assert.equal(ask(third).length, 1);
  ask(SPELLINGS[3] ?? '');
  assert.equal(ask('adaholm+9@gmail.com').length, 0);
  erase(app.store.desk, PAPER, readAddress(third) as Address, app.clock.now());
  assert.equal(ask('adaholm+9@gmail.com').length, 1);
});

test('a clock that was set back asks as before', (t) => {
  const { clock, ask } = stand(t);
  clock.now += 30 * DAY;
  for (const address of SPELLINGS) ask(address);
  clock.now -= 30 * DAY;
  assert.equal(ask('a.d.a.holm@gmail.com').length, 1);
});
