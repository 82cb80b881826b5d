import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { compareWithBaseline, type DomainBaseline, type SeenChange } from '../../src/records/delta.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { probeHostname } from '../../src/records/probe/prober.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { recordProbe } from '../../src/records/recording.ts';
import {
  ANSWER_MAX,
  compareAnswers,
  isUnconfirmed,
  MEMBERS_MAX,
  networkOf,
  type OriginOf,
  type Rotations,
  WINDOW,
  withRotations,
} from '../../src/records/rotation.ts';
import { changeLine } from '../../src/records/wire-rows.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { HOUR, probe } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NO_ORIGINS: OriginOf = () => null;
type Answer = string[] | null;

/** Compares answers of A one after the other; the changes of each, and what is known after the last. */
function follow(answers: Answer[], originOf = NO_ORIGINS) {
  let state: { baseline: DomainBaseline; rotations: Rotations } = { baseline: {}, rotations: {} };
  const steps: SeenChange[][] = [];
  for (const A of answers) {
    const { updates, rotations, changes } = compareAnswers(state, { A }, originOf);
    state = {
      baseline: { ...state.baseline, ...updates },
      rotations: withRotations(state.rotations, rotations),
    };
    steps.push(changes);
  }
  return { ...state, steps };
}

/** What lists show, as lines, with the number of the answer. */
const shown = (answers: Answer[], originOf = NO_ORIGINS): string[] =>
  follow(answers, originOf).steps.flatMap((changes, at) =>
    changes
      .filter(({ rotation }) => rotation !== 'answer')
      .map((change) => `${at} ${changeLine({ domain: 'x.test', ...change })}`),
  );

const [a, b, c] = ['192.0.2.1', '198.51.100.1', '203.0.113.1'] as const;
const turns = (count: number, pool: string[] = [a, b, c]): string[][] =>
  Array.from({ length: count }, (_, index) => [pool[index % pool.length] as string]);

test('a pool that rotates is learned as a set, and then its turns are quiet', () => {
  assert.deepEqual(shown(turns(200)), [
    `1 x.test A changed: ${a} → ${b}`,
    `2 x.test A changed: ${b} → ${c}`,
    `3 x.test A changed: ${c} → ${a}`,
    `4 x.test A changed: ${a} → ${b}`,
    // The third return: the set is one last change.
    `5 x.test A changed: with ${a}, ${c}`,
  ]);
});

test('an address outside of the set is loud at once, and quiet when it comes again', () => {
  const evil = '100.64.6.6';
  const answers = [...turns(30), [evil], ...turns(10), [evil], ...turns(10)];
  assert.deepEqual(shown(answers).slice(5), [`30 x.test A changed: with ${evil}`]);
  // Of a set of networks too; an address of a network that is known is a turn.
  const pool = turns(
    40,
    Array.from({ length: 40 }, (_, host) => `192.0.2.${host}`),
  );
  const other = [...pool, ['192.0.2.200'], ['198.51.100.6']];
  assert.equal(follow(other).rotations.A?.set?.of, 'network');
  assert.deepEqual(shown(other).at(-1), '41 x.test A changed: with 198.51.100.0/24');
  assert(!shown(other).some((line) => line.startsWith('40 ')));
});

test('a member leaves after answers without it; a set that no longer rotates ends', () => {
  const lines = shown([...turns(30), ...turns(80, [a, b])]);
  // After eight answers for each member, and at least sixteen.
  assert.deepEqual(lines.slice(5), [`53 x.test A changed: without ${c}`]);
  const still = shown([...turns(30), ...turns(40, [a])]);
  assert.deepEqual(still.slice(5), [`52 x.test A changed: without ${b}`, `53 x.test A changed: without ${c}`]);
  // From then on, it is as any other name.
  assert.deepEqual(shown([...turns(30), ...turns(40, [a]), [b]]).at(-1), `70 x.test A changed: ${a} → ${b}`);
  assert.deepEqual(follow([...turns(30), ...turns(40, [a])]).rotations, {});
});

