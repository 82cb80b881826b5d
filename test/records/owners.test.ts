import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { afterCheck, newProof, proofText } from '../../src/records/accounts/owner.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { startOwnerChecks } from '../../src/records/jobs/owner-checks.ts';
import { optStateOf, setOpt } from '../../src/records/owners.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { ownerZone } from '../support/owner-zone.ts';
import { serve, until } from '../support/program.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { send } from '../support/send.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const FOUND = { outcome: 'found', detail: 'found' } as const;

test('a server killed in the middle of a check loses no proof, and it is checked again', {
  skip: ONLY_WIDE || WITHOUT_SERVERS,
}, async (t) => {
  const folder = tempFolder(t);
  const silent = await ownerZone(t);
  silent.failing = null;
  const env = { SERVICES: 'records', SCANNER: 'off', LOG_LEVEL: 'info' };
  const server = await serve(t, folder, { ...env, RESOLVERS: `127.0.0.1:${silent.port}` });
  const clock = { now: Date.now() };
  const knot = await startKnot(join(folder, 'knot'), [
    { name: 'example.com', lines: [`_broadsheet TXT "${proofText('x'.repeat(43))}"`] },
  ]);
  t.after(knot.stop);
  const app = openAppContext(
    readSettings(envIn(folder, { ...env, RESOLVERS: `127.0.0.1:${knot.port}` })),
    () => clock.now,
  );
  t.after(() => app.close());
  const { accounts, owners } = app.store.records;
  const { id } = accounts.ofEmail('ada@example.org', { id: newId(), plan: 'daily', made_at: clock.now });
  const begun = newProof(id, parseHostname('example.com'), 'x'.repeat(43), clock.now);
  const { proof } = afterCheck(begun, { txt: FOUND, file: FOUND }, clock.now);
  owners.save({ ...proof, due_at: clock.now });
  // The job leases the proof, and waits for a name server that says nothing.
  await until(() => ((owners.get(id, 'example.com')?.due_at ?? 0) > Date.now() ? true : null));
  await until(() => (silent.heard.length > 0 ? true : null));
  server.child.kill('SIGKILL');
  await server.ended;
  const after = owners.get(id, 'example.com');
  assert.deepEqual({ ...after, due_at: 0 }, { ...proof, due_at: 0 });
  clock.now = after?.due_at ?? 0;
  const stop = startOwnerChecks(app, pino({ level: 'silent' }));
  await until(() => (owners.get(id, 'example.com')?.found_at === clock.now ? true : null));
  await stop();
});

test('what the operator opts out stays so when an owner, who had opted it out before, opts it in', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  const { id } = records.accounts.ofEmail('ada@example.org', { id: newId(), plan: 'daily', made_at: 0 });
  const names = ['example.com', 'www.example.com', 'mail.example.com'];
  records.watch(names.map(parseHostname), clock.now);
  const found = { txt: FOUND, file: FOUND };
  records.owners.save(afterCheck(newProof(id, parseHostname('example.com'), 'x', 0), found, clock.now).proof);
  setOpt(app, id, 'example.com', 'out');
  assert.deepEqual(records.optOut(parseHostname('www.example.com'), 'asked by mail', 'cli', clock.now), []);
  setOpt(app, id, 'example.com', 'in');
  assert.deepEqual(
    names.map((name) => records.find(name)?.state),
    ['watched', 'opted_out', 'watched'],
  );
  assert.equal(optStateOf(app, id, 'www.example.com').by, 'operator');
  assert.deepEqual(records.tableFaults(), []);
});

test('the operator’s pause and an owner’s opt-out are independent: each lasts until its own end', async (t) => {
  const { app, clock, url, keyOf } = await recordsStand(t);
  const { records } = app.store;
  const { id } = records.accounts.ofEmail('ada@example.org', { id: newId(), plan: 'daily', made_at: 0 });
  const names = ['example.com', 'www.example.com', 'mail.example.com'].map(parseHostname);
  records.watch(names, clock.now);
  const found = { txt: FOUND, file: FOUND };
  records.owners.save(afterCheck(newProof(id, parseHostname('example.com'), 'x', 0), found, clock.now).proof);
  const headers = { 'x-service-key': keyOf('operator') };
  const pause = async (name: string) => {
    const { status, text } = await send(url, { method: 'DELETE', path: `/v1/domains/${name}`, headers });
    return [status, JSON.parse(text).outcome ?? JSON.parse(text).error];
  };
  const states = () => names.map(({ hostname }) => records.find(hostname)?.state);
  assert.deepEqual(await pause('example.com'), [200, 'paused']);
  setOpt(app, id, 'example.com', 'out');
  assert.deepEqual(await pause('www.example.com'), [200, 'paused']);
  assert.deepEqual(await pause('www.example.com'), [200, 'already']);
  assert.deepEqual(states(), ['opted_out', 'opted_out', 'opted_out'], 'a pause shows nothing');
  // What the operator watches again stays hidden.
  const [again] = records.watch(names.slice(0, 1), clock.now);
  assert.equal(again?.outcome, 'opted_out');
  setOpt(app, id, 'example.com', 'in');
  assert.deepEqual(states(), ['watched', 'paused', 'watched']);
  assert(records.isPausedByOperator('www.example.com'), 'no group undoes it');
  // What the operator opted out is no more to be paused, nor is what is not there.
  records.optOut(parseHostname('mail.example.com'), 'asked by mail', 'cli', clock.now);
  assert.deepEqual(await pause('mail.example.com'), [404, 'not_found']);
  setOpt(app, id, 'example.com', 'out');
  assert.deepEqual(await pause('never.example.com'), [404, 'not_watched']);
  assert.deepEqual(records.tableFaults(), []);
});

test('hostnames of proven owners are due every hour, and leased before others', async (t) => {
  const { app, clock } = await recordsStand(t);
  const { records } = app.store;
  const others = Array.from({ length: 400 }, (_, n) => parseHostname(`h${n}.zone${n}.test`));
  records.watch(others, clock.now - 10_000);
  records.watch([parseHostname('www.example.com'), parseHostname('example.com')], clock.now - 5_000);
  const queue = localQueue(app, 'test');
  assert.ok(!(await queue.lease(16))?.hostnames.includes('example.com'), 'due later than hundreds of others');
  const { id } = records.accounts.ofEmail('ada@example.org', { id: newId(), plan: 'daily', made_at: clock.now });
  const begun = newProof(id, parseHostname('example.com'), 'x'.repeat(43), clock.now);
  records.owners.save(afterCheck(begun, { txt: FOUND, file: FOUND }, clock.now).proof);
  const group = { id: newId(), account: id, name: 'Ours', made_at: clock.now };
  records.watchGroups.add(group);
  records.owners.hasten(id, 'example.com', clock.now);
  assert.ok((await queue.lease(16))?.hostnames.includes('example.com'));
  // What joins a group of the owner later is prompt at once too.
  records.watchGroups.put(group.id, 'www.example.com', clock.now);
  assert.ok((await queue.lease(16))?.hostnames.includes('www.example.com'));
  assert.equal(records.owners.isOwned(records.find('www.example.com')?.id ?? 0), true);
  assert.equal(records.owners.isOwned(records.find('h1.zone1.test')?.id ?? 0), false);
});
