import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { freePort } from '../support/free-port.ts';
import { run } from '../support/program.ts';
import { smtpServer } from '../support/smtp.ts';

interface Finding {
  name: string;
  state: string;
  found: string;
  cure?: string;
}

async function examined(t: TestContext, folder: string, env: Record<string, string>) {
  const { code, stdout, stderr } = await run(t, folder, ['doctor', '--json'], env);
  assert.equal(stderr, '');
  const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] };
  assert.equal(code, healthy ? 0 : 1);
  const of = (name: string): Finding => findings.find((finding) => finding.name === name) as Finding;
  for (const { state, cure } of findings) assert.equal(state === 'fault', cure !== undefined, 'a fault has its cure');
  return { healthy, of, names: findings.map(({ name }) => name), stdout };
}

/** Makes the database and the key, as a first start does. */
function found(folder: string): void {
  const app = openAppContext(readSettings(envIn(folder)));
  app.signer.open();
  app.close();
}

/** A facilitator that says what it supports. */
async function facilitator(t: TestContext, body: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const PAID = {
  X402_PAY_TO: `0x${'1'.repeat(40)}`,
  X402_NETWORK: 'base-sepolia',
  X402_ASSET: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
};

test('a sound installation is reported as such, and nothing is created', { skip: WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  const knot = await startKnot(join(folder, 'knot'), [{ name: 'com', lines: [] }]);
  t.after(knot.stop);
  const smtp = await smtpServer(t);
  const url = await facilitator(
    t,
    JSON.stringify({ kinds: [{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' }] }),
  );
  const env = {
    RESOLVERS: `127.0.0.1:${knot.port}`,
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    MAIL_FROM: 'desk@example.org',
    X402_FACILITATOR_URL: url,
    ...PAID,
  };
  const before = await examined(t, folder, env);
  assert.ok(before.healthy, before.stdout);
  assert.equal(before.of('database').state, 'open');
  found(folder);
  const after = await examined(t, folder, env);
  assert.ok(after.healthy, after.stdout);
  assert.deepEqual(
    ['settings', 'database', 'door key', 'mail server', 'resolver', 'payments'].map((name) => after.of(name).state),
    Array(6).fill('holds'),
  );
  assert.equal(smtp.taken.length, 0, 'nothing was sent');
  assert.ok(smtp.connections() > 0);
});

test('each fault is named with its cure', { skip: WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  found(folder);
  const knot = await startKnot(join(folder, 'knot'), [{ name: 'example.com', lines: ['a A 192.0.2.1'] }]);
  t.after(knot.stop);
  const key = join(folder, 'var/door.key');
  renameSync(key, `${key}.away`);
  const smtp = await smtpServer(t);
  const taken = createServer((_, response) => response.end('something else')).listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => void taken.close());
  const broken = {
    RESOLVERS: `127.0.0.1:${knot.port}`,
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    MAIL_FROM: 'desk@example.org',
    RECORDS_PORT: String((taken.address() as AddressInfo).port),
    X402_FACILITATOR_URL: await facilitator(t, JSON.stringify({ kinds: [{ scheme: 'exact', network: 'base' }] })),
    ...PAID,
  };
  await smtp.close();
  const { healthy, of } = await examined(t, folder, broken);
  assert.ok(!healthy);
  assert.match(of('door key').cure ?? '', /restore it from a backup/);
  assert.match(of('resolver').found, /refused/);
  assert.match(of('mail server').found, /ECONNREFUSED/);
  assert.match(of('port of the records').found, /taken by another program/);
  assert.match(of('payments').found, /does not serve base-sepolia/);
  assert.equal(of('database').state, 'holds');

  renameSync(`${key}.away`, key);
  chmodSync(key, 0o644);
  const file = join(folder, 'var/broadsheet.db');
  for (const part of ['-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
  writeFileSync(file, 'no database at all, but long enough to be read as one'.repeat(100));
  const worse = await examined(t, folder, {
    ...broken,
    PORT: broken.RECORDS_PORT,
    X402_FACILITATOR_URL: await facilitator(t, '<html>'),
  });
  assert.match(worse.of('database').found, /not a sound database/);
  assert.match(worse.of('door key').cure ?? '', /chmod 600/);
  for (const name of ['port of the desk', 'port of the records'])
    assert.match(worse.of(name).found, /PORT and RECORDS_PORT are both/);
  assert.match(worse.of('payments').found, /not with what it supports/);
});

test('doctor says whether credits can be sold, which takes a node of the payment chain', async (t) => {
  const folder = tempFolder(t);
  const env = { RESOLVERS: '127.0.0.1:9', X402_FACILITATOR_URL: 'http://127.0.0.1:9', ...PAID };
  const check = async (rpc?: string) =>
    (await examined(t, folder, { ...env, ...(rpc === undefined ? {} : { X402_RPC_URL: rpc }) })).of('sale of credits');
  const blind = await check();
  assert.equal(blind.state, 'open');
  assert.match(blind.found, /^X402_RPC_URL is not set: credits are not sold/);
  const chain = (id: string) => facilitator(t, JSON.stringify({ jsonrpc: '2.0', id: 1, result: id }));
  assert.equal((await check(`${await chain('0x14a34')}/secret`)).state, 'holds');
  for (const [url, found] of [
    [`${await chain('0x1')}/secret`, /is a node of chain 1, and base-sepolia is eip155:84532$/],
    ['http://127.0.0.1:9/secret', /ECONNREFUSED|bad port/],
    [`${await facilitator(t, '<html>')}/secret`, /does not say which chain it is on/],
  ] as const) {
    const finding = await check(url);
    assert.equal(finding.state, 'fault');
    assert.match(finding.found, found);
    assert.match(finding.cure ?? '', /X402_RPC_URL/);
    assert.doesNotMatch(finding.found, /secret/, 'an address may hold a key');
  }
});

test('an address whose port nothing listens on is found, and one that leads here is not', async (t) => {
  const folder = tempFolder(t);
  const [listened, named] = [String(await freePort()), String(await freePort())];
  const bare = { RESOLVERS: '127.0.0.1:9', SERVICES: 'desk' };
  const check = async (env: Record<string, string>) => (await examined(t, folder, env)).of('address of the desk');
  assert.equal((await check({ ...bare, PORT: '0' })).state, 'open');
  assert.partialDeepStrictEqual(await check({ ...bare, PORT: listened }), {
    state: 'holds',
    found: `http://localhost:${listened}`,
  });
  const wrong = { ...bare, PORT: listened, ORIGIN: `http://localhost:${named}` };
  assert.partialDeepStrictEqual(await check(wrong), {
    state: 'fault',
    found: `ORIGIN is http://localhost:${named}, and the server listens on port ${listened}, so links in pages, feeds and mails lead nowhere`,
    cure: 'unset ORIGIN, so that it follows PORT, or set it to the address that readers use',
  });
  // In a container a port of the machine may lead to another one inside.
  assert.equal((await check({ ...wrong, HOST: '0.0.0.0' })).state, 'open');
  const proxy = createServer((_, response) => response.setHeader('x-request-id', 'a').end()).listen(Number(named));
  await once(proxy, 'listening');
  t.after(() => void proxy.close());
  assert.equal((await check(wrong)).state, 'holds');
  assert.equal(
    (await check({ ...bare, PORT: listened, ORIGIN: 'https://news.example' })).found,
    'https://news.example',
  );
});

test('an invalid setting is the only finding, and no password is shown', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'var'));
  const { healthy, names, of, stdout } = await examined(t, folder, {
    SCAN_EVERY: 'often',
    SMTP_URL: 'http://ada:tresor@example.org',
  });
  assert.ok(!healthy);
  assert.deepEqual(names, ['settings']);
  assert.match(of('settings').found, /SCAN_EVERY=often/);
  assert.doesNotMatch(stdout, /tresor/);
});

test('a paper in a language without phrases is reported in one line that is not a fault', async (t) => {
  const folder = tempFolder(t);
  const app = openAppContext(readSettings(envIn(folder)));
  app.signer.open();
  for (const [slug, language] of [
    ['quay', 'sv-FI'],
    ['harbor', 'pt-BR'],
  ] as const) {
    const paper = PaperBody.parse({ nameplate: slug, language, sections: ['City'] });
    app.store.database.transact(() => app.store.desk.setPaper(slug, paper, app.clock.now()));
  }
  app.close();
  const { of } = await examined(t, folder, {});
  assert.deepEqual(of('languages'), {
    name: 'languages',
    state: 'open',
    found: 'pages speak English around the pieces of quay (sv-FI); docs/translating.md says how to add a language',
  });
});