test('a name that loses its addresses is loud, once that is confirmed; unknown answers are no turns', () => {
  assert.deepEqual(shown([...turns(30), [], ...turns(30)]).slice(5), []);
  assert.deepEqual(shown([...turns(30), [], []]).slice(5), [`31 x.test A removed: ${a}, ${b}, ${c}`]);
  const gaps = turns(60).flatMap((answer): Answer[] => [answer, null, null]);
  assert.deepEqual(follow(gaps).rotations, follow(turns(60)).rotations);
  const { baseline, rotations } = follow([...turns(30), []]);
  assert(isUnconfirmed(baseline, rotations));
  assert(!isUnconfirmed({ A: { values: [a, b], missing: [a] } }, rotations));
});

test('what is no rotation stays a change: a move, a move and back, and two answers that alternate', () => {
  const still = (values: string[]) => turns(20, values);
  assert.equal(shown([...still([a]), ...still([b]), ...still([c])]).length, 2);
  assert.equal(shown([...still([a]), [b], ...still([a])]).length, 2);
  // A failover looks like that, and its operator wants to know.
  assert.equal(shown(turns(41, [a, b])).length, 40);
});

test('with a table of origins, a wide pool becomes a set of autonomous systems', () => {
  const originOf: OriginOf = (network) =>
    network.startsWith('10.') ? 64500 : network.startsWith('11.') ? 64501 : null;
  const wide = Array.from({ length: 300 }, (_, index) => [`10.${index % 250}.${index % 7}.1`]);
  assert.equal(follow(wide, originOf).rotations.A?.set?.of, 'origin');
  assert.deepEqual(Object.keys(follow(wide, originOf).rotations.A?.set?.members ?? {}), ['AS64500']);
  const lines = shown([...wide, ['11.1.1.1']], originOf);
  assert.equal(lines.at(-1), '300 x.test A changed: with AS64501');
  assert(lines.length < 10, String(lines.length));
});

test('a network is a /24 or a /48', () => {
  assert.equal(networkOf('192.0.2.77'), '192.0.2.0/24');
  assert.equal(networkOf('2001:db8:1:2::3'), '2001:db8:1::/48');
  assert.equal(networkOf('::1'), '::/48');
  assert.equal(networkOf('2001:db8:1::/48'), '2001:db8:1::/48');
});

/** The rules as docs/protocol.md, 5.9, says them: from the whole history each time, without a state. */
function naive(history: string[][], originOf: OriginOf): { set: string[] | null; of: string } {
  const names = {
    value: (value: string) => value,
    network: networkOf,
    origin: (value: string) =>
      originOf(networkOf(value)) === null ? networkOf(value) : `AS${originOf(networkOf(value))}`,
  };
  type Of = keyof typeof names;
  const unique = (values: string[]) => [...new Set(values)].sort();
  const same = (x: string[], y: string[]) => unique(x).join() === unique(y).join();
  let learned: { of: Of; from: number } | null = null;
  let members = new Map<string, number>();
  for (let n = 1; n <= history.length; n++) {
    const window = history.slice(0, n).slice(-WINDOW);
    const answer = window.at(-1) ?? [];
    if (learned === null) {
      const of = (['value', 'network', 'origin'] as const).find((level) => {
        const returns = window.filter((one, at) => {
          const before = window.slice(0, at).flat().map(names[level]);
          return (
            at > 0 && !same(one, window[at - 1] ?? []) && one.every((value) => before.includes(names[level](value)))
          );
        });
        return (
          returns.length >= (level === 'value' ? 3 : 8) && new Set(window.map((one) => unique(one).join())).size >= 3
        );
      });
      if (of === undefined || window.every((one) => same(one, answer))) continue;
      learned = { of, from: n - window.length };
      members = new Map();
      for (const [at, one] of window.entries())
        for (const value of one) members.set(names[of](value), learned.from + at);
    } else for (const value of answer) members.set(names[learned.of](value), n - 1);
    if (members.size > MEMBERS_MAX[learned.of]) return { set: null, of: 'wide' };
    const patience = Math.max(WINDOW, 8 * members.size);
    for (const [member, last] of members) if (n - 1 - last >= patience) members.delete(member);
    const isStill = window.length === WINDOW && window.every((one) => same(one, answer));
    if (
      isStill &&
      [...members.keys()].every((member) => answer.map(names[(learned as { of: Of }).of]).includes(member))
    ) {
      learned = null;
    }
  }
  return learned === null ? { set: null, of: '' } : { set: [...members.keys()].sort(), of: learned.of };
}

