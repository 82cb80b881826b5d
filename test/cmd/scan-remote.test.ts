import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseHostname } from '../../src/records/hostname.ts';
import { newId } from '../../src/shared/new-id.ts';
import { tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { run, start, until } from '../support/program.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const HOSTS = 240;

test('two remote scanners, one killed, probe every host once and record what a real server answers', {
  skip: ONLY_WIDE || WITHOUT_SERVERS,
}, async (t) => {
  const folder = tempFolder(t);
  const names = Array.from({ length: HOSTS }, (_, n) => `h${n}`);
  const lines = names.map((name, n) => `${name} 60 IN A 192.0.2.${n}`);
  const knot = await startKnot(join(folder, 'knot'), [{ name: 'example.com', lines }]);
  t.after(knot.stop);
  const stand = await recordsStand(t);
  const { records } = stand.app.store;
  const hosts = names.map((name) => `${name}.example.com`);
  records.watch(hosts.map(parseHostname), stand.clock.now);
  const env = {
    SCANNER_KEY: stand.keyOf('scanner'),
    RESOLVERS: `127.0.0.1:${knot.port}`,
    // Slow enough that the one is killed at its work.
    RESOLVER_RATE: '2500',
  };
  const scanner = () => start(t, folder, ['scan', '--queue', `${stand.url}/`, '--once', '--json'], env);
  const [first, second] = [scanner(), scanner()];
  await until(() => (records.stats(stand.clock.now).leased > 0 && records.observationTotals().count > 0 ? true : null));
  first.child.kill('SIGKILL');
  const { code, stdout, stderr } = await second.ended;
  assert.equal(code, 0, stderr);
  const left = records.stats(stand.clock.now).leased;
  // What the dead one held is due again when its lease ends.
  stand.clock.now += 10 * 60_000;
  const third = await scanner().ended;
  assert.equal(third.code, 0, third.stderr);
  assert.equal(JSON.parse(third.stdout).observed, left);
  assert.ok(JSON.parse(stdout).observed > 0);
  assert.deepEqual(records.observationTotals(), { count: HOSTS, newest: HOSTS });
  for (const [n, host] of hosts.entries()) {
    const found = records.find(host);
    assert.equal(records.observationCount(found?.id ?? 0), 1, host);
    const { record } = records.observation(found?.id ?? 0) ?? {};
    assert.deepEqual(record?.['signals.A']?.values, [`192.0.2.${n}`], host);
  }
});

test('a stopped scanner releases its leases', { skip: ONLY_WIDE || WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  const stand = await recordsStand(t);
  const { records } = stand.app.store;
  records.watch(['a.example.com', 'b.example.com'].map(parseHostname), stand.clock.now);
  // Nobody answers there, and every look takes seconds.
  const env = { SCANNER_KEY: stand.keyOf('scanner'), RESOLVERS: '127.0.0.1:9' };
  const scanner = start(t, folder, ['scan', '--queue', stand.url], env);
  await until(() => (records.stats(stand.clock.now).leased > 0 ? true : null));
  scanner.child.kill('SIGTERM');
  const { code, stdout } = await scanner.ended;
  assert.equal(code, 0);
  assert.match(stdout, /^0 observed/);
  assert.deepEqual(records.stats(stand.clock.now).due, 2);
});

test('a scanner without a key, or with a key of another level, reports it and exits', async (t) => {
  const folder = tempFolder(t);
  const stand = await recordsStand(t);
  const bad = stand.keyOf('account');
  const cases: [args: string[], env: Record<string, string>, words: RegExp][] = [
    [['--queue', stand.url], {}, /SCANNER_KEY is not set/],
    [['--queue', stand.url], { SCANNER_KEY: bad }, /queue\/lease: this route is the operators’/],
  ];
  const ended = await Promise.all(
    cases.map(async ([args, env, words]) => ({ words, args, ...(await run(t, folder, ['scan', ...args], env)) })),
  );
  for (const { code, stderr, words, args } of ended) {
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, words);
    assert.ok(!stderr.includes(bad), 'no message shows the key');
  }
});

test('a queue that fails briefly is retried', { skip: WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  const knot = await startKnot(join(folder, 'knot'), [{ name: 'example.com', lines: [] }]);
  t.after(knot.stop);
  const calls: string[] = [];
  let leases = 0;
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    request.resume();
    // Every other answer is a failure.
    if (calls.length % 2 === 1) {
      response.writeHead(503).end('<html>');
      return;
    }
    const isLease = request.url === '/v1/queue/lease';
    if (isLease) leases++;
    const body = isLease
      ? { lease: newId(), hostnames: leases === 1 ? ['ns.example.com'] : [] }
      : { results: [{ domain: 'ns.example.com', outcome: 'recorded', seq: 1, changes: [] }] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const env = { SCANNER_KEY: 'drs_x', RESOLVERS: `127.0.0.1:${knot.port}` };
  const args = ['scan', '--queue', `http://127.0.0.1:${port}`, '--once', '--json'];
  const { code, stdout, stderr } = await run(t, folder, args, env);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), { observed: 1, changes: 0, lost: 0, refused: 0 });
  assert.ok(calls.length >= 6);
});
