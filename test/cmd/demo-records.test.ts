import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseHostname } from '../../src/records/hostname.ts';
import { DEMO_NAMES, demoAnswer } from '../../src/records/probe/demo-zone.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { tempFolder } from '../support/app-context.ts';
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

  const resolver = createResolver({ servers: [{ address: '127.0.0.1', port }] });
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

test('the invented names are hostnames, and some of them change at every step', () => {
  assert.equal(DEMO_NAMES.length, 12);
  for (const name of DEMO_NAMES) assert.equal(parseHostname(name).hostname, name);
  const at = (step: number) =>
    DEMO_NAMES.flatMap((name) => ['', '_dmarc.', 'www.'].map((before) => `${before}${name}`)).map((name) =>
      JSON.stringify(['A', 'AAAA', 'NS', 'MX', 'TXT', 'CAA'].map((type) => demoAnswer(name, type, step).records)),
    );
  for (let step = 0; step < 60; step++) assert.notDeepEqual(at(step), at(step + 1), `step ${step}`);
});

test('`demo records` refuses a time that it cannot keep', async (t) => {
  const { code, stderr } = await run(t, tempFolder(t), ['demo', 'records', '--every', '2h']);
  assert.equal(code, 1);
  assert.match(stderr, /--every 2h: give a time from 1s to 60m, such as 30s or 5m/);
});
