import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ALONE } from '../../../src/signing/signer.ts';
import { appContextIn, type Clock, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, NOON, observeDays } from '../../support/archive.ts';
import { run } from '../../support/program.ts';

/** The hash of c.example begins with 3e, that of a.example with b8. */
const [EARLY, LATE] = ['c.example', 'a.example'];
const BEFORE = 'a=00-7f@https://a.records.example,b=80-ff@https://b.records.example';
const AFTER = 'c=00-7f@https://c.records.example,b=80-ff@https://b.records.example,a=gone';

interface Node {
  name: string;
  table: string;
  names: string[];
  days: number;
}

/** Observes and archives as a node that is the only one on its lease. */
async function work(t: Scope, archive: string, clock: Clock, { name, table, names, days }: Node): Promise<AppContext> {
  const folder = tempFolder(t);
  const more = { RECORDS_NODES: table, RECORDS_NODE: name, LEASE_URL: tempFolder(t), ARCHIVE_URL: archive };
  const origin = { DATA_ORIGIN: `https://${name}.records.example` };
  const app = appContextIn(t, folder, clock, { ...more, ...origin });
  app.signer.right = ALONE;
  observeDays(app, clock, days, names);
  clock.now += DAY;
  assert.ok(app.archive);
  await archiveAll(app, app.archive);
  return app;
}

test('the history of a name comes out of the archives of all nodes, and verifies', async (t) => {
  const [archive, evidence] = [tempFolder(t), tempFolder(t)];
  const clock = { now: NOON };
  await work(t, archive, clock, { name: 'a', table: BEFORE, names: [EARLY, `www.${EARLY}`], days: 4 });
  const other = { now: NOON };
  await work(t, archive, other, { name: 'b', table: BEFORE, names: [LATE], days: 3 });
  await work(t, archive, clock, { name: 'c', table: AFTER, names: [EARLY], days: 3 });

  const history = (name: string, ...more: string[]) =>
    run(t, tempFolder(t), ['archive', 'history', name, ...more], { ARCHIVE_URL: archive });
  const found = await history(EARLY, '--json', '--evidence', evidence);
  assert.equal(found.stderr, '');
  const { nodes, records, files } = JSON.parse(found.stdout) as {
    nodes: { node: string; observations: number; prev: string | null; keys: string[] }[];
    records: { node: string; domain: string; observed_at: string }[];
    files: string[];
  };
  const said = nodes.map(({ node, observations, prev }) => ({ node, observations, prev }));
  assert.deepEqual(said, [
    { node: 'a', observations: 4, prev: null },
    { node: 'c', observations: 3, prev: null },
  ]);
  assert.deepEqual(records.map(({ node }) => node).join(''), 'aaaaccc');
  const times = records.map(({ observed_at }) => observed_at);
  assert.deepEqual(times, times.toSorted());
  assert.ok(records.every(({ domain }) => domain === EARLY));
  assert.deepEqual(
    files,
    ['a', 'c'].map((node) => join(evidence, `${EARLY}.${node}.evidence.json`)),
  );
  for (const [n, file] of files.entries()) {
    const checked = await run(t, tempFolder(t), ['verify', file, '--vkey', nodes[n]?.keys[0] ?? '']);
    assert.match(checked.stdout, /their signatures and the chain hold, from its beginning/, checked.stderr);
    const strange = await run(t, tempFolder(t), ['verify', file, '--vkey', nodes[1 - n]?.keys[0] ?? '']);
    assert.equal(strange.code, 1, 'each node has a key of its own');
  }
  const lines = (await history(LATE)).stdout;
  assert.match(lines, /^node b: 3 observations, manifest of 2026-.*; its chain begins here$/m);
  assert.match(lines, /^2026-10-29T12:00:00\.000Z {2}no\. 1 {2}A=192\.0\.2\.1 /m);
  const absent = await history('d.example');
  assert.deepEqual([absent.code, absent.stdout], [1, 'the archive has no observation of d.example\n']);
  assert.equal(readFileSync(join(archive, 'nodes/b/manifest.json'), 'utf8').includes('c.records.example'), false);
  const b = { ARCHIVE_URL: archive, LEASE_URL: tempFolder(t), RECORDS_NODES: BEFORE, RECORDS_NODE: 'b' };
  for (const address of [[], [join(archive, 'nodes/b')]]) {
    const { stdout, stderr } = await run(t, tempFolder(t), ['archive', 'verify', ...address], b);
    assert.match(stdout, /manifest \d+, 3 observations: every record, receipt and chain holds/, stderr);
  }
});

test('an object that the manifest names and nobody has is a fault that names it', async (t) => {
  const archive = tempFolder(t);
  await work(t, archive, { now: NOON }, { name: 'a', table: BEFORE, names: [EARLY], days: 3 });
  rmSync(join(archive, 'nodes/a/observations_open'), { recursive: true });
  rmSync(join(archive, 'nodes/a/observations'), { recursive: true });
  const { code, stderr } = await run(t, tempFolder(t), ['archive', 'history', EARLY], { ARCHIVE_URL: archive });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^broadsheet: node a: observations\S+\.parquet was replaced or removed; try again, or restore it\n$/,
  );
});

test('a manifest that its keys did not sign, or none at all, is no history', async (t) => {
  const archive = tempFolder(t);
  const history = () => run(t, tempFolder(t), ['archive', 'history', EARLY], { ARCHIVE_URL: archive });
  const unset = await run(t, tempFolder(t), ['archive', 'history', EARLY], { ARCHIVE_URL: '' });
  assert.match(unset.stderr, /ARCHIVE_URL is not set; set it to a bucket or a folder/);
  assert.match((await history()).stderr, /has no manifest\.json, nor one of a node; correct ARCHIVE_URL/);
  const app = await work(t, archive, { now: NOON }, { name: 'a', table: BEFORE, names: [EARLY], days: 3 });
  const found = await app.archive?.get('manifest.json');
  const text = Buffer.from(found?.bytes ?? []).toString();
  for (const changed of [text.replace(/"rows":\d+/, '"rows":99'), '{}', 'null', 'no JSON']) {
    await app.archive?.put('manifest.json', Buffer.from(changed));
    const { code, stderr } = await history();
    assert.equal(code, 1, changed.slice(0, 40));
    assert.match(stderr, /nodes\/a\/manifest\.json in .*: (it is not|it has no note|it is not JSON)/);
  }
});
