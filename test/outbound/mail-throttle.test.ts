import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureWords, faultOf, MailThrottle } from '../../src/shared/outbound/mail-sender.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

test('no span exceeds the configured rate, and everything is sent in time', () => {
  const ask = fc.record({ after: fc.integer({ min: 0, max: 5_000 }), wanted: fc.integer({ min: 1, max: 20 }) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(ask, { minLength: 1, maxLength: 200 }),
      (perMinute, asks) => {
        const throttle = new MailThrottle(perMinute, 0);
        const burst = Math.max(1, perMinute / 60);
        let now = 0;
        const gone: [number, number][] = [];
        for (const { after, wanted } of asks) {
          now += after;
          const taken = throttle.reserve(wanted, now);
          assert.ok(taken <= wanted);
          gone.push([now, taken]);
        }
        for (const [from] of gone) {
          const sum = gone.reduce((total, [at, taken]) => (at >= from ? total + taken : total), 0);
          assert.ok(sum <= burst + ((now - from) * perMinute) / 60_000 + 1e-6);
        }
        assert.ok(throttle.reserve(1, now + 60_000) === 1);
      },
    ),
  );
  const all = new MailThrottle(null, 0);
  assert.equal(all.reserve(1_000_000, 0), 1_000_000);
});

test('the cause of a failure follows from its step and codes; no text of the response is stored', () => {
  const failures: [object, string][] = [
    [{ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550, response: '550 no such user a@b.example' }, 'reader'],
    [{ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550, response: '550 5.1.1 <a@b.example>' }, 'reader'],
    [
      {
        code: 'EENVELOPE',
        command: 'RCPT TO',
        responseCode: 550,
        response: '550-5.2.1 disabled\n550 5.2.1 a@b.example',
      },
      'reader',
    ],
    [
      { code: 'EENVELOPE', command: 'RCPT TO', responseCode: 554, response: '554 5.7.1 blocked a@b.example' },
      'refused',
    ],
    [{ code: 'EENVELOPE', command: 'RCPT TO', responseCode: 503, response: '503 5.5.1 bad sequence' }, 'refused'],
    [{ code: 'EENVELOPE', command: 'MAIL FROM', responseCode: 530, response: '530 5.7.0 a@b.example' }, 'server'],
    [{ code: 'EMESSAGE', command: 'DATA', responseCode: 554, response: '554 5.6.0 a@b.example is spam' }, 'refused'],
    [{ code: 'EMESSAGE', command: 'DATA', responseCode: 550, response: '550 a@b.example is spam' }, 'refused'],
    [{ code: 'EMESSAGE', command: 'DATA', responseCode: 550, response: '550 5.1.1 <a@b.example>' }, 'reader'],
    [{ code: 'EMESSAGE', command: 'DATA', responseCode: 451, response: '451 4.3.0 later' }, 'mail'],
    [{ code: 'EAUTH', command: 'AUTH PLAIN', responseCode: 535, response: '535 a@b.example' }, 'server'],
    [{ code: 'EDNS', command: 'CONN' }, 'server'],
    [{ name: 'TimeoutError', code: 23 }, 'mail'],
    [new TypeError('a@b.example is not printed'), 'mail'],
  ];
  for (const [error, side] of failures) {
    const words = failureWords(error);
    assert.equal(faultOf(words), side, JSON.stringify(error));
    assert.doesNotMatch(JSON.stringify(words), /@/);
  }
});

test('a lease lasts until it expires or is released', (t) => {
  const folder = tempFolder(t);
  const [a, b] = [appContextIn(t, folder, { now: 0 }), appContextIn(t, folder, { now: 0 })].map(
    ({ store }) => store.database.leases,
  );
  assert.equal(
    a?.acquire('mails', 'a', () => 0, 10),
    'acquired',
  );
  assert.equal(
    b?.acquire('mails', 'b', () => 9, 10),
    null,
  );
  assert.equal(
    a?.acquire('mails', 'a', () => 9, 10),
    'renewed',
  );
  assert.equal(
    b?.acquire('mails', 'b', () => 19, 10),
    'acquired',
  );
  assert.equal(
    a?.acquire('mails', 'a', () => 20, 10),
    null,
  );
  b?.release('mails', 'b');
  assert.equal(
    a?.acquire('mails', 'a', () => 21, 10),
    'acquired',
  );
});