const originOf: OriginOf = (network) => (network.startsWith('10.') ? 64500 : null);
/** Answers of pools of any size, one pool after the other, each still or turning. */
const anyPool = fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  spread: fc.constantFrom('hosts', 'networks', 'v6'),
  start: fc.integer({ min: 1, max: 3 }),
  picks: fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { minLength: 1, maxLength: 70 }),
});
const anyHistory = fc.array(anyPool, { minLength: 1, maxLength: 3 }).map((pools) =>
  pools.flatMap(({ size, spread, start, picks }) =>
    picks
      .map((pick) =>
        [...new Set(pick)].map((at) => {
          const n = start + (at % size);
          return spread === 'hosts' ? `192.0.2.${n}` : spread === 'networks' ? `10.0.${n}.1` : `2001:db8:${n}::1`;
        }),
      )
      .map((answer) => [...new Set(answer)].sort()),
  ),
);

test('sets are those of a naive reading of the rules', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const expected = naive(history, originOf);
      if (expected.of === 'wide') return;
      const { rotations } = follow(history, originOf);
      const { set = null } = rotations.A ?? {};
      assert.deepEqual({ set: set === null ? null : Object.keys(set.members), of: set?.of ?? '' }, expected);
    }),
    { numRuns: 300 },
  );
});

