import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSigning } from '../../src/cmd/serve/signing.ts';
import { readSettings } from '../../src/server/env.ts';
import { openServerLog } from '../../src/server/server-log.ts';
import { rightBeside } from '../../src/signing/signer.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const logger = openServerLog('silent');
const clock = { now: Date.now() };
const leaseOf = (id: string) =>
  JSON.stringify({ broadsheet: 1, holder: { id, name: id }, beat: 0, heads: { desk: null, records: null } });

test('a server whose lease is lost while it starts learns it as soon as it asks', async (t) => {
  const [folder, location] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: location, LEASE_TIME: '1s' });
  const signing = await openSigning(app, logger);
  writeFileSync(join(location, 'signer.json'), leaseOf('another'));
  await signing.ended;
  assert.throws(() => app.signer.assertHeld(), /nothing is signed here: another server has taken the lease/);
  await signing.stop();
});

test('a server that gets the lease late and cannot read its key stops, and no job begins', {
  skip: ONLY_WIDE,
}, async (t) => {
  const [folder, location] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: location, LEASE_TIME: '3s' });
  writeFileSync(join(location, 'signer.json'), leaseOf('a server that was killed'));
  mkdirSync(join(folder, 'var'), { recursive: true });
  writeFileSync(join(folder, 'var/door.key'), 'not a key');
  const signing = await openSigning(app, logger);
  const stop = signing.startJob(() => assert.fail('a job began'));
  await signing.ended;
  await stop();
  await signing.stop();
});

test('a server whose job cannot be started with a late lease stops', async (t) => {
  const [folder, location] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: location, LEASE_TIME: '1s' });
  const signing = await openSigning(app, logger);
  signing.startJob(() => {
    throw new Error('no such job');
  });
  await signing.ended;
  await signing.stop();
});

test('an orderly stop voids the note for commands first, and a takeover requires the last leaf', async (t) => {
  const [folder, location] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: location, LEASE_TIME: '60s' });
  const signing = await openSigning(app, logger);
  const command = rightBeside(app.settings);
  command.assertHeld();
  const size = app.store.database.log.size('desk');
  assert.ok(size > 0, 'the key is a leaf');
  await signing.stop();
  assert.throws(() => command.assertHeld(), /no server on this machine holds the lease of LEASE_URL; start one/);
  const { holder, heads } = JSON.parse(readFileSync(join(location, 'signer.json'), 'utf8'));
  assert.deepEqual([holder, heads.desk.size], [null, size]);
  assert.equal(app.store.database.log.lastHead('desk')?.size, size);

  const other = appContextIn(t, tempFolder(t), clock, { LEASE_URL: location, LEASE_TIME: '60s' });
  await assert.rejects(
    openSigning(other, logger),
    /is the lease of a desk whose first signing key is \S+, and this database/,
  );
});

test('no time is longer than a timer can wait', () => {
  for (const name of ['LEASE_TIME', 'SHUTDOWN_GRACE'])
    assert.throws(() => readSettings({ [name]: '365d' }), new RegExp(`${name}=365d: must be .* from [01]s to 1d`));
});
