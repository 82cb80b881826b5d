import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { noteBackup } from '../../src/operate/backup/backup-source.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import { DAY, HOUR } from '../../src/proof/time.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { run, serve } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// What doctor says of a server that runs: what its metrics and alerts know.

const OFFLINE = { RESOLVERS: '127.0.0.1:9' };

/** What doctor finds, by name. */
async function examined(folder: string, env: Record<string, string>) {
  const findings = await examine(() => readSettings(envIn(folder, { ...OFFLINE, ...env })));
  const names = findings.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, 'names are unique');
  return { findings, of: (name: string) => findings.find((one) => one.name === name) ?? assert.fail(name) };
}

test('doctor queries the running server, and names late queues', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }]);
  const app = openAppContext(readSettings(envIn(folder)));
  app.store.records.watch([parseHostname('quay.example')], Date.now() - 7 * HOUR);
  app.close();
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const [PORT, RECORDS_PORT, METRICS_PORT] = ports.map(String) as [string, string, string];
  const env = {
    PORT,
    RECORDS_PORT,
    METRICS_PORT,
    LEASE_URL: join(folder, 'lease'),
    PUBLISH_URL: join(folder, 'published'),
  };
  mkdirSync(join(folder, 'lease'));

  const before = await examined(folder, env);
  assert.deepEqual(
    ['server of the desk', 'server of the records', 'metrics', 'lease', 'backups', 'press', 'scanner'].map(
      (name) => before.of(name).state,
    ),
    ['open', 'open', 'holds', 'open', 'open', 'open', 'open'],
  );
  assert.match(before.of('scanner').found, /^1 hostname is due, the first for 7 hours; a server that runs does them$/);

  const serving = await serve(t, folder, env);
  const backup = await run(t, folder, ['backup', join(folder, 'backups/')], env);
  assert.equal(backup.code, 0, backup.stderr);
  const printed = await run(t, folder, ['doctor', '--json'], { ...OFFLINE, ...env });
  assert.ok(printed.stdout.includes(`"found":"http://127.0.0.1:${PORT} is ready`), printed.stdout + printed.stderr);
  const running = await examined(folder, env);
  for (const name of [
    'server of the desk',
    'server of the records',
    'metrics',
    'press',
    'mails',
    'webhooks',
    'lease',
  ]) {
    const { state, found } = running.of(name);
    // A machine with much other work holds a server up.
    assert.ok(state === 'holds' || / is ready, but stalled for /.test(found), `${name}: ${found}`);
  }
  assert.match(running.of('server of the desk').found, /^http:\/\/127\.0\.0\.1:\d+ is ready[;,] /);
  assert.ok((running.of('metrics').figures?.series ?? 0) > 100);
  assert.match(running.of('lease').found, /process \d+ holds it since \S+Z, on this machine$/);
  assert.match(
    running.of('backups').found,
    /^the last one was made at \S+Z, \d+ seconds? ago, and is at \S+\.tar\.zst$/,
  );
  assert.equal(typeof running.of('publish').figures?.waiting_files, 'number');
  assert.deepEqual(running.of('scanner'), {
    name: 'scanner',
    state: 'fault',
    found: '1 hostname is due, the first for 7 hours',
    cure: 'start a scanner: SCANNER is off here',
    figures: { due: 1, oldest_due_seconds: running.of('scanner').figures?.oldest_due_seconds },
  });

  noteBackup({ dataDir: join(folder, 'var') }, { at: Date.now() - 3 * DAY, place: 's3://bucket/today', bytes: 1 });
  const later = await examined(folder, { ...env, METRICS_PORT: String(await freePort()) });
  assert.deepEqual([later.of('backups').state, later.of('metrics').state], ['fault', 'fault']);
  assert.match(later.of('backups').found, /, 3 days ago, and is at s3:\/\/bucket\/today$/);
  assert.match(later.of('metrics').cure ?? '', /restart it with METRICS_PORT set/);
  assert.equal((await serving.stop()).code, 0);
});

test('a server that hangs, is not ready, or is another program is named; so is a public METRICS_HOST', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  let answer: string | null = null;
  const server = createServer((_, response) => {
    if (answer !== null) response.setHeader('content-type', 'application/json').end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const PORT = String((server.address() as AddressInfo).port);
  const hung = await examined(folder, { PORT, SERVICES: 'desk' });
  assert.equal(hung.of('server of the desk').state, 'fault');
  assert.match(hung.of('server of the desk').found, /timeout/i);
  const env = { PORT, SERVICES: 'desk', METRICS_PORT: PORT };
  const said = async (body: object, more = {}) => {
    answer = JSON.stringify(body);
    return examined(folder, { ...env, ...more });
  };
  const broken = await said({ status: 'not_ready', checks: { server: 'ok', database: 'no_answer' } });
  assert.match(broken.of('server of the desk').found, /is not ready: database no_answer$/);
  assert.match(broken.of('metrics').found, /taken by another program/);
  const starting = await said({ status: 'not_ready', checks: { server: 'starting', database: 'ok' } });
  assert.equal(starting.of('server of the desk').state, 'open');
  const slow = { status: 'ready', checks: {}, event_loop_delay_max_ms: 3_600 };
  assert.match((await said(slow)).of('server of the desk').found, /is ready, but stalled for 3600 ms/);
  const full = await said({ status: 'ready', checks: {}, event_loop_delay_max_ms: 1, disk: 'read_only' });
  assert.match(full.of('server of the desk').found, /the disk of \S+ is read-only/);
  const other = await said({ hello: 'world' }, { METRICS_HOST: '8.8.8.8' });
  assert.match(other.of('server of the desk').found, /not as this program does/);
  assert.match(other.of('metrics').found, /METRICS_HOST=8\.8\.8\.8 is a public address/);
});

test('no secret of the settings is shown, and nothing in DATA_DIR changes', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }]);
  const secret = 'tresor';
  const refusing = createServer((_, response) => response.writeHead(403).end()).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  t.after(() => void refusing.close());
  const bucket = `s3://bucket/lease?endpoint=http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const env = {
    SERVICES: 'desk',
    LEASE_URL: bucket,
    PUBLISH_URL: bucket,
    AWS_ACCESS_KEY_ID: `id-${secret}`,
    AWS_SECRET_ACCESS_KEY: secret,
    SMTP_URL: `smtp://ada:${secret}@127.0.0.1:9`,
    MAIL_FROM: 'desk@example.org',
    METRICS_PORT: String(await freePort()),
  };
  const file = join(folder, 'var/backup.last');
  writeFileSync(file, '{"at": "never"');
  const before = treeOf(folder);
  const { findings, of } = await examined(folder, env);
  assert.doesNotMatch(JSON.stringify(findings), new RegExp(secret));
  assert.equal(of('lease').state, 'fault');
  assert.equal(of('backups').state, 'open');
  const kept = (tree: Map<string, string>) => [...tree.keys()].filter((path) => !/-(?:wal|shm)$/.test(path));
  assert.deepEqual(kept(treeOf(folder)), kept(before));
  assert.equal(readFileSync(file, 'utf8'), '{"at": "never"');
});
