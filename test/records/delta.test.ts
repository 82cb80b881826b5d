import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGNAL_TYPES, type SignalStatus, UNKNOWN_STATUSES } from '../../src/proof/records/signal.ts';
import { type Change, compareWithBaseline, type DomainBaseline } from '../../src/records/delta.ts';
import { isUnconfirmed } from '../../src/records/rotation.ts';
import { certificateText, type TrackedValues, trackedValues } from '../../src/records/tracked-values.ts';
import { changeLine } from '../../src/records/wire-rows.ts';
import { certificate, probe } from '../support/probes.ts';
import * as fc from '../support/properties.ts';

/** Compares looks one after the other. */
function follow(looks: TrackedValues[], from: DomainBaseline = {}): { standing: DomainBaseline; changes: Change[] } {
  let standing = from;
  const changes: Change[] = [];
  for (const now of looks) {
    const step = compareWithBaseline(standing, now);
    standing = { ...standing, ...step.updates };
    changes.push(...step.changes);
  }
  return { standing, changes };
}

/** The value sets after some changes; each change must begin where the one before ended. */
function apply(first: Record<string, string[]>, changes: Change[]): Record<string, string[]> {
  const state = { ...first };
  for (const { signal, kind, before, after } of changes) {
    assert.deepEqual(before, state[signal], `${signal} begins where it stood`);
    assert.notDeepEqual(before, after);
    assert.equal(kind, before.length === 0 ? 'added' : after.length === 0 ? 'removed' : 'changed');
    state[signal] = after;
  }
  return state;
}

const valuesOf = (standing: DomainBaseline): Record<string, string[]> =>
  Object.fromEntries(Object.entries(standing).map(([signal, { values }]) => [signal, values]));

const anySet = fc.subarray(['1', '2', '3', '4']);
const anyZone = fc.record({ A: anySet, MX: anySet, TXT: anySet }, { noNullPrototype: true });
/** A zone, or what is known of one in a bad hour. */
const anyLook: fc.Arbitrary<TrackedValues> = fc.record({
  A: fc.option(anySet, { freq: 3 }),
  MX: fc.option(anySet, { freq: 3 }),
  TXT: fc.option(anySet, { freq: 3 }),
});

test('deltas applied in order to the first known values give the latest values', () => {
  fc.assert(
    fc.property(fc.array(anyLook, { maxLength: 30 }), (looks) => {
      const first: Record<string, string[]> = {};
      for (const now of looks) {
        for (const [signal, values] of Object.entries(now)) if (values !== null) first[signal] ??= values;
      }
      const { standing, changes } = follow(looks);
      assert.deepEqual(apply(first, changes), valuesOf(standing));
    }),
    { numRuns: 1_000 },
  );
});

test('any sequence of zones, each probed twice, gives deltas from the first zone to the last', () => {
  fc.assert(
    fc.property(anyZone, fc.array(anyZone, { maxLength: 12 }), (first, later) => {
      const { standing, changes } = follow([first, ...later.flatMap((zone) => [zone, zone])]);
      const last = later.at(-1) ?? first;
      assert.deepEqual(valuesOf(standing), last);
      assert.deepEqual(apply(first, changes), last);
      assert(!isUnconfirmed(standing, {}));
    }),
    { numRuns: 1_000 },
  );
});

test('unknown values never change anything, in any order', () => {
  fc.assert(
    fc.property(fc.array(anyLook, { maxLength: 30 }), (looks) => {
      // The same answers of one signal, without the looks that did not know it.
      for (const signal of ['A', 'MX', 'TXT'] as const) {
        const all = follow(looks.map((now) => ({ [signal]: now[signal] })));
        const known = follow(looks.filter((now) => now[signal] !== null).map((now) => ({ [signal]: now[signal] })));
        assert.deepEqual(all, known);
      }
    }),
    { numRuns: 500 },
  );
});

test('each unknown status of each signal leaves the baseline unchanged', () => {
  const all = Object.fromEntries(SIGNAL_TYPES.map((type) => [type, [`value of ${type}`]]));
  const { standing } = follow([trackedValues(probe('example.test', 0, all, certificate('a')))]);
  assert.equal(Object.keys(standing).length, SIGNAL_TYPES.length + 1);
  for (const status of UNKNOWN_STATUSES) {
    const nothing = probe('example.test', 1, Object.fromEntries(SIGNAL_TYPES.map((type) => [type, status])));
    const tracked = trackedValues({ ...nothing, certificate_status: 'timeout' });
    assert.deepEqual(compareWithBaseline(standing, tracked), { updates: {}, changes: [] }, status);
  }
});