test('changes that lists show follow one from the other, and so do the answers', () => {
  const anyAnswers = fc.array(fc.option(fc.subarray([a, b, c, '192.0.2.9', '203.0.113.2']), { freq: 8 }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(fc.oneof(anyAnswers, anyHistory as fc.Arbitrary<Answer[]>), (answers) => {
      const { steps, baseline, rotations } = follow(answers);
      const first = answers.find((answer) => answer !== null) ?? [];
      const chain = (skipped: 'answer' | 'set') => {
        let at = first;
        for (const { rotation, before, after } of steps.flat()) {
          if (rotation === skipped) continue;
          assert.deepEqual(before, at);
          assert.notDeepEqual(before, after);
          at = after;
        }
        return at;
      };
      assert.deepEqual(chain('set'), baseline.A?.values ?? []);
      const { set = null } = rotations.A ?? {};
      assert.deepEqual(chain('answer'), set === null ? (baseline.A?.values ?? []) : Object.keys(set.members));
      // The answers are those that were changes before there were sets.
      let standing: DomainBaseline = {};
      for (const [at, A] of answers.entries()) {
        const { updates, changes } = compareWithBaseline(standing, { A });
        standing = { ...standing, ...updates };
        const raw = steps[at]?.filter(({ rotation }) => rotation !== 'set').map(({ rotation: _, ...change }) => change);
        assert.deepEqual(raw, changes);
      }
    }),
    { numRuns: 500 },
  );
});

test('a state stays small, whatever is answered', { skip: ONLY_WIDE }, () => {
  const anyAddress = () => [...randomBytes(4)].join('.');
  const answers = Array.from({ length: 600 }, (_, index) =>
    Array.from({ length: index % ANSWER_MAX }, anyAddress).sort(),
  );
  let [largest, state] = [0, follow([])];
  for (const A of [...turns(20), ...answers]) {
    const { updates, rotations } = compareAnswers(state, { A }, NO_ORIGINS);
    state = {
      ...state,
      baseline: { ...state.baseline, ...updates },
      rotations: withRotations(state.rotations, rotations),
    };
    largest = Math.max(largest, JSON.stringify(state.rotations).length);
  }
  assert(largest < 40_000, `${largest} characters`);
  const tooWide = turns(20).map(([value = '']) => [
    value,
    ...Array.from({ length: ANSWER_MAX }, (_, n) => `10.0.0.${n}`),
  ]);
  assert.deepEqual(follow(tooWide).rotations, {});
});

function scan(t: TestContext) {
  const app = appContextIn(t, tempFolder(t), { now: Date.now() });
  app.signer.open();
  const { records } = app.store;
  records.watch([parseHostname('pool.example.com')], 0);
  const id = records.find('pool.example.com')?.id ?? -1;
  let n = 0;
  return {
    app,
    id,
    see(taken: ReturnType<typeof probe>, originOf?: OriginOf) {
      const lease = `lease-${++n}`;
      const now = app.clock.now();
      records.leaseNames({ id: lease, owner: 'test', names: [taken.hostname], until: now + HOUR });
      const { key } = app.signer;
      return recordProbe(records, lease, taken, { ...key('records'), now, every: HOUR, randomBytes, originOf });
    },
  };
}

test('an audit derives the sets again, with the origins that were noted', { skip: ONLY_WIDE }, (t) => {
  const { app, id, see } = scan(t);
  const { records } = app.store;
  for (const [index, A] of turns(40).entries()) {
    // The table changes while the set is learned, and later there is none.
    see(probe('pool.example.com', app.clock.now(), { A }), index < 30 ? () => (index < 12 ? 64500 : 64501) : undefined);
  }
  for (let n = 0; n < 90; n++) {
    const at = app.clock.now();
    see(probe('pool.example.com', at, { A: [`10.${n}.0.1`] }), () => (n < 50 ? 64502 : 64503));
  }
  assert.equal(records.rotations(id).A?.set?.of, 'origin');
  const faults: string[] = [];
  auditRecords(app, faults);
  assert.deepEqual(faults, []);
  const total = records.deltaCount({});
  assert.equal(total, records.deltas({}, { limit: 1_000 }).length);
  assert.equal(records.deltaCount({ rotating: 'answers' }), 129);
  assert.equal(records.deltas({ rotating: 'answers', host: id }, { limit: 1_000 }).length, 129);
  assert(total < 129, String(total));
  records.setRotations(id, { A: null });
  auditRecords(app, faults);
  assert.deepEqual(faults, ['pool.example.com: the rotating sets are not those of the observations']);
});

test('a name server rotates its answers, and a hijack among them is loud at once', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const { app, see } = scan(t);
  const { records } = app.store;
  const folder = tempFolder(t);
  /** Serves one address, and has it looked up. */
  const serveAddress = async (address: string, name: string) => {
    const knot = await startKnot(join(folder, name), [{ name: 'example.com', lines: [`pool 1 A ${address}`] }]);
    const resolver = createResolver({ servers: [knot], firstWait: 5_000 });
    try {
      const look = await probeHostname('pool.example.com', {
        ask: resolver.ask,
        handshake: async () => ({ certificate: null, certificate_status: 'skipped' }),
        now: app.clock.now,
        randomLabel: () => 'nobody-made-this',
      });
      return see(look);
    } finally {
      resolver.close();
      await knot.stop();
    }
  };
  for (const [index, [address = '']] of turns(9).entries()) await serveAddress(address, `turn-${index}`);
  const learned = records.newestDelta();
  await serveAddress('100.64.6.6', 'hijack');
  const lines = records.deltas({}, { order: 'oldest', cursor: learned, limit: 10 }).map(changeLine);
  assert.deepEqual(lines, ['pool.example.com A changed: with 100.64.6.6']);
  assert.equal(records.deltas({}, { limit: 50 }).length, 6);
  assert.equal(records.deltas({ rotating: 'answers' }, { limit: 50 }).length, 9);
});
