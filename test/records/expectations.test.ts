import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignalStatus } from '../../src/proof/records/signal.ts';
import { HOUR, MINUTE } from '../../src/proof/time.ts';
import { makeAlert } from '../../src/records/accounts/change-alert.ts';
import {
  knownNames,
  PLANS_MAX,
  planChange,
  planRow,
  putExpectations,
  removeExpectations,
  requirePlan,
  WINDOW_MAX,
} from '../../src/records/declared-expectations.ts';
import { readDocument } from '../../src/records/expectation-document.ts';
import { eventLine, missPlans, PLAN_GRACE } from '../../src/records/expectations.ts';
import { newId } from '../../src/shared/new-id.ts';
import { probe } from '../support/probes.ts';
import { recordsStand } from '../support/records-fixture.ts';

const NAME = 'www.example.com';
const ACCOUNT = 'account-1';
type Stand = Awaited<ReturnType<typeof recordsStand>>;

async function standOf(t: Parameters<typeof recordsStand>[0]) {
  const stand = await recordsStand(t);
  const { app, clock } = stand;
  app.store.records.accounts.ofEmail('ada@example.org', { id: ACCOUNT, plan: 'daily', made_at: 0 });
  const table = app.store.records.expectations;
  let told = 0;
  return {
    ...stand,
    /** An answer of A, a minute later. */
    see: (A: string[] | SignalStatus) => stand.enter(probe(NAME, clock.now + MINUTE, { A })),
    expect: (text: string) => putExpectations(app, ACCOUNT, readDocument(text, knownNames(app))),
    plan: (text: string, from: number | undefined, until: number) =>
      planChange(app, ACCOUNT, { names: readDocument(text, knownNames(app)), from, until, note: '' }, newId()),
    /** What was told since the last call. */
    told() {
      const events = table.events(ACCOUNT, 1_000).reverse();
      const fresh = events.slice(told).map(eventLine);
      told = events.length;
      return fresh;
    },
    stateOf: () => table.ofAccount(ACCOUNT).map(({ state }) => state),
  };
}

const A = (values: string) => `names: { ${NAME}: { A: ${values} } }`;

test('as expected is quiet; anything else is told once until it changes, and its end once', async (t) => {
  const { see, expect, told, stateOf } = await standOf(t);
  see(['192.0.2.1']);
  expect(A('{ values: [192.0.2.1] }'));
  assert.deepEqual([told(), stateOf()], [[], ['expected']]);
  see(['192.0.2.1']);
  assert.deepEqual(told(), []);
  see(['192.0.2.9']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.9 instead of 192.0.2.1`]);
  see(['192.0.2.9']);
  see(['192.0.2.9']);
  assert.deepEqual(told(), []);
  // Unknown is no answer, neither a good one nor a bad one.
  for (const status of ['servfail', 'timeout', 'refused'] as const) see(status);
  assert.deepEqual([told(), stateOf()], [[], ['unexpected']]);
  see(['192.0.2.8']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.8 instead of 192.0.2.1`]);
  see(['192.0.2.1']);
  assert.deepEqual(told(), [`${NAME} A is as expected again: 192.0.2.1`]);
  see(['192.0.2.1']);
  // Gone is confirmed by a second look, as every removal is.
  see('nxdomain');
  assert.deepEqual(told(), []);
  see('nodata');
  assert.deepEqual(told(), [`${NAME} A is not as expected: no records instead of 192.0.2.1`]);
});