test('a value that is missing now and then, but never twice in a row, is never reported', () => {
  const zone = ['1', '2', '3'];
  fc.assert(
    fc.property(fc.array(fc.subarray(zone), { maxLength: 30 }), (gaps) => {
      const looks = gaps.flatMap((seen) => [{ A: seen }, { A: zone }]);
      const { standing, changes } = follow([{ A: zone }, ...looks]);
      assert.deepEqual(changes, []);
      assert.deepEqual(standing, { A: { values: zone, missing: [] } });
    }),
  );
});

test('a removal is reported once, by the second probe that shows it', () => {
  const says = (...answers: (string[] | SignalStatus)[]) =>
    follow(answers.map((TXT) => trackedValues(probe('example.test', 0, { TXT })))).changes.map((change) =>
      changeLine({ domain: 'example.test', ...change }),
    );
  assert.deepEqual(says(['a'], 'nodata'), []);
  assert.deepEqual(says(['a'], 'nodata', 'nodata'), ['example.test TXT removed: a']);
  assert.deepEqual(says(['a'], 'nxdomain', 'nodata', 'nodata', 'nxdomain'), ['example.test TXT removed: a']);
  assert.deepEqual(says(['a'], 'nodata', 'timeout', 'servfail', 'nodata'), ['example.test TXT removed: a']);
  assert.deepEqual(says(['a'], 'nodata', ['a'], 'nodata'), []);
  assert.deepEqual(says(['a', 'b'], ['a']), []);
  assert.deepEqual(says(['a', 'b'], ['a'], ['a']), ['example.test TXT changed: without b']);
  assert.deepEqual(says(['a', 'b'], ['a'], ['b'], ['b']), ['example.test TXT changed: without a']);
  assert.deepEqual(says(['a', 'b'], ['a'], 'nodata', 'nodata'), [
    'example.test TXT changed: without b',
    'example.test TXT removed: a',
  ]);
  // What shows something new is believed at once, with what it lacks.
  assert.deepEqual(says(['a', 'b'], ['c']), ['example.test TXT changed: a, b → c']);
  assert.deepEqual(says('nodata', ['c']), ['example.test TXT added: c']);
  assert.deepEqual(says('timeout', ['c'], ['c', 'd']), ['example.test TXT changed: with d']);
});

test('volatile values are not changes: TTL, time, flags, the serial of a SOA, an ECH key', () => {
  const soa = (serial: number, mname = 'ns1.example.test') =>
    `${mname} host.example.test ${serial} 7200 3600 1209600 300`;
  const https = (ech: string) => `1 . alpn=h2,h3 ech=${ech} ipv4hint=192.0.2.1`;
  const before = probe('example.test', 0, { A: ['192.0.2.1'], SOA: [soa(1)], HTTPS: [https('AAAA')] });
  const after = probe('example.test', 99, { A: ['192.0.2.1'], SOA: [soa(2)], HTTPS: [https('BBBB')] });
  after.signals.A = {
    ...after.signals.A,
    ttl: 17,
    rtt_ms: 900,
    transport: 'tcp',
    flags: { aa: false, ad: true, tc: true },
  };
  assert.deepEqual(follow([before, after].map(trackedValues)).changes, []);
  const moved = probe('example.test', 100, {
    ...{ A: ['192.0.2.1'], HTTPS: [https('C')] },
    SOA: [soa(3, 'ns9.example.test')],
  });
  assert.deepEqual(
    follow([before, moved].map(trackedValues)).changes.map(({ signal }) => signal),
    ['SOA'],
  );
});

test('another certificate is a change, and a handshake that failed is not', () => {
  const [a, b] = [certificate('a'), certificate('b', "CN=R12, O=Let's Encrypt, C=US")];
  const with_ = (shown: typeof a | null, status?: 'timeout') => ({
    ...probe('example.test', 0, {}, shown),
    ...(status === undefined ? {} : { certificate_status: status }),
  });
  const { changes } = follow([with_(a), with_(null, 'timeout'), with_(b)].map(trackedValues));
  assert.deepEqual(changes, [
    { signal: 'CERTIFICATE', kind: 'changed', before: [certificateText(a)], after: [certificateText(b)] },
  ]);
  assert.deepEqual(
    changes.map((change) => changeLine({ domain: 'example.test', ...change })),
    ["example.test CERTIFICATE changed: Let's Encrypt until 2027-01-30 → Let's Encrypt until 2027-01-30"],
  );
  assert.deepEqual(follow([with_(a), with_(null), with_(null)].map(trackedValues)).changes.length, 1);
});

test('a line names a few values and cuts long ones between characters', () => {
  const long = `${'x'.repeat(58)}😀😀😀`;
  assert.equal(
    changeLine({ domain: 'a.test', signal: 'WWW_A', kind: 'added', before: [], after: ['1', '2', '3', '4', '5'] }),
    'a.test www A added: 1, 2, 3 and 2 more',
  );
  const line = changeLine({ domain: 'a.test', signal: 'TXT', kind: 'removed', before: [long], after: [] });
  assert(line.isWellFormed() && line.endsWith('😀…'), line);
});
