import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReaderDesk } from '../../src/app/reader-desk.ts';
import type { Address } from '../../src/readers/address.ts';
import { readAddress, readerOf } from '../../src/readers/address.ts';
import { order, orderByAdmin } from '../../src/readers/order.ts';
import { DEFAULT_CHOICES } from '../../src/readers/subscriber.ts';
import { appContextIn, createPaper, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

test('one address is exported, erased and suppressed by command', async (t) => {
  const folder = tempFolder(t);
  const now = Date.now();
  const app = appContextIn(t, folder, { now });
  createPaper(app);
  const desk = openReaderDesk(app);
  const address = readAddress('Reader@example.org') as Address;
  order(desk, PAPER, address, DEFAULT_CHOICES);
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
  assert.equal(desk.subscribers.counts(PAPER).total, 0);
  for (const verb of ['export', 'erase']) {
    const again = await reader(verb);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^broadsheet: nothing is kept of this address; look for a slip/);
  }
  assert.equal((await reader('suppress')).code, 0);
  assert.equal(orderByAdmin(desk, PAPER, address, {}), 'suppressed');
  assert.equal(JSON.parse((await reader('export')).stdout).suppression.reason, 'by_hand');
  assert.equal((await reader('suppress', address.email, PAPER, '--complained')).code, 0);
  assert.equal(desk.suppressions.of(PAPER, readerOf(PAPER, address))?.reason, 'complained');
  assert.match((await reader('erase', 'nobody')).stderr, /"nobody" is not of the form name@example\.org/);
  assert.match((await reader('erase', 'reader@example.org', 'no-paper')).stderr, /there is no paper "no-paper"/);
});