test('a new document is compared with the newest answers; what stays in it keeps its state', async (t) => {
  const { see, expect, told, stateOf, app } = await standOf(t);
  see(['192.0.2.1']);
  expect(A('{ prefixes: [198.51.100.0/24] }'));
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.1 instead of within 198.51.100.0/24`]);
  expect(A('{ prefixes: [198.51.100.0/24] }, TXT: { values: [x] }'));
  assert.deepEqual(
    [told(), stateOf()],
    [[`${NAME} TXT is not as expected: no records instead of x`], ['unexpected', 'unexpected']],
  );
  expect(A('{ prefixes: [192.0.2.0/24] }'));
  assert.deepEqual([told(), stateOf()], [[`${NAME} A is as expected again: 192.0.2.1`], ['expected']]);
  app.store.records.watch(
    [{ hostname: 'new.example.com', unicode: 'new.example.com', registrable_domain: 'example.com' }],
    0,
  );
  expect('names: { new.example.com: { A: { values: [] } } }');
  assert.deepEqual([told(), stateOf()], [[], ['unknown']]);
  assert.deepEqual(removeExpectations(app, ACCOUNT), { expectations: 1, plans: 0 });
  assert.deepEqual(stateOf(), []);
});

test('turns of a rotating set are told once, and an address outside of it at once', async (t) => {
  const { see, expect, told } = await standOf(t);
  const pool = ['10.1.0.1', '10.2.0.1', '10.3.0.1'];
  for (let n = 0; n < 12; n++) see([pool[n % 3] ?? '']);
  expect(A('{ values: [10.1.0.1] }'));
  told();
  for (let n = 0; n < 12; n++) see([pool[n % 3] ?? '']);
  const lines = told();
  assert(lines.length <= 8 && lines.filter((line) => line.includes('again')).length === 4, lines.join('\n'));
  expect(A(`{ values: [${pool}], subset: true }`));
  told();
  for (let n = 0; n < 12; n++) see([pool[n % 3] ?? '']);
  assert.deepEqual(told(), []);
  see(['198.51.100.6']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 198.51.100.6 instead of some of ${pool.join(', ')}`]);
});

test('a planned change is one quiet line with its proof, and then what is expected', async (t) => {
  const { see, expect, plan, told, stateOf, app, clock } = await standOf(t);
  see(['192.0.2.1']);
  expect(A('{ values: [192.0.2.1] }'));
  const { id } = plan(A('{ values: [192.0.2.2] }'), undefined, clock.now + HOUR);
  see(['192.0.2.1']);
  assert.deepEqual(told(), []);
  // Another change within the window is loud.
  see(['192.0.2.7']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.7 instead of 192.0.2.1`]);
  see(['192.0.2.2']);
  assert.deepEqual(told(), [`${NAME} A changed as planned: 192.0.2.2`]);
  const [item] = planRow(app, requirePlan(app, ACCOUNT, id)).items;
  const host = app.store.records.find(NAME);
  assert(host?.seq && item);
  assert.equal(item.state, 'done');
  assert.equal(item.receipt, app.store.records.observationBySeq(host.id, host.seq)?.receipt);
  see(['192.0.2.2']);
  assert.deepEqual([told(), stateOf()], [[], ['expected']]);
  see(['192.0.2.1']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.1 instead of 192.0.2.2`]);
  clock.now += 2 * HOUR;
  missPlans(app.store.records.expectations, clock.now);
  assert.deepEqual(told(), []);
});

