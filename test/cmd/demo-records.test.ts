import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeDemoPast } from '../../src/cmd/demo-past.ts';
import { demoVariables } from '../../src/records/demo-records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { demoCertificate } from '../../src/records/probe/demo-certificates.ts';
import { startDemoNameServer } from '../../src/records/probe/demo-name-server.ts';
import { probeDemo } from '../../src/records/probe/demo-prober.ts';
import { DEMO_NAMES, demoAnswer } from '../../src/records/probe/demo-zone.ts';
import { createProber } from '../../src/records/probe/prober.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { run, start, until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const HOST = 'harbor-ledger.example';

test('`demo records` shows the tape, the stream, the time machine and alerts at work', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const url = `http://localhost:${await freePort()}`;
  const demo = start(t, folder, ['demo', 'records', '--every', '1s'], {
    RECORDS_PORT: new URL(url).port,
    // Settings of the real service that must not reach the demonstration.
    DATA_ORIGIN: 'https://records.example.org',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'desk@example.org',
    ...{ LOG_LEVEL: 'error', SERVICES: 'desk,records', SCANNER: 'off' },
  });
  await until(() => {
    assert.equal(demo.child.exitCode, null, demo.said.log);
    return demo.said.stdout.includes('Ctrl-C ends') || null;
  });
  const { stdout } = demo.said;
  assert.match(stdout, /^DEMONSTRATION: these names, their values and their changes are invented/m);
  const key = { 'X-Service-Key': /drs_[\w-]+/.exec(stdout)?.[0] ?? '' };
  const port = Number(/127\.0\.0\.1:(\d+) \(UDP and TCP\)/.exec(stdout)?.[1]);

  const resolver = createResolver({ servers: [{ address: '127.0.0.1', port }], firstWait: 5_000 });
  t.after(() => resolver.close());
  const [short, long, absent, foreign] = await Promise.all([
    resolver.ask(HOST, 'A'),
    resolver.ask('archive.lighthouse-board.example', 'TXT'),
    resolver.ask(`nothing.${HOST}`, 'A'),
    resolver.ask('example.com', 'A'),
  ]);
  assert.deepEqual([short.status, short.transport, short.flags.aa], ['ok', 'udp', true]);
  assert.deepEqual([long.status, long.transport], ['ok', 'tcp']);
  assert.deepEqual([absent.status, foreign.status], ['nxdomain', 'refused']);

  const stream = await fetch(`${url}/v1/stream?domain=${HOST}`, { headers: key });
  const reader = (stream.body ?? assert.fail('a stream')).pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  while (!/^data: .*"signal":"A"/m.test(heard)) heard += (await reader.read()).value ?? assert.fail(heard);
  await reader.cancel();

  const provenance = await fetch(`${url}/v1/domains/${HOST}/provenance`, { headers: key });
  const { items } = (await provenance.json()) as { items: { observed_at: string }[] };
  const values = await Promise.all(
    items.map(async ({ observed_at }) => {
      const record = await fetch(`${url}/v1/domains/${HOST}?as_of=${observed_at}`, { headers: key });
      return ((await record.json()) as { signals: { A: { values: string[] } } }).signals.A.values.join();
    }),
  );
  assert.ok(new Set(values).size > 1, `the time machine has seen a change: ${values}`);

  const page = await (await fetch(`${url}/t/${HOST}`, { headers: { accept: 'text/html' } })).text();
  assert.match(page, /<strong>Demonstration\.<\/strong> These names, their values and their changes are invented/);
  const evidence = `${url}/v1/domains/${HOST}`;
  const verified = await run(t, folder, ['verify', evidence]);
  assert.equal(verified.code, 0, verified.stdout);

  const outbox = join(folder, 'var/demo-records/outbox');
  await until(() => (existsSync(outbox) && readdirSync(outbox).some((name) => name.endsWith('.eml'))) || null);
  assert.deepEqual(readdirSync(join(folder, 'var')), ['demo-records'], 'nothing beside its own folder');

  demo.child.kill('SIGINT');
  const { code, stderr } = await demo.ended;
  assert.deepEqual([code, stderr], [0, '']);
  assert.notEqual((await resolver.ask(HOST, 'A')).status, 'ok', 'the name server has ended too');
});

