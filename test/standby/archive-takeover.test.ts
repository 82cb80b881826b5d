import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/proof/time.ts';
import { closedBefore } from '../../src/records/jobs/archiver.ts';
import { ALONE } from '../../src/signing/signer.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { NAMES, observeDays } from '../support/archive.ts';
import { freePort } from '../support/free-port.ts';
import { run, serveAtOnce, start, until } from '../support/program.ts';
import { BUCKET, S3Server, storeEnv } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const DAYS = 4;
const MANIFEST = 'records/manifest.json';

test('a standby goes on with the archive of a machine that is gone, and what that one still writes is refused', {
  skip: ONLY_WIDE,
}, async (t) => {
  const store = await S3Server.start(t);
  const { PUBLISH_URL: _, ...access } = storeEnv(store.endpoint);
  const port = await freePort();
  const env = {
    ...access,
    ...{ LEASE_URL: `s3://${BUCKET}/lease`, LEASE_TIME: '4s', ARCHIVE_URL: `s3://${BUCKET}/records` },
    ...{ SERVICES: 'records', RECORDS_PORT: String(port), DATA_ORIGIN: `http://127.0.0.1:${port}`, LOG_LEVEL: 'warn' },
  };
  const [first, copy, backups] = [tempFolder(t), tempFolder(t), tempFolder(t)];
  // Yesterday is not closed yet in the first hour of a day.
  const clock = { now: closedBefore(Date.now()) - DAYS * DAY + DAY / 2 };
  const app = appContextIn(t, first, clock, env);
  app.signer.right = ALONE;
  observeDays(app, clock, DAYS);
  const leaves = app.store.database.log.size('records');
  app.close();

  // The archiver of the first machine is held at its second manifest, and outlives its server.
  const held = Promise.withResolvers<void>();
  let puts = 0;
  let isHeld = false;
  const generations: number[] = [];
  store.intercept = async ({ method, key }, response) => {
    if (method !== 'PUT' || key !== MANIFEST) return false;
    if (++puts === 2) {
      isHeld = true;
      await held.promise;
    }
    response.once('finish', () => {
      if (response.statusCode === 200) generations.push(generationOf(store.bytes(MANIFEST) ?? ''));
    });
    return false;
  };
  const primary = await serveAtOnce(t, first, env);
  await until(() => (isHeld ? true : null));
  const signed = () => JSON.parse(store.bytes('lease/signer.json') ?? '{}').heads?.records?.size ?? 0;
  await until(() => (signed() > leaves ? true : null));
  assert.equal((await run(t, first, ['backup', join(backups, '1.tar.zst')], env)).code, 0);
  primary.child.kill('SIGKILL');
  await primary.ended;

  const again = String(await freePort());
  const moved = { ...env, RECORDS_PORT: again };
  const standby = start(t, copy, ['standby', '--from', backups, '--every', '1s'], moved);
  const status = async () => JSON.parse((await run(t, copy, ['archive', 'status', '--json'], moved)).stdout);
  const all = DAYS * NAMES.length;
  await until(async () => {
    assert.equal(standby.child.exitCode, null, standby.said.log);
    const answer = await fetch(`http://127.0.0.1:${again}/health`).catch(() => null);
    return answer !== null && (await answer.json()).signing.signs === true ? true : null;
  });
  await until(async () => {
    const { through, copies } = await status();
    return through === all && copies > 0 && generations.length > 4 ? true : null;
  });
  const before = store.bytes(MANIFEST);
  held.resolve();
  // Its condition does not hold any more, and it may not sign.
  await until(() =>
    store.received.filter(({ method, key }) => method === 'PUT' && key === MANIFEST).length === puts ? true : null,
  );
  const name = NAMES[0] ?? '';
  const series = await fetch(
    `http://127.0.0.1:${again}/t/${name}?as_of=${new Date(clock.now - 3 * DAY).toISOString()}`,
  );
  assert.equal(series.status, 200);
  standby.child.kill('SIGTERM');
  assert.equal((await standby.ended).code, 0);
  assert.deepEqual(
    generations,
    generations.map((_, n) => n + 1),
    'each manifest follows the one before',
  );
  assert.ok(before !== undefined && generationOf(store.bytes(MANIFEST) ?? '') >= generationOf(before));
  const audit = await run(t, copy, ['audit', '--archive'], moved);
  assert.equal(audit.code, 0, audit.stdout);
  const verified = JSON.parse((await run(t, copy, ['archive', 'verify', '--json'], moved)).stdout);
  assert.deepEqual(verified.faults, []);
});

function generationOf(manifest: string): number {
  return Number(/^\{"note":"archive\/v1\\ngeneration (\d+)/.exec(manifest)?.[1]);
}
