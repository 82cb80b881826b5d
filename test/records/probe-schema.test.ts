import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseProbe } from '../../src/records/probe/probe-schema.ts';
import { Fault } from '../../src/shared/fault.ts';
import { certificate, probe } from '../support/probes.ts';

const sound = (): ReturnType<typeof probe> => probe('example.test', 1, { A: ['192.0.2.1'] }, certificate('a'));
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a probe that was sent is read as it was, its lists in order', () => {
  assert.deepEqual(parseProbe(sent(sound())), sound());
  const mixed = sound();
  mixed.signals.A.values = ['192.0.2.9', '192.0.2.1', '192.0.2.9'];
  assert.deepEqual(parseProbe(sent(mixed)).signals.A.values, ['192.0.2.1', '192.0.2.9']);
});

/** Changes the A signal. */
const withA = (change: object) => (taken: ReturnType<typeof sound>) => ({
  ...taken,
  signals: { ...taken.signals, A: { ...taken.signals.A, ...change } },
});

const BROKEN: [claim: string, field: string, change: (taken: ReturnType<typeof sound>) => unknown][] = [
  ['nothing', 'look', () => null],
  ['a text', 'look', () => 'x'],
  ['no signals', 'signals', ({ signals: _, ...rest }) => rest],
  ['a missing type', 'signals.TXT', (taken) => ({ ...taken, signals: { ...taken.signals, TXT: undefined } })],
  ['an unknown status', 'signals.A.status', withA({ status: 'fine' })],
  ['values of what is not there', 'signals.A', withA({ status: 'nxdomain' })],
  ['no values of what is there', 'signals.A', withA({ values: [] })],
  ['a negative TTL', 'signals.A.ttl', withA({ ttl: -1 })],
  ['a TTL with a fraction', 'signals.A.ttl', withA({ ttl: 0.5 })],
  ['a time that is a text', 'at', (taken) => ({ ...taken, at: '2026' })],
  ['half a surrogate pair', 'signals.A.values.0', withA({ values: ['\ud800'] })],
  ['U+0000', 'signals.A.values.0', withA({ values: ['a\u0000b'] })],
  ['U+0000 in the resolver', 'signals.A.resolver', withA({ resolver: '\u0000' })],
  ...(['issuer', 'subject'] as const).map((name): (typeof BROKEN)[number] => [
    `U+0000 in the certificate’s ${name}`,
    `certificate.${name}`,
    (taken) => ({ ...taken, certificate: { ...certificate('a'), [name]: 'CN=a\u0000b' } }),
  ]),
  [
    'U+0000 in a name of the certificate',
    'certificate.san.0',
    (taken) => ({ ...taken, certificate: { ...certificate('a'), san: ['a\u0000b'] } }),
  ],
  ['too many values', 'signals.A.values', withA({ values: Array.from({ length: 501 }, (_, n) => `${n}`) })],
  [
    'values longer than any message',
    'signals.A.values',
    withA({ values: ['a', 'b', 'c'].map((v) => v.repeat(99_999)) }),
  ],
  ['a certificate of a failed handshake', 'look', (taken) => ({ ...taken, certificate_status: 'timeout' })],
  [
    'a short fingerprint',
    'certificate.fingerprint256',
    (taken) => ({ ...taken, certificate: { ...certificate('a'), fingerprint256: 'aa' } }),
  ],
  [
    'a date that is none',
    'certificate.not_after',
    (taken) => ({ ...taken, certificate: { ...certificate('a'), not_after: 'soon' } }),
  ],
];

for (const [claim, field, change] of BROKEN) {
  test(`a probe with ${claim} is refused, and its member named`, () => {
    assert.throws(
      () => parseProbe(sent(change(sound()))),
      (error) => {
        assert(error instanceof Fault);
        assert.equal(error.code, 'invalid_request');
        assert.equal(error.details.field, field);
        return true;
      },
    );
  });
}