test('`demo records` takes a free port beside a service at the default one, and has a past with one incident', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const taken = createServer().listen(4322, 'localhost');
  t.after(() => taken.close());
  // Another service of this machine may have it already.
  await once(taken, 'listening').catch(() => {});
  const demo = start(t, folder, ['demo', 'records'], { RECORDS_PORT: '', DATA_ORIGIN: '', LOG_LEVEL: 'error' });
  const url = await until(() => /^ready records=(\S+)/m.exec(demo.said.stdout)?.[1] ?? null);
  assert.notEqual(new URL(url).port, '4322');
  const incident = await until(() => /\/changes\/\d{4}-\d\d-\d\d(?= )/.exec(demo.said.stdout)?.[0] ?? null);
  const page = await (await fetch(`${url}${incident}`, { headers: { accept: 'text/html' } })).text();
  assert.match(page, /ns1\.hasty-parking\.example/);
  assert.match(page, /The owner says/);
  demo.child.kill('SIGINT');
  assert.equal((await demo.ended).code, 0);
  const variables = { DATA_DIR: join(folder, 'var/demo-records'), SERVICES: 'records' };
  const audit = await run(t, folder, ['audit'], variables);
  assert.equal(audit.code, 0, audit.stdout);
});

test('the past of the demonstration goes on from where it ended, and is made again after a kill', {
  skip: ONLY_WIDE,
}, (t) => {
  const dataDir = join(tempFolder(t), 'demo-records');
  const settings = readSettings(envIn(dirname(dataDir), demoVariables(readSettings(envIn(dirname(dataDir))), 53, 60)));
  settings.dataDir = dataDir;
  mkdirSync(`${dataDir}.making`);
  writeFileSync(join(`${dataDir}.making`, 'broadsheet.db'), 'half');
  const now = Date.UTC(2026, 10, 27, 12);
  makeDemoPast(settings, now);
  assert.ok(!existsSync(`${dataDir}.making`));
  const countAt = (at: number) => {
    const app = openAppContext(settings, () => at);
    const { deltas, lastProbeAt } = app.store.records;
    const all = deltas({}, { limit: 500, order: 'oldest' });
    const notes = all.filter((delta) => delta.owner_note).length;
    const heads = [...app.store.database.log.heads('records')].length;
    const found = { changes: all.length, notes, last: lastProbeAt() ?? 0, heads };
    app.close();
    return found;
  };
  const first = countAt(now);
  assert.ok(first.changes > 100 && first.last < now && now - first.last < 2 * 86_400_000, JSON.stringify(first));
  assert.equal(first.notes, 8);
  // Names are probed every other day, at first all on the same ones.
  assert.ok(first.heads > 40, 'a head for each day with observations');
  makeDemoPast(settings, now + 3_600_000);
  assert.deepEqual(countAt(now + 3_600_000), first, 'an hour is a pause');
  makeDemoPast(settings, now + 5 * 86_400_000);
  const later = countAt(now + 5 * 86_400_000);
  assert.ok(later.last > now + 4 * 86_400_000 && later.notes === 8 && later.changes > first.changes);
});

test('the past answers as the name server would have, with certificates that are renewed', {
  skip: ONLY_WIDE,
}, async (t) => {
  const names = await startDemoNameServer((name, type) => demoAnswer(name, type, 0, 50));
  t.after(() => names.close());
  const at = Date.UTC(2026, 9, 8);
  const servers = [{ address: '127.0.0.1', port: names.port }];
  const shake = async (hostname: string) => demoCertificate(hostname, at, 50);
  const prober = createProber({ servers, tlsPrivate: [], now: () => at, shake });
  t.after(() => prober.close());
  for (const name of ['harbor-ledger.example', 'archive.lighthouse-board.example', 'brine-and-barley.example']) {
    const [asked, made] = [await prober.probe(name), probeDemo(name, at, 50, 0)];
    assert.deepEqual(made.certificate, asked.certificate);
    assert.equal(made.wildcard, asked.wildcard);
    for (const [type, { status, values, transport, ttl }] of Object.entries(asked.signals)) {
      const signal = made.signals[type as 'A'];
      assert.deepEqual([signal.status, signal.values, signal.transport, signal.ttl], [status, values, transport, ttl]);
    }
  }
  const [before, after] = [at, at + 60 * 86_400_000].map((time) => demoCertificate('tide-tables.example', time));
  assert.notEqual(before?.certificate?.fingerprint256, after?.certificate?.fingerprint256);
  assert.ok(Date.parse(after?.certificate?.not_after ?? '') > at + 60 * 86_400_000);
});

test('the invented names are hostnames, and some of them change at every step', () => {
  assert.equal(DEMO_NAMES.length, 24);
  for (const name of DEMO_NAMES) assert.equal(parseHostname(name).hostname, name);
  const at = (step: number) =>
    DEMO_NAMES.flatMap((name) => ['', '_dmarc.', 'www.'].map((before) => `${before}${name}`)).map((name) =>
      JSON.stringify(['A', 'AAAA', 'NS', 'MX', 'TXT', 'CAA'].map((type) => demoAnswer(name, type, step).records)),
    );
  for (let step = 0; step < 60; step++) assert.notDeepEqual(at(step), at(step + 1), `step ${step}`);
});

