import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY, isoTime } from '../../src/proof/time.ts';
import { REST } from '../../src/shared/workers/poll.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { archiveAll, folderPlace, NAMES, observeDays } from '../support/archive.ts';
import { run } from '../support/program.ts';
import { send } from '../support/send.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { standIn, within } from './fixture.ts';
import { documented, span } from './table.ts';

const DAYS = 3;

test('an archive that is away when the server starts stops observations, and nothing else', {
  skip: ONLY_WIDE,
}, async (t) => {
  const [folder, archive] = [tempFolder(t), join(tempFolder(t), 'archive')];
  const env = { ARCHIVE_URL: archive };
  const clock = { now: Math.floor(Date.now() / DAY) * DAY - DAYS * DAY + DAY / 2 };
  const first = isoTime(clock.now + 60_000);
  const app = appContextIn(t, folder, clock, env);
  observeDays(app, clock, DAYS);
  clock.now = Date.now();
  mkdirSync(archive);
  await archiveAll(app, folderPlace(archive));
  app.close();
  renameSync(archive, `${archive}.away`);

  const stand = await standIn(t, folder, env);
  const { records, url } = stand.serving;
  const name = NAMES[0] ?? '';
  const page = (path: string) => send(records, { path: `/t/${name}${path}` });
  const readers = await stand.reading();
  const writers = await stand.filing('while-away');
  const [now, then] = [await page(''), await page(`?as_of=${first}`)];
  assert.ok(Number(then.headers['retry-after']) > 0);
  const message = 'observations wait until the archive can be read; retrying';
  assert.ok(await within(20_000, () => stand.seen(/observations wait until the archive can be read/)));
  assert.ok(await within(60_000, () => stand.seen(/archiving failed; retrying/)));
  const signing = async () =>
    JSON.parse((await send(records, { path: '/health' })).text).signing as { why: string | null };
  assert.equal((await signing()).why, 'archive');
  assert.equal((await send(records, { path: '/ready' })).status, 200);
  const scan = await run(t, folder, ['scan', name], { ...env, ORIGIN: url, DATA_ORIGIN: records });
  assert.match(scan.stderr, /has no manifest\.json, and this database has archived observations/);
  const { stdout } = await run(t, folder, ['doctor', '--json'], { ...env, ORIGIN: url, DATA_ORIGIN: records });
  const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string }[] };
  assert.equal(findings.find((one) => one.name === 'archive')?.state, 'fault');
  renameSync(`${archive}.away`, archive);
  assert.ok(await within(3 * REST, async () => (await signing()).why === null));
  assert.equal((await page(`?as_of=${first}`)).status, 200);
  await stand.assertKept(['while-away']);
  documented({
    failure: 'Archive away at the start',
    readers: `${readers}; a record: ${now.status}; an earlier one, its series, provenance or export: ${then.status} with \`Retry-After\`, not charged, and never a shorter list`,
    writers: `${writers}; a probe waits`,
    told: `\`/health\` of the records: \`signing\` \`archive\`; \`doctor\`: archive; log: “${message}” and “archiving failed; retrying”`,
    after: `the archive is looked at after ${span(REST)}, and probes are signed; it is archived after 10 minutes`,
  });
});
