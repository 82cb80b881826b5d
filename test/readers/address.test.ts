import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADDRESS_MAX, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import { newWebhookSecret, webhookProblem } from '../../src/shared/outbound/webhook-url.ts';
import { isPublicAddress } from '../../src/shared/public-address.ts';
import * as fc from '../support/properties.ts';

test('an address is accepted with its domain in lower-case A-labels', () => {
  const taken: [string, string][] = [
    ['reader@example.org', 'reader@example.org'],
    ['Reader+news@Example.ORG', 'Reader+news@example.org'],
    ["o'brien@mail.example.co.uk", "o'brien@mail.example.co.uk"],
    ["a!#$%&'*+/=?^_`{|}~-z@example.org", "a!#$%&'*+/=?^_`{|}~-z@example.org"],
    ['reader@exämple.org', 'reader@xn--exmple-cua.org'],
    ['reader@exa\u0308mple.org', 'reader@xn--exmple-cua.org'],
    ['reader@例え.テスト', 'reader@xn--r8jz45g.xn--zckzah'],
    ['reader@xn--exmple-cua.org', 'reader@xn--exmple-cua.org'],
    [`${'a'.repeat(64)}@example.org`, `${'a'.repeat(64)}@example.org`],
  ];
  for (const [text, email] of taken) {
    assert.deepEqual(readAddress(text), { email, key: email.toLowerCase() }, text);
  }
});

test('an invalid address is rejected with a reason', () => {
  const label = 'a'.repeat(63);
  const refused = [
    '',
    '@',
    'a@',
    '@example.org',
    'reader',
    'reader@example',
    'reader@@example.org',
    'a@b@example.org',
    ' reader@example.org',
    'reader@example.org ',
    'rea der@example.org',
    'reader@exam ple.org',
    'reader@example.org\n',
    'reader@example.org\r\nBcc: other@example.org',
    'reader\0@example.org',
    'reader@example\u2028.org',
    'reader@example.org, other@example.org',
    '<reader@example.org>',
    'Reader <reader@example.org>',
    '"a b"@example.org',
    '"ab"@example.org',
    'reader(comment)@example.org',
    'reader@example.org@example.org',
    '.reader@example.org',
    'reader.@example.org',
    're..ader@example.org',
    'réader@example.org',
    'reader@-example.org',
    'reader@example-.org',
    'reader@exa_mple.org',
    'reader@example..org',
    'reader@.org',
    'reader@example.org.',
    'reader@127.0.0.1',
    'reader@[127.0.0.1]',
    'reader@[IPv6:::1]',
    'reader@0x7f.1',
    'reader@example.1',
    'reader@xn--zzzzzz--.org',
    'reader@ex%41mple.org',
    'reader@example.org/x',
    'reader@example.org:25',
    'mailto:reader@example.org',
    `${'a'.repeat(65)}@example.org`,
    `${'a'.repeat(300)}@example.org`,
    `a@${'a'.repeat(64)}.org`,
    `abcd@${[label, label, label, 'a'.repeat(58)].join('.')}.org`,
    'reader@\ud800.org',
    'a'.repeat(1_000_000),
  ];
  for (const text of refused) {
    const address = readAddress(text);
    assert('problem' in address, `${text.slice(0, 80)} was taken`);
    assert.match(address.problem, /^(?:is|has) /);
  }
});

test('every accepted address is one line of ASCII that round-trips', () => {
  const local = fc.string({ unit: fc.constantFrom(...'aZ0.+_-\'"@ \n\0é'), maxLength: 70 });
  const domain = fc.string({ unit: fc.constantFrom(...'aZ9.-ä.例。%[]\n\u00ad'), maxLength: 70 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.emailAddress(),
        fc.string({ unit: 'binary' }),
        fc.tuple(local, domain).map((parts) => parts.join('@')),
      ),
      (text) => {
        const address = readAddress(text);
        if ('problem' in address) return;
        assert.match(address.email, /^[\x21-\x7e]+@[a-z0-9.-]+$/);
        assert.ok(address.email.length <= ADDRESS_MAX);
        assert.deepEqual(readAddress(address.email), address);
        assert.equal(readerOf('p', { key: address.key }), readerOf('p', address));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a reader of two papers is two readers, in any case', () => {
  const of = (paper: string, email: string) => readerOf(paper, readAddress(email) as { key: string });
  assert.equal(of('one', 'A@Example.org'), of('one', 'a@example.ORG'));
  assert.notEqual(of('one', 'a@example.org'), of('two', 'a@example.org'));
  assert.match(of('one', 'a@example.org'), /^[0-9a-f]{64}$/);
});

test('a webhook is an https address on a public host', () => {
  for (const good of [
    'https://hooks.example.com/x?y=1',
    'https://1.1.1.1/',
    'https://[2606:4700::1111]:8443/x',
    'HTTPS://Hooks.Example.com',
  ]) {
    assert.equal(webhookProblem(good), null, good);
  }
  for (const bad of [
    '',
    'x',
    'hooks.example.com',
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'javascript:alert(1)',
    'https:',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://printer/',
    'https://nas.local/',
    'https://x.internal/',
    'https://u@hooks.example.com/',
    'https://u:p@hooks.example.com/',
    'https://hooks.example.com/#x',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://224.0.0.1/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:db8::1]/',
    'https://[4000::1]/',
    `https://hooks.example.com/${'x'.repeat(2_000)}`,
  ]) {
    assert.notEqual(webhookProblem(bad), null, bad);
  }
  assert.equal(isPublicAddress('example.com'), false);
  const secret = newWebhookSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
});