test('the demonstration has no place of the real service', () => {
  const given = {
    ...{ ARCHIVE_URL: '/srv/archive', DUMPS_URL: '/srv/dumps', LEASE_URL: 's3://private/lease' },
    DUMPS_PUBLIC_URL: 'https://cdn.example/dumps/',
  };
  const nodes = { RECORDS_NODES: 'a=00-ff@https://a.example', RECORDS_NODE: 'a', DATA_ORIGIN: 'https://a.example' };
  const settings = readSettings({ ...given, ...nodes, AWS_REGION: 'x', AWS_ENDPOINT_URL: 'https://s3.example' });
  const own = readSettings({ ...given, ...nodes, ...demoVariables(settings, 53, 60) });
  assert.deepEqual(
    [own.dumps?.url, own.dumps?.publicUrl, own.archiveUrl, own.leaseUrl, own.nodes],
    ['/srv/dumps/demo-records', 'https://cdn.example/dumps/demo-records', '/srv/archive/demo-records', null, null],
  );
  const bare = readSettings({ ...given, ...demoVariables(readSettings({}), 53, 60) });
  assert.deepEqual([bare.dumps, bare.archiveUrl], [null, null]);
  const archiveAt = (ARCHIVE_URL: string) => {
    const { archiveUrl } = readSettings({
      ...given,
      ARCHIVE_URL,
      ...demoVariables(readSettings({ ARCHIVE_URL }), 53, 60),
    });
    return archiveUrl;
  };
  const s3 = 's3://private/a%20b/?endpoint=https://s3.example.net&region=x';
  assert.equal(archiveAt(s3), 's3://private/a%20b/demo-records?endpoint=https://s3.example.net&region=x');
  assert.equal(archiveAt('s3://private'), 's3://private/demo-records');
});

test('`demo records` archives its past below ARCHIVE_URL, goes on with it, and leaves the archive of another alone', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const archive = join(folder, 'archive');
  mkdirSync(archive);
  // The process that archives reads the file too.
  writeFileSync(join(folder, '.env'), `ARCHIVE_URL=${archive}\nSERVICES=desk\n`);
  const env = { RECORDS_PORT: '0', LOG_LEVEL: 'error' };
  const served = async (isDone: () => Promise<boolean>) => {
    const demo = start(t, folder, ['demo', 'records'], env, undefined, folder);
    await until(() => {
      assert.equal(demo.child.exitCode, null, demo.said.log);
      return demo.said.stdout.includes('Ctrl-C ends') || null;
    });
    assert.match(demo.said.stdout, /^Its closed days go to \S+archive\/demo-records from now on/m);
    await until(async () => (await isDone()) || null);
    demo.child.kill('SIGINT');
    const { code, stderr } = await demo.ended;
    assert.deepEqual([code, stderr], [0, '']);
  };
  const own = { DATA_DIR: join(folder, 'var/demo-records'), ARCHIVE_URL: join(archive, 'demo-records') };
  const status = async () => JSON.parse((await run(t, folder, ['archive', 'status', '--json'], own)).stdout);
  await served(async () => (await status()).copies > 0);
  const { observations, generation } = await status();
  assert.ok(observations > 24 * 40, `${observations}`);
  assert.deepEqual(readdirSync(archive), ['demo-records']);
  assert.deepEqual(readdirSync(join(folder, 'var')), ['demo-records']);
  const history = await run(t, folder, ['archive', 'history', HOST, '--json'], own);
  assert.ok(JSON.parse(history.stdout).records.length > 40, history.stderr);
  const audit = await run(t, folder, ['audit', '--archive'], own);
  assert.equal(audit.code, 0, audit.stdout);
  await served(async () => (await status()).generation >= generation);

  rmSync(own.DATA_DIR, { recursive: true });
  const before = readFileSync(join(own.ARCHIVE_URL, 'manifest.json'));
  const { code, stderr } = await start(t, folder, ['demo', 'records'], env, undefined, folder).ended;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /manifest\.json in .*demo-records: none of this desk’s keys .* remove what an earlier one left, or unset ARCHIVE_URL/,
  );
  assert.deepEqual(readFileSync(join(own.ARCHIVE_URL, 'manifest.json')), before);
});

test('`demo records` refuses a time that it cannot keep', async (t) => {
  const { code, stderr } = await run(t, tempFolder(t), ['demo', 'records', '--every', '2h']);
  assert.equal(code, 1);
  assert.match(stderr, /--every 2h: give a time from 1s to 60m, such as 30s or 5m/);
});
