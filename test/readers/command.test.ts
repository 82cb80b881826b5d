import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subscribe, subscribeByAdmin } from '../../src/desk/readers/subscribe.ts';
import { DEFAULT_CHOICES } from '../../src/desk/readers/subscriber.ts';
import { newId } from '../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import { appContextIn, createPaper, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

test('one address is exported, erased and suppressed by command', async (t) => {
  const folder = tempFolder(t);
  const now = Date.now();
  const app = appContextIn(t, folder, { now });
  createPaper(app);
  const {
    desk: { readers },
  } = app.store;
  const address = readAddress('Reader@example.org') as Address;
  subscribe(app.store.desk, PAPER, address, DEFAULT_CHOICES, { now: app.clock.now(), newId });
  const reader = (verb: string, email = 'reader@EXAMPLE.org', paper = PAPER, ...options: string[]) =>
    run(t, folder, ['reader', verb, email, '--paper', paper, ...options]);
  const { stdout, code } = await reader('export');
  assert.equal(code, 0);
  const { email, subscriber, suppression, mails } = JSON.parse(stdout);
  assert.deepEqual([email, suppression, mails.length], ['reader@example.org', null, 1]);
  assert.deepEqual(subscriber, {
    email: 'Reader@example.org',
    confirmed_at: null,
    cadence: 'daily',
    sections: SECTIONS,
    cast: true,
    last_sent_at: null,
    made_at: new Date(now).toISOString(),
    ordered_at: new Date(now).toISOString(),
    asked: null,
  });
  assert.equal((await reader('erase')).code, 0);
  assert.equal(readers.subscribers.counts(PAPER).total, 0);
  for (const verb of ['export', 'erase']) {
    const again = await reader(verb);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^broadsheet: nothing is stored about this address; check its spelling/);
  }
  assert.equal((await reader('suppress')).code, 0);
  assert.equal(
    subscribeByAdmin(app.store.desk, PAPER, address, { choices: {} }, { now: app.clock.now(), newId }),
    'suppressed',
  );
  assert.equal(JSON.parse((await reader('export')).stdout).suppression.reason, 'by_hand');
  assert.equal((await reader('suppress', address.email, PAPER, '--complained')).code, 0);
  assert.equal(readers.suppressions.of(PAPER, readerOf(PAPER, address))?.reason, 'complained');
  assert.match((await reader('erase', 'nobody')).stderr, /"nobody" is not of the form name@example\.org/);
  assert.match((await reader('erase', 'reader@example.org', 'no-paper')).stderr, /there is no paper "no-paper"/);
});
