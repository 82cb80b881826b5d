import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openServerLog } from '../../src/app/server-log.ts';
import { openSigning } from '../../src/cmd/serve/signing.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

const logger = openServerLog('silent');
const clock = { now: Date.now() };
const leaseOf = (id: string) =>
  JSON.stringify({ broadsheet: 1, holder: { id, name: id }, beat: 0, heads: { desk: null, records: null } });

test('a server whose lease is lost while it starts learns it as soon as it asks', async (t) => {
  const [folder, place] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: place, LEASE_TIME: '1s' });
  const signing = await openSigning(app, logger);
  writeFileSync(join(place, 'signer.json'), leaseOf('another'));
  await signing.ended;
  assert.throws(() => app.signer.assertHeld(), /nothing is signed here: another server has taken the lease/);
  await signing.stop();
});

test('a server that gets the lease late and cannot read its key stops, and no job begins', async (t) => {
  const [folder, place] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: place, LEASE_TIME: '3s' });
  writeFileSync(join(place, 'signer.json'), leaseOf('a server that was killed'));
  mkdirSync(join(folder, 'var'), { recursive: true });
  writeFileSync(join(folder, 'var/door.key'), 'not a key');
  const signing = await openSigning(app, logger);
  const stop = signing.startJob(() => assert.fail('a job began'));
  await signing.ended;
  await stop();
  await signing.stop();
});

test('a server whose job cannot be started with a late lease stops', async (t) => {
  const [folder, place] = [tempFolder(t), tempFolder(t)];
  const app = appContextIn(t, folder, clock, { LEASE_URL: place, LEASE_TIME: '1s' });
  const signing = await openSigning(app, logger);
  signing.startJob(() => {
    throw new Error('no such job');
  });
  await signing.ended;
  await signing.stop();
});
