import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/proof/time.ts';
import {
  addHosts,
  makeGroup,
  unwatchAbandoned,
  WATCH_LINGERS,
  watchedBy,
} from '../../src/records/accounts/watching.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { hostReader } from '../../src/records/require-host.ts';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';

const NOW = Date.UTC(2026, 10, 21, 9);

/** A database with accounts that may each have three hostnames, and what they do. */
function stand(t: { after(work: () => unknown): void }) {
  const clock = { now: NOW };
  const app = appContextIn(t, tempFolder(t), clock);
  const account = (email: string) =>
    app.store.records.accounts.ofEmail(email, { id: newId(), plan: 'daily', made_at: clock.now }).id;
  const group = (of: string, name = 'Ours') => makeGroup(app.store.records, of, name, { now: clock.now, newId });
  const putIn = (to: ReturnType<typeof group>, names: string[], by: AppContext = app) =>
    addHosts(by.store.records, to, names, { cap: 3, hosts: hostReader(by), now: clock.now }).map(
      ({ outcome }) => outcome,
    );
  const takeOut = (from: ReturnType<typeof group>, names: string[]) => {
    for (const name of names) app.store.records.watchGroups.take(from, name, clock.now);
  };
  const stateOf = (...names: string[]) => names.map((name) => app.store.records.find(name)?.state);
  return { app, clock, account, group, putIn, takeOut, stateOf };
}

const FIRST = ['a.example', 'b.example', 'c.example'];
const SECOND = ['d.example', 'e.example', 'f.example'];

test('an account never causes more hostnames to be watched than its plan has room for', (t) => {
  const { app, account, group, putIn, takeOut } = stand(t);
  const ada = account('ada@example.org');
  const ours = group(ada);
  assert.deepEqual(putIn(ours, FIRST), ['added', 'added', 'added']);
  takeOut(ours, FIRST);
  assert.deepEqual(watchedBy(app.store.records, ada), { watched: 0, lingering: 3 });
  assert.deepEqual(putIn(ours, SECOND), ['added', 'added', 'added']);
  assert.equal(app.store.records.counts().watched, 3);
  assert.deepEqual(watchedBy(app.store.records, ada), { watched: 3, lingering: 0 });
  assert.deepEqual(putIn(ours, ['g.example']), ['refused']);
});

test('the hostname that lingers longest gives up its place, and one that is put back keeps its', (t) => {
  const { clock, account, group, putIn, takeOut, stateOf } = stand(t);
  const ours = group(account('ada@example.org'));
  putIn(ours, FIRST);
  for (const name of FIRST) {
    takeOut(ours, [name]);
    clock.now += 1;
  }
  putIn(ours, ['a.example', 'd.example']);
  assert.deepEqual(stateOf(...FIRST, 'd.example'), ['watched', 'paused', 'watched', 'watched']);
  // What was given up comes back like any other, and its history is there.
  putIn(ours, ['b.example']);
  assert.deepEqual(stateOf(...FIRST, 'd.example'), ['watched', 'watched', 'paused', 'watched']);
});

test('a hostname that no account watches any more is probed for 30 days and keeps its history', (t) => {
  const { app, clock, account, group, putIn, takeOut, stateOf } = stand(t);
  const ours = group(account('ada@example.org'));
  putIn(ours, FIRST);
  recordProbes(app, clock, [probe('a.example', clock.now, { A: ['192.0.2.1'] })]);
  takeOut(ours, FIRST);
  clock.now += WATCH_LINGERS - 1;
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now), []);
  putIn(ours, ['c.example']);
  clock.now += 1;
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now), ['a.example', 'b.example']);
  assert.deepEqual(stateOf(...FIRST), ['paused', 'paused', 'watched']);
  const host = app.store.records.find('a.example');
  assert.ok(host !== null && app.store.records.observation(host.id) !== null);
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now + DAY), []);
  // A group that is removed releases what it held; an account that is deleted leaves at once.
  app.store.records.watchGroups.remove(ours.account, ours.id, clock.now);
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now + 1), []);
  app.store.records.accounts.remove(ours.account);
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now + 1), ['c.example']);
});

test('an account cannot end the watch of an operator or of another account', (t) => {
  const { app, clock, account, group, putIn, takeOut, stateOf } = stand(t);
  const { records } = app.store;
  const [ada, ben] = [account('ada@example.org'), account('ben@example.org')];
  const [ours, theirs] = [group(ada), group(ben)];
  records.watch([parseHostname('a.example')], clock.now);
  putIn(ours, FIRST);
  records.watch([parseHostname('b.example')], clock.now);
  putIn(theirs, ['c.example']);
  takeOut(ours, FIRST);
  assert.deepEqual(watchedBy(app.store.records, ada), { watched: 0, lingering: 0 }, 'others cause them to be watched');
  putIn(ours, SECOND);
  clock.now += 2 * WATCH_LINGERS;
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now), []);
  assert.deepEqual(stateOf(...FIRST), ['watched', 'watched', 'watched']);
  // The last to take a hostname out is the one who causes it to linger.
  takeOut(theirs, ['c.example']);
  assert.deepEqual([watchedBy(app.store.records, ada).lingering, watchedBy(app.store.records, ben).lingering], [0, 1]);
  // An operator's pause is no end that a group could undo, and resuming it is the operator's decision too.
  records.pause('c.example');
  assert.deepEqual(putIn(theirs, ['c.example']), ['refused']);
  records.watch([parseHostname('c.example')], clock.now);
  assert.deepEqual(putIn(theirs, ['c.example']), ['added']);
  takeOut(theirs, ['c.example']);
  assert.deepEqual(unwatchAbandoned(app.store.records, clock.now + 2 * WATCH_LINGERS), []);
});

test('daily additions are limited across all processes', (t) => {
  const { app, clock, account, group, putIn, takeOut } = stand(t);
  const elsewhere = openAppContext(app.settings, () => clock.now);
  t.after(() => elsewhere.close());
  const ours = group(account('ada@example.org'));
  for (let n = 0; n < 12; n++) {
    assert.deepEqual(putIn(ours, [`churn-${n}.example`], n % 2 === 0 ? app : elsewhere), ['added']);
    takeOut(ours, [`churn-${n}.example`]);
  }
  for (const by of [app, elsewhere]) {
    assert.throws(() => putIn(ours, ['one-more.example'], by), /you added 12 hostnames to your groups today/);
  }
  assert.equal(app.store.records.counts().watched, 3);
  clock.now += DAY;
  assert.deepEqual(putIn(ours, ['one-more.example']), ['added']);
});
