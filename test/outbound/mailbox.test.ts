import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailboxHash, mailboxOf } from '../../src/shared/outbound/mail-address.ts';

test('addresses of one mailbox are recognized by their text alone', () => {
  for (const [email, mailbox] of [
    ['Ada@Example.ORG', 'ada@example.org'],
    ['ada+news@example.org', 'ada@example.org'],
    ['ada+a+b@example.org', 'ada@example.org'],
    ['a.da@example.org', 'a.da@example.org'],
    ['a.d.a+x@gmail.com', 'ada@gmail.com'],
    ['A.da@GoogleMail.com', 'ada@gmail.com'],
    ['a.da@gmail.com.example', 'a.da@gmail.com.example'],
    ['+tag@example.org', '+tag@example.org'],
    ['ada-news@example.org', 'ada-news@example.org'],
  ] as const) {
    assert.equal(mailboxOf(email), mailbox, email);
    assert.equal(mailboxOf(mailbox), mailbox);
    assert.equal(mailboxHash(email), mailboxHash(mailbox));
  }
  assert.match(mailboxHash('ada@example.org'), /^[0-9a-f]{32}$/);
  assert.notEqual(mailboxHash('ada@example.org'), mailboxHash('ben@example.org'));
});
