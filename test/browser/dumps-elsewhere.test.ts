import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/proof/time.ts';
import { dumpIndex } from '../../src/records/dumps.ts';
import { runDumps } from '../../src/records/jobs/dump-run.ts';
import { startProgram } from '../deploy/fixture.ts';
import { tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { without } from '../support/log-peers.ts';
import { probe } from '../support/probes.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
/** So many that files are several times as long as what is read of them. */
const NAMES = Array.from({ length: 400 }, (_, n) => `n${n}.example`);

/** What a plain file server wrote of a request. */
interface Served {
  status: number;
  size: number;
  request: { method: string; uri: string; headers: { Range?: string[] } };
}

test('a name is looked up by ranges of files that a plain file server has', {
  skip: ONLY_WIDE || without('caddy'),
}, async (t) => {
  const browser = await openBrowser();
  t.after(() => browser.close());
  const folder = tempFolder(t);
  const dumps = join(folder, 'dumps');
  const port = await freePort();
  const settings = { DUMPS_URL: dumps, DUMPS_PUBLIC_URL: `http://127.0.0.1:${port}` };
  const { url, app, clock, enter } = await recordsStand(t, settings, NOON);
  enter(...NAMES.map((name) => probe(name, NOON, { A: ['192.0.2.1'], NS: ['ns1.example'] })));
  clock.now = NOON + DAY;
  await runDumps(app);
  const log = join(folder, 'served.log');
  writeFileSync(
    join(folder, 'Caddyfile'),
    `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  root * ${dumps}
  header Access-Control-Allow-Origin *
  header Access-Control-Expose-Headers Content-Range
  file_server
  log {
    output file ${log}
    format json
  }
}
`,
  );
  const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  await startProgram(t, folder, { program: 'caddy', args, port, env: { HOME: folder } });

  const page = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  await page.goto(`${url}/dumps/`);
  page.on('request', (request) => {
    if (request.url().startsWith(url)) asked.push(new URL(request.url()).pathname);
  });
  await page.fill('#name', 'n250.example');
  await page.click('#look button');
  await page.waitForSelector('#found .cost');
  const text = (await page.textContent('#found')) ?? '';
  assert.match(text, /n250\.example: 1 observation on 1 of 1 day\. Its receipt holds/);
  assert.deepEqual(asked, ['/.well-known/records-keys.json'], 'nothing but the keys is asked of the service');

  const served = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line): Served => JSON.parse(line))
    .filter(({ request }) => request.uri.startsWith('/'));
  const whole = dumpIndex(app).days.reduce(
    (sum, { files }) => sum + statSync(join(dumps, files[0]?.name ?? '')).size,
    0,
  );
  const read = served.reduce((sum, { size }) => sum + size, 0);
  t.diagnostic(`${served.length} requests, ${read} bytes of ${whole}`);
  for (const { status, request } of served)
    assert.deepEqual([status, request.method, request.headers.Range?.length], [206, 'GET', 1], request.uri);
  assert.ok(served.length <= 6, `${served.length} requests`);
  assert.ok(read * 2 < whole, `${read} bytes of ${whole}`);
  const said = /Read in (\d+) requests: (\d+) kB of 1 file /.exec(text);
  assert.equal(Number(said?.[1]), served.length);
  assert.equal(Number(said?.[2]), Math.ceil(read / 1e3));
});
