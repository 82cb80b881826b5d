import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AwsClient } from 'aws4fetch';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { dumpIndex } from '../../../src/records/dumps.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { runDumps } from '../../../src/records/jobs/dump-run.ts';
import { eraseName } from '../../../src/records/jobs/erasure.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { tempFolder } from '../../support/app-context.ts';
import { namesByDay, textIn } from '../../support/dumps.ts';
import { without } from '../../support/log-peers.ts';
import { probe } from '../../support/probes.ts';
import { recordsStand } from '../../support/records-fixture.ts';
import { BUCKET, CREDENTIALS, startVersitygw, storeEnv } from '../../support/s3-server.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

/** The end of a month, so that one is closed. */
const START = Date.UTC(2026, 9, 29, 12);
const NAMES = ['a.example', 'www.a.example', 'c.test'];
const DAYS = 4;

test('versitygw holds archive and dumps: written, read by range, withdrawn, erased and kept for a time', {
  skip: ONLY_WIDE || without('versitygw'),
}, async (t) => {
  const folder = tempFolder(t);
  const endpoint = await startVersitygw(t, folder);
  const address = (prefix: string) => `s3://${BUCKET}/${prefix}?endpoint=${endpoint}`;
  const more = {
    ...{ ...storeEnv(endpoint), PUBLISH_URL: '', ARCHIVE_URL: address('records') },
    ...{ DUMPS_URL: address('dumps'), DUMPS_PUBLIC_URL: `${endpoint}/${BUCKET}/dumps`, DUMPS_DAYS: '3' },
  };
  const stand = await recordsStand(t, more, START);
  const { app, clock, url } = stand;
  const authorization = `Bearer ${stand.keyOf('account')}`;
  for (let day = 0; day < DAYS; day++)
    stand.enter(
      ...NAMES.map((name) => probe(name, START + day * DAY, { A: [`192.0.2.${day + 1}`], NS: [`ns.${name}`] })),
    );
  clock.now = START + DAYS * DAY + HOUR;
  const read = async (path: string) => (await fetch(url + path, { headers: { authorization } })).text();
  const PATHS = NAMES.flatMap((name) => [
    ...[`/v1/domains/${name}?as_of=2026-10-30`, `/v1/domains/${name}/series`, `/v1/domains/${name}/provenance`],
  ]);
  const answers = () => Promise.all(PATHS.map(read));
  const before = await answers();
  assert.ok(before.every((text) => text.includes('receipt') || text.includes('items')));

  assert.equal(await runArchiver(app), true);
  assert.equal(app.store.records.observationTotals().count, NAMES.length, 'the others left the database');
  assert.deepEqual(await answers(), before, 'the archive is read by range, and gives the same bytes');

  // Objects are files below the bucket's folder.
  const files = join(folder, 'store', BUCKET, 'dumps');
  assert.equal(await runDumps(app), true);
  const days = ['2026-10-30', '2026-10-31', '2026-11-01'];
  assert.deepEqual(await namesByDay(app, files), Object.fromEntries(days.map((day) => [day, NAMES])));
  await requireRanges(app);

  app.store.records.optOut(parseHostname('c.test'), 'asked', 'cli', clock.now);
  assert.deepEqual(dumpIndex(app).withheld, days.toReversed());
  await runDumps(app);
  assert.ok(!/c\.test|test\.c/.test(await textIn(files)));
  assert.deepEqual(
    dumpIndex(app).days.map(({ day, generation }) => [day, generation]),
    days.toReversed().map((day) => [day, 2]),
  );
  await requireRanges(app);

  eraseName(app, parseHostname('a.example'), 'asked');
  assert.equal(await runArchiver(app), true);
  await runDumps(app);
  assert.ok(!/example/.test(await textIn(files)));
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);

  clock.now += DAY;
  stand.enter(probe('d.test', clock.now, { A: ['192.0.2.9'] }));
  clock.now += DAY;
  await runDumps(app);
  assert.deepEqual(
    Object.keys(await namesByDay(app, files)),
    ['2026-11-01', '2026-11-02', '2026-11-03'],
    'three days are kept',
  );
});

/** Each file is at its address, whole and in ranges. */
async function requireRanges(app: AppContext): Promise<void> {
  const client = new AwsClient({ ...CREDENTIALS, service: 's3', region: 'us-east-1' });
  for (const { url, bytes } of dumpIndex(app).days.flatMap(({ files }) => files)) {
    const whole = Buffer.from(await (await client.fetch(url)).arrayBuffer());
    assert.equal(whole.length, bytes);
    const part = await client.fetch(url, { headers: { range: `bytes=${bytes - 8}-${bytes - 1}` } });
    assert.deepEqual(
      [part.status, part.headers.get('content-range')],
      [206, `bytes ${bytes - 8}-${bytes - 1}/${bytes}`],
    );
    assert.ok(whole.subarray(-8).equals(Buffer.from(await part.arrayBuffer())));
  }
}
