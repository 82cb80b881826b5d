import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import {
  OWNER_REST,
  REQUESTS_MAX,
  REQUESTS_SPAN,
  requestSignIn,
  SIGN_INS_KEPT,
  signIn,
} from '../../src/records/accounts/sign-in.ts';
import { linkToken } from '../../src/shared/access-key.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 21, 12);
const SECRET = Buffer.alloc(32, 1);
const STRANGER = 'stranger@example.org';

function standIn(t: TestContext) {
  const clock = { now: NOON };
  const app = appContextIn(t, tempFolder(t), clock);
  const {
    store,
    clock: { now },
  } = app;
  /** Asks and returns the mails that it brought: their ids. */
  const ask = (email: string): string[] => {
    requestSignIn(store.records, email, { now, newId, secret: SECRET });
    const mails = app.store.records.accountMails.lease(clock.now, clock.now + HOUR, 100);
    for (const { id } of mails) app.store.records.accountMails.sent(id, clock.now);
    return mails.map(({ id }) => id);
  };
  /** Asks every so often for a span, as somebody does who means to annoy; returns how many mails that made. */
  const annoy = (email: string, span: number): number => {
    let mails = 0;
    for (const end = clock.now + span; clock.now < end; clock.now += 5 * MINUTE) {
      mails += ask(email).length;
      store.records.signIns.forget(clock.now - SIGN_INS_KEPT);
    }
    return mails;
  };
  const enter = (id: string) =>
    signIn(store.records, linkToken(SECRET, 'sign-in', id), { now, newId, random: randomBytes });
  return { clock, ask, annoy, enter };
}

test('an address that never answers gets mails at growing intervals', { skip: ONLY_WIDE }, (t) => {
  const { clock, annoy } = standIn(t);
  // At 0, 5, 10, 25, 50, 100 … 800 minutes.
  assert.equal(annoy(STRANGER, DAY), REQUESTS_MAX + 6);
  assert.equal(annoy(STRANGER, 12 * DAY), 4);
  assert.ok(annoy(STRANGER, 30 * DAY) < 20);
  clock.now += SIGN_INS_KEPT;
  assert.ok(annoy(STRANGER, 1) > 0, 'and not for ever');
});

test('spellings of one Gmail mailbox bring it no more mails', (t) => {
  const { ask } = standIn(t);
  const asked = ['a.da@gmail.com', 'ad.a@gmail.com', 'ada+1@googlemail.com', 'a.d.a@googlemail.com', 'ada@gmail.com'];
  assert.equal(asked.flatMap(ask).length, REQUESTS_MAX);
});

test('plus-addressing does not multiply a mailbox’s mails', (t) => {
  const { ask } = standIn(t);
  const asked = ['a@x.example', 'a+1@x.example', 'a+2@x.example', 'a+3@x.example', 'a+4+5@x.example', 'a@x.example'];
  assert.equal(asked.flatMap(ask).length, REQUESTS_MAX);
  for (const other of ['a@y.example', 'a+1@y.example', 'ab+1@x.example', 'b@x.example', '+a@x.example'])
    assert.equal(ask(other).length, 1, other);
});

test('an account holder can sign in however many links others request for the address', (t) => {
  const { clock, ask, annoy, enter } = standIn(t);
  const [first = ''] = ask(STRANGER);
  enter(first);
  const mails = annoy(STRANGER, 2 * DAY);
  assert.ok(mails <= REQUESTS_MAX + 4 + (2 * DAY) / OWNER_REST, `${mails} mails in two days`);
  clock.now += OWNER_REST;
  const [own = ''] = ask(STRANGER);
  enter(own);
  for (let n = 0; n < REQUESTS_MAX; n++) assert.equal(ask(STRANGER).length, 1, 'a link that was used is an answer');
  assert.equal(ask(STRANGER).length, 0);
  clock.now += REQUESTS_SPAN;
  assert.equal(ask(STRANGER).length, 1);
});

test('a clock that is set back locks nobody out of signing in', (t) => {
  const { clock, ask } = standIn(t);
  for (let n = 0; n <= REQUESTS_MAX; n++) ask(STRANGER);
  clock.now -= HOUR;
  assert.equal(ask(STRANGER).length, 1);
});
