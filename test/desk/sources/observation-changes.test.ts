import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from '../../../src/desk/sources/observation-changes.ts';
import { addressFaults, askedFor, renderedObservation } from '../../../src/proof/records/cited-observation.ts';
import { signal } from '../../support/probes.ts';

const fields = (values: Record<string, unknown>) =>
  Object.entries(values).map(([name, value]) => ({ salt: 'x'.repeat(22), name, value }));

test('what a hostname answers differently is named, and what rotates by itself is not', () => {
  const said = (before: Record<string, unknown>, after: Record<string, unknown>) =>
    changesBetween(fields(before), fields(after));
  const cases: [string, unknown, unknown, string[]][] = [
    ['signals.NS', signal(['a.', 'b.']), signal(['b.', 'a.']), []],
    ['signals.NS', signal(['a.']), signal([]), ['NS: a. → none']],
    ['signals.NS', signal(['a.']), signal([], 'servfail'), []],
    ['signals.TXT', signal(['a\u202e\n']), signal(['b']), ['TXT: a  → b']],
    ['signals.A', signal(['192.0.2.1']), signal(['192.0.2.2']), []],
    ['signals.A', signal(['192.0.2.1']), signal([], 'nxdomain'), ['A: some → none']],
    ['signals.SOA', signal(['n h 1 2 3 4 5']), signal(['n h 9 2 3 4 5']), []],
    ['signals.HTTPS', signal(['1 . ech=a']), signal(['1 . ech=b']), []],
    ['signals.HTTPS', signal(['1 . ech=a']), signal(['2 . ech=a']), ['HTTPS: 1 . → 2 .']],
    ['summary', { NS: 2, A: 1, TXT: 3 }, { NS: 3, A: 9 }, ['NS: 2 → 3 values']],
    ['summary', { A: 1 }, { A: 0 }, ['A: some → 0 values']],
    ['certificate', { issuer: 'R1', san: ['a'], not_after: 1 }, { issuer: 'R1', san: ['a'], not_after: 2 }, []],
    [
      'certificate',
      { issuer: 'R1', san: ['a'] },
      { issuer: 'R2', san: ['a'] },
      ['certificate: ["a"] of R1 → ["a"] of R2'],
    ],
    ['certificate', { issuer: 'R1', san: ['a'] }, null, []],
    ['wildcard', false, true, ['wildcard: no → yes']],
    // A file can be replaced by one of another domain.
    ['domain', 'example.org', 'example.net', ['domain: example.org → example.net']],
    ['observed_at', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z', []],
  ];
  for (const [name, before, after, expected] of cases)
    assert.deepEqual(said({ [name]: before }, { [name]: after }), expected, name);
  assert.deepEqual(said({ 'signals.MX': signal(['1 a']) }, {}), [], 'what is not shown both times is not compared');
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`signals.X${n}`, signal(['x'.repeat(9_999)])]));
  const other = Object.fromEntries(Object.keys(many).map((name) => [name, signal(['y'])]));
  const all = said(many, other);
  assert.deepEqual([all.length, all.every((line) => line.length < 300)], [20, true]);
});

test('an address asks for a domain and a time, letter for letter', () => {
  const receipt = { domain: 'example.org', observed_at: '2026-11-20T21:00:00.000Z' } as never;
  const holds = (address: string) => addressFaults(address, receipt).length === 0;
  const root = 'https://data.example';
  for (const address of [
    `${root}/t/example.org`,
    `${root}/below/t/example.org?as_of=`,
    `${root}/v1/domains/example.org?x=1&as_of=2026-11-20#top`,
    `${root}/t/example.org?as_of=2026-11-20T23%3A00%3A00%2B02%3A00`,
    `${root}/evidence.json?as_of=2026-11-20T21:00Z`,
    `${root}/domains/example.net`,
  ])
    assert.ok(holds(address), address);
  for (const address of [
    `${root}/t/EXAMPLE.org`,
    `${root}/t/example%2Eorg`,
    `${root}/t/example.org/`.replace(/\/$/, '.'),
    `${root}/v1/domains/example.net`,
    `${root}/t/example.org?as_of=2026-11-19`,
    `${root}/t/example.org?as_of=2026-11-20T20:59:59.999Z`,
    `${root}/t/example.org?as_of=%E0%A4%A`,
    `${root}/t/example.org?as_of=2026-11-20T24:00Z`,
    `${root}/t/example.org?as_of=now&as_of=2026-11-20`,
  ])
    assert.ok(!holds(address), address);
  assert.deepEqual(askedFor('https://forum.example/t/42'), { domain: '42', until: null });
});

test('the text of an observation has a line for each field', () => {
  const text = renderedObservation(
    { seq: 7 },
    fields({
      domain: 'example.org',
      'signals.NS': signal(['a.', 'b.']),
      'signals.MX': signal([], 'nxdomain'),
      wildcard: null,
    }),
  );
  assert.equal(text, 'observation 7\ndomain example.org\nNS a., b.\nMX nxdomain\nwildcard null');
});