test('without an expectation, what is answered now is expected until a planned change', async (t) => {
  const { see, plan, told, clock } = await standOf(t);
  see(['192.0.2.1']);
  plan(A('{ values: [192.0.2.2] }'), undefined, clock.now + HOUR);
  see(['192.0.2.1']);
  assert.deepEqual(told(), []);
  see(['192.0.2.3']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.3 instead of 192.0.2.1`]);
});

test('a window that ends without the change is told once, by the first answer after it or an hour later', async (t) => {
  const { see, plan, told, clock, app, enter } = await standOf(t);
  see(['192.0.2.1']);
  plan(A('{ values: [192.0.2.2] }'), undefined, clock.now + HOUR);
  clock.now += HOUR + 5 * MINUTE;
  see('servfail');
  // Unknown says nothing yet.
  assert.deepEqual(told(), []);
  see(['192.0.2.1']);
  assert.deepEqual(told(), [`${NAME} A did not change as planned: 192.0.2.1 instead of 192.0.2.2`]);
  see(['192.0.2.2']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.2 instead of 192.0.2.1`]);
  // The first answer after the end counts: when the change was made, nobody can tell.
  plan(A('{ values: [192.0.2.4] }'), undefined, clock.now + HOUR);
  clock.now += HOUR + 5 * MINUTE;
  see(['192.0.2.4']);
  assert.deepEqual(told(), [`${NAME} A changed as planned: 192.0.2.4`]);
  plan(A('{ values: [192.0.2.5] }'), undefined, clock.now + HOUR);
  clock.now += HOUR + PLAN_GRACE - 1;
  missPlans(app.store.records.expectations, clock.now);
  assert.deepEqual(told(), []);
  clock.now += 1;
  for (let n = 0; n < 2; n++) missPlans(app.store.records.expectations, clock.now);
  assert.deepEqual(told(), [`${NAME} A did not change as planned: nothing known instead of 192.0.2.5`]);
  enter(probe(NAME, clock.now, { A: ['192.0.2.5'] }));
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.5 instead of 192.0.2.4`]);
});

test('windows: their order, length and overlaps; a clock that goes back ends none', async (t) => {
  const { see, plan, told, clock, app } = await standOf(t);
  see(['192.0.2.1']);
  const text = A('{ values: [192.0.2.2] }');
  const now = clock.now;
  const refused = (from: number | undefined, until: number, code: string, words: RegExp) =>
    assert.throws(() => plan(text, from, until), { code, message: words });
  refused(undefined, now, 'invalid_request', /^until: .* is over; it is /);
  refused(now + HOUR, now + HOUR, 'invalid_request', /^until: .* is not after from/);
  refused(now, now + WINDOW_MAX + 1, 'invalid_request', /^until: the window is longer than 7 days/);
  refused(now + 400 * 24 * HOUR, now + 401 * 24 * HOUR, 'invalid_request', /^from: .* more than a year ahead/);
  const first = plan(text, now + HOUR, now + 2 * HOUR);
  refused(undefined, now + HOUR + 1, 'conflict', new RegExp(`names\\.${NAME}\\.A: plan ${first.id} is of the same`));
  plan(text, now + 2 * HOUR, now + 3 * HOUR);
  plan(A('{ values: [] }').replace('A:', 'AAAA:'), now + HOUR, now + 2 * HOUR);
  // The name is probed as its window opens, and every ten minutes from then on.
  const dueIn = () => (app.store.records.find(NAME)?.due_at ?? 0) - clock.now;
  see(['192.0.2.1']);
  assert.equal(clock.now + dueIn(), now + HOUR);
  clock.now = now + HOUR;
  see(['192.0.2.1']);
  assert.equal(dueIn(), 10 * MINUTE);
  clock.now = now + 2 * HOUR - 3 * MINUTE;
  see(['192.0.2.1']);
  assert.equal(clock.now + dueIn(), now + 2 * HOUR);
  told();
  clock.now = now - 30 * 24 * HOUR;
  missPlans(app.store.records.expectations, clock.now);
  assert.deepEqual(told(), []);
});

test('two accounts expect of one name what they like; one that is deleted is told nothing', async (t) => {
  const { see, expect, told, app, clock } = await standOf(t);
  see(['192.0.2.1']);
  const other = app.store.records.accounts.ofEmail('ben@example.org', { id: 'account-2', plan: 'daily', made_at: 0 });
  putExpectations(app, other.id, readDocument(A('{ values: [192.0.2.2] }'), knownNames(app)));
  expect(A('{ values: [192.0.2.1] }'));
  see(['192.0.2.2']);
  assert.deepEqual(told(), [`${NAME} A is not as expected: 192.0.2.2 instead of 192.0.2.1`]);
  const lines = app.store.records.expectations.events(other.id, 10).map(eventLine);
  assert.deepEqual(lines, [
    `${NAME} A is as expected again: 192.0.2.2`,
    `${NAME} A is not as expected: 192.0.2.1 instead of 192.0.2.2`,
  ]);
  app.store.records.accounts.remove(other.id);
  see(['192.0.2.3']);
  assert.deepEqual(app.store.records.expectations.events(other.id, 10), []);
  app.store.records.optOut({ hostname: NAME, registrable_domain: 'example.com' }, 'asked', 'test', clock.now);
  assert.deepEqual(app.store.records.expectations.events(ACCOUNT, 10), [], 'nothing of a name that opted out');
});

test('an origin is expected where there is a table; without it, changes are alerts as ever', async (t) => {
  const { see, app, stateOf, told }: Stand & Awaited<ReturnType<typeof standOf>> = await standOf(t);
  see(['192.0.2.1']);
  const { records } = app.store;
  const fresh = { now: 0, newId, allowsPrivate: false, requireHost: () => NAME };
  makeAlert(records, ACCOUNT, { group: '', hostname: NAME, way: 'instant', url: '' }, fresh);
  const names = readDocument(A('{ as: [64500] }'), { hasOrigins: true, refusal: () => null });
  putExpectations(app, ACCOUNT, names);
  see(['192.0.2.2']);
  assert.deepEqual([told(), stateOf()], [[], ['unknown']]);
  const alerts = () => records.changeQueue.alertsFor(NAME, 1, 'A').length;
  assert.equal(alerts(), 1, 'nothing else would tell of the change');
  // The operator's table was there, and is taken away.
  const [one] = records.expectations.ofAccount(ACCOUNT);
  assert(one);
  records.expectations.put({ ...one, state: 'expected', since: 1, observation: 1, seen: ['192.0.2.2'] });
  assert.equal(alerts(), 0);
  see(['192.0.2.3']);
  assert.deepEqual([told(), stateOf(), alerts()], [[], ['unknown'], 1]);
});

test('settled plans give way to new ones, and those that wait are of no more names than an account may watch', async (t) => {
  const { see, plan, app, clock } = await standOf(t);
  see(['192.0.2.1']);
  const { records } = app.store;
  for (let n = 0; n < PLANS_MAX; n++) {
    plan(A('{ values: [192.0.2.1] }'), undefined, clock.now + HOUR);
    see(['192.0.2.1']);
  }
  const old = records.expectations.plans(ACCOUNT);
  const { id } = plan(A('{ values: [192.0.2.2] }'), undefined, clock.now + HOUR);
  const left = records.expectations.plans(ACCOUNT).map((one) => one.id);
  assert.equal(left.length, PLANS_MAX);
  assert(left.includes(id) && !left.includes(old.at(-1)?.id ?? ''));

  const cap = app.settings.watchCaps.daily;
  const hosts = Array.from({ length: cap }, (_, n) => `n${n}.example.com`);
  records.watch(
    hosts.map((hostname) => ({ hostname, unicode: hostname, registrable_domain: 'example.com' })),
    0,
  );
  const many = (some: string[]) => `names: { ${some.map((name) => `${name}: { A: { values: [] } }`).join(', ')} }`;
  plan(many(hosts.slice(1)), undefined, clock.now + HOUR);
  assert.throws(() => plan(many(hosts.slice(0, 1)), undefined, clock.now + HOUR), {
    code: 'conflict',
    message: new RegExp(`^names: planned changes would wait for ${cap + 1} names, and your plan has room for ${cap}`),
  });
  plan(many(hosts.slice(1, 2)).replace('A:', 'TXT:'), undefined, clock.now + HOUR);
});

test('an address with a zone is no value, which no answer could have', async (t) => {
  const { see, expect } = await standOf(t);
  see(['192.0.2.1']);
  for (const rule of ['{ values: ["fe80::1%eth0"] }', '{ prefixes: ["fe80::1%eth0/64"] }']) {
    assert.throws(() => expect(A(rule).replace('A:', 'AAAA:')), { code: 'invalid_request', message: /fe80::1%eth0/ });
  }
});

test('a value that no answer could have is refused: answers are ASCII, with escapes', async (t) => {
  const { see, expect } = await standOf(t);
  see(['192.0.2.1']);
  for (const rule of [
    'TXT: { values: ["Å"] }',
    'TXT: { prefixes: ["v=Å"] }',
    'NS: { values: ["ns.bücher.example"] }',
  ]) {
    const words = /(?:is not a value of|begins no value of) \w+; write it as answers have it/;
    assert.throws(() => expect(`names: { ${NAME}: { ${rule} } }`), { code: 'invalid_request', message: words });
  }
  expect(`names: { ${NAME}: { TXT: { values: ['\\195\\133'] } } }`);
});

test('a line about an expectation is short, whatever was answered and expected', () => {
  const certificate = `${'0'.repeat(64)} 2026-12-01T00:00:00Z C=US, O=Let's Encrypt, CN=R3`;
  const event = {
    ...({ n: 1, account: ACCOUNT, hostname: NAME, kind: 'unexpected', at: 0, observation: 1, plan: null } as const),
    ...({
      signal: 'TXT',
      expected: { values: Array.from({ length: 100 }, (_, n) => `${n} ${'x'.repeat(4_000)}`) },
    } as const),
  };
  const long = eventLine({ ...event, seen: ['y'.repeat(65_000), '\u{1f600}'.repeat(90)] });
  assert(long.length < 700 && long.isWellFormed() && long.endsWith(' and 95 more'), long);
  assert.equal(
    eventLine({ ...event, signal: 'CERTIFICATE', seen: [certificate], expected: { issuers: ['DigiCert'] } }),
    `${NAME} CERTIFICATE is not as expected: Let's Encrypt until 2026-12-01 instead of issued by DigiCert`,
  );
});
