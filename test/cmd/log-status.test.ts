import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import type { LogStatus } from '../../src/signing/log/log-status.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { ed25519Witness } from '../support/log.ts';
import { growLog } from '../support/log-leaves.ts';
import { run } from '../support/program.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const ORIGINS = { ORIGIN: 'https://papers.example', DATA_ORIGIN: 'https://records.example' };

test('log status reports leaves, head, the latest response of each witness, and the fence', async (t) => {
  const folder = tempFolder(t);
  const policy = join(folder, 'policy');
  const [w1, w2] = [ed25519Witness('witness.example/w1', 4), ed25519Witness('witness.example/w2', 5)];
  writeFileSync(
    policy,
    `witness w1 ${w1.vkey} https://w1.example/\nwitness w2 ${w2.vkey} https://w2.example/\ngroup both all w1 w2\nquorum both\n`,
  );
  const env = { ...ORIGINS, LOG_POLICY: policy };
  const before = await run(t, folder, ['log', 'status'], ORIGINS);
  assert.deepEqual([before.code, before.stdout], [1, '']);
  assert.match(before.stderr, /there is no database at /);
  assert.ok(!existsSync(join(folder, 'var/log.key')), 'asking makes nothing');

  const app = appContextIn(t, folder, { now: NOON }, env);
  growLog(app, 'records', 300);
  const key = openLogKey(app, 'records');
  signHead(app, 'records', key);
  const tables = app.store.database.log;
  const head = tables.newestHead('records', key.origin)?.checkpoint ?? '';
  app.store.database.transact(() => {
    const told = tables.witness('records', key.origin, w1.vkey);
    tables.setWitness('records', key.origin, { ...told, seen_size: 300, cosigned_size: 300, cosigned_at: NOON });
    const fault = 'the witness did not answer within 10 s';
    const silent = tables.witness('records', key.origin, w2.vkey);
    tables.setWitness('records', key.origin, { ...silent, fault, fault_at: NOON, failures: 3, next_at: NOON });
    tables.setCosigned('records', key.origin, 300, w2.cosign(w1.cosign(head, NOON / 1_000), NOON / 1_000));
  });
  const { stdout } = await run(t, folder, ['log', 'status'], env);
  const root = head.split('\n')[2];
  assert.equal(
    stdout.slice(stdout.indexOf('records:')),
    [
      'records: records.example/log, 300 leaves',
      `  head: 300 leaves, signed 2026-11-20T12:00:00.000Z, ${root}`,
      '  nothing is published yet',
      '  witnessed: 300 leaves, signed 2026-11-20T12:00:00.000Z',
      '  witness w1: cosigned 300 leaves at 2026-11-20T12:00:00.000Z',
      '  witness w2: has cosigned nothing yet; since 2026-11-20T12:00:00.000Z: the witness did not answer within 10 s; asked again at 2026-11-20T12:00:00.000Z',
      '  too few witnesses answer for the quorum',
      '',
    ].join('\n'),
  );
  const findings = async () => JSON.parse((await run(t, folder, ['doctor', '--json'], env)).stdout).findings;
  const found = async () =>
    (await findings()).find(({ name }: { name: string }) => name === 'log of the records') as Record<string, string>;
  assert.deepEqual(await found(), {
    name: 'log of the records',
    state: 'fault',
    found:
      'records.example/log with 300 leaves: too few witnesses answer for the quorum. witness w2 since 2026-11-20T12:00:00.000Z: the witness did not answer within 10 s',
    cure: 'docs/witnesses.md says what to do about each, and a restart asks them all at once',
  });
  app.store.database.transact(() =>
    tables.setFence('records', 'this log has 300 leaves, and w1 has seen 400; restore it'),
  );
  const { logs } = JSON.parse((await run(t, folder, ['log', 'status', '--json'], env)).stdout) as { logs: LogStatus[] };
  assert.equal(logs[1]?.fence, 'this log has 300 leaves, and w1 has seen 400; restore it');
  assert.deepEqual(
    logs[1]?.witnesses?.map(({ name, seen_size }) => [name, seen_size]),
    [
      ['w1', 300],
      ['w2', 0],
    ],
  );
  const fenced = await found();
  assert.deepEqual(
    [fenced.state, fenced.found, fenced.cure],
    ['fault', 'nothing is signed: this log has 300 leaves, and w1 has seen 400', 'restore it'],
  );
});
