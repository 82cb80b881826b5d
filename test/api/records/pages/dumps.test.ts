import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { DAY } from '../../../../src/proof/time.ts';
import { dumpIndex } from '../../../../src/records/dumps.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { runDumps } from '../../../../src/records/jobs/dump-run.ts';
import { fileScope, tempFolder } from '../../../support/app-context.ts';
import { type Answer, ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';

const scope = fileScope();
const folder = join(tempFolder(scope), 'dumps');
const NOON = Date.UTC(2026, 10, 20, 12);
let stand: RecordsStand;
let name = '';
let whole: Buffer;

before(async () => {
  stand = await recordsStand(scope, { DUMPS_URL: folder }, NOON);
  stand.enter(probe('a.example', NOON, { A: ['192.0.2.1'] }), probe('b.example', NOON, { A: ['192.0.2.1'] }));
  stand.clock.now = NOON + DAY;
  await runDumps(stand.app);
  name = dumpIndex(stand.app).days[0]?.files[0]?.name ?? '';
  whole = readFileSync(join(folder, name));
});

const file = (headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  ask(stand.url, `/dumps/${name}`, headers, method);

test('a file is sent whole or in part, to every origin', async () => {
  const { status, headers, body } = await file();
  assert.deepEqual([status, body.equals(whole)], [200, true]);
  assert.equal(headers['content-type'], 'application/vnd.apache.parquet');
  assert.equal(headers['content-encoding'], undefined);
  assert.equal(headers['accept-ranges'], 'bytes');
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.match(String(headers['access-control-expose-headers']), /Content-Range.*ETag/);
  assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
  assert.equal(headers['cache-control'], 'public, max-age=60');
  const digest = createHash('sha256').update(whole).digest('base64');
  assert.equal(headers['repr-digest'], `sha-256=:${digest}:`);
  const etag = String(headers.etag);
  assert.match(etag, /^"/, 'a strong one, so that a range may go on');

  const head = await file({}, 'HEAD');
  assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, String(whole.length), '']);
  const part = await file({ range: 'bytes=4-11' });
  assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 4-11/${whole.length}`]);
  assert.ok(part.body.equals(whole.subarray(4, 12)));
  const end = await file({ range: 'bytes=-8' });
  assert.ok(end.body.equals(whole.subarray(-8)));
  const same = await file({ range: 'bytes=0-3', 'if-range': etag });
  assert.equal(same.status, 206);
  const other = await file({ range: 'bytes=0-3', 'if-range': '"another"' });
  assert.deepEqual([other.status, other.body.length], [200, whole.length]);
  const several = await file({ range: 'bytes=0-3,8-11' });
  assert.deepEqual([several.status, several.body.length], [200, whole.length], 'several ranges get the whole file');
  const beyond = await file({ range: `bytes=${whole.length}-` });
  assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${whole.length}`]);
  assert.equal((await file({ 'if-none-match': etag })).status, 304);
  const zipped = await file({ 'accept-encoding': 'gzip, br' });
  assert.equal(zipped.headers['content-encoding'], undefined, 'it is compressed as it is');
});

test('a preflight allows ranges', async () => {
  const asked = {
    origin: 'https://x.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'range',
  };
  const { status, headers } = await file(asked, 'OPTIONS');
  assert.equal(status, 204);
  assert.match(String(headers['access-control-allow-headers']), /\bRange\b/);
});

test('nothing but files of the list is served', async () => {
  writeFileSync(join(folder, 'secret.parquet'), 'no dump');
  writeFileSync(join(folder, '2026-11-20.7.parquet'), 'left behind');
  for (const path of [
    'secret.parquet',
    '2026-11-20.7.parquet',
    '2026-11-19.1.parquet',
    `./${name}`.replace('/', '%2f'),
    `..%2fdumps%2f${name}`,
    `${name}%00`,
    `%2e%2e%2f%2e%2e%2fvar%2fbroadsheet.db`,
    name.toUpperCase(),
    name.replace('.1.', '.01.'),
    '2026-02-30.1.parquet',
  ]) {
    const { status, headers } = await ask(stand.url, `/dumps/${path}`);
    assert.equal(status, 404, path);
    assert.equal(headers['access-control-allow-origin'], '*', path);
    assert.equal(headers['cache-control'], 'no-store', path);
  }
  rmSync(join(folder, 'secret.parquet'));
});

test('a file of another size is not passed off as the one of the list', async () => {
  writeFileSync(join(folder, name), whole.subarray(0, 10));
  const { status, headers } = await file({ range: 'bytes=0-3' });
  assert.deepEqual([status, headers['retry-after']], [503, '5']);
  writeFileSync(join(folder, name), whole);
});

test('an opt-out is in force at once, on the list, the proof and the file', async () => {
  stand.app.store.records.optOut(parseHostname('a.example'), 'asked', 'cli', stand.clock.now);
  assert.deepEqual(JSON.parse((await ask(stand.url, '/dumps/index.json')).text), {
    ...{ v: 1, days: [], withheld: ['2026-11-20'] },
  });
  for (const path of [`/dumps/${name}`, '/dumps/2026-11-20/proof.json'])
    assert.equal((await ask(stand.url, path)).status, 503, path);
  const page = await ask(stand.url, '/dumps/', { accept: 'text/html' });
  assert.doesNotMatch(page.text, /2026-11-20\.1/);
  await runDumps(stand.app);
  const gone = await ask(stand.url, `/dumps/${name}`);
  assert.equal(gone.status, 404);
  assert.match(gone.text, /is number 2: read 2026-11-20\.2\.parquet and 2026-11-20\.2\.ndjson\.gz/);
  const [day] = JSON.parse((await ask(stand.url, '/dumps/index.json')).text).days;
  assert.deepEqual([day.generation, day.why, day.rows, day.replaced.length], [2, 'opted_out', 1, 1]);
});

test('files elsewhere are led to, and the page may read them from there', async (t) => {
  const more = { DUMPS_URL: join(tempFolder(t), 'dumps'), DUMPS_PUBLIC_URL: 'https://cdn.example/d' };
  const { url, app, clock, enter } = await recordsStand(t, more, NOON);
  enter(probe('a.example', NOON, { A: ['192.0.2.1'] }));
  clock.now = NOON + DAY;
  await runDumps(app);
  const led = await ask(url, '/dumps/2026-11-20.1.parquet');
  assert.deepEqual([led.status, led.headers.location], [302, 'https://cdn.example/d/2026-11-20.1.parquet']);
  const page = await ask(url, '/dumps/', { accept: 'text/html' });
  assert.match(String(page.headers['content-security-policy']), /connect-src 'self' https:\/\/cdn\.example;/);
  assert.match(page.text, /href="https:\/\/cdn\.example\/d\/2026-11-20\.1\.parquet"/);
});

test('without DUMPS_URL there is nothing, and no page leads to it', async (t) => {
  const { url } = await recordsStand(t);
  for (const path of ['/dumps/', '/dumps/index.json', '/dumps/2026-11-20/proof.json', '/dumps/2026-11-20.1.parquet']) {
    const { status, text } = await ask(url, path);
    assert.equal(status, 404, path);
    assert.match(text, /this service publishes no dumps/);
  }
  assert.doesNotMatch((await ask(url, '/', { accept: 'text/html' })).text, /\/dumps\//);
});
