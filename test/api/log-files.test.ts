import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { listenDesk, listenRecords } from '../../api/server.ts';
import { append } from '../../src/desk/append.ts';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { isPaperSlug, PaperBody } from '../../src/desk/papers/paper.ts';
import { checkHosts } from '../../src/operate/doctor/desk.ts';
import { type AppContext, intakeOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { MemoryLog } from '../support/log.ts';

const LOGGER = pino({ level: 'silent' });

/** Writes a log of 300 leaves with its texts to a folder of LOG_DIR. */
function writeLog(folder: string, name: string): MemoryLog {
  const log = new MemoryLog(`${name}.example/log`);
  log.append(Array.from({ length: 300 }, (_, at) => `leaf ${at}\n`));
  const texts = { checkpoint: log.checkpoint(), policy: `log ${log.vkey}\nquorum none\n`, vkey: `${log.vkey}\n` };
  for (const [path, body] of [...log.files, ...Object.entries(texts)]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  }
  return log;
}

test('the files of both logs', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const desk = await listenDesk({ app, presses: new PressQueue(app), logger: LOGGER });
  t.after(desk.close);
  const records = await listenRecords(app, LOGGER);
  t.after(records.close);
  for (const [name, { url }] of [
    ['desk', desk],
    ['records', records],
  ] as const) {
    await t.test(`of the ${name}, before there is a log`, async () => {
      for (const path of ['/log/checkpoint', '/log/policy', '/log/vkey', '/log/tile/0/000.p/1']) {
        const { status, headers, text } = await ask(url, path);
        assert.equal(status, 404, path);
        assert.equal(headers['access-control-allow-origin'], '*');
        assert.equal(headers['cache-control'], 'no-store');
        assert.match(text, /this log has no /, path);
      }
    });

    const log = writeLog(join(folder, 'log', name), name);
    await t.test(`texts of the ${name}`, async () => {
      for (const [path, age, body] of [
        ['/log/checkpoint', 5, log.checkpoint()],
        ['/log/policy', 60, `log ${log.vkey}\nquorum none\n`],
        ['/log/vkey', 60, `${log.vkey}\n`],
      ] as const) {
        const { status, headers, text } = await ask(url, path);
        assert.deepEqual([status, text], [200, body], path);
        assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
        assert.equal(headers['cache-control'], `public, max-age=${age}`);
        assert.equal(headers['access-control-allow-origin'], '*');
        assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
        assert.equal(headers['x-content-type-options'], 'nosniff');
        const unchanged = await ask(url, path, { 'if-none-match': String(headers.etag) });
        assert.deepEqual([unchanged.status, unchanged.text], [304, '']);
      }
    });

    await t.test(`tiles and entries of the ${name}`, async () => {
      for (const path of ['tile/0/000', 'tile/0/001.p/44', 'tile/1/000.p/1', 'tile/entries/000']) {
        const { status, headers, body } = await ask(url, `/log/${path}`);
        assert.equal(status, 200, path);
        assert.deepEqual(new Uint8Array(body), new Uint8Array(log.files.get(path) ?? []), path);
        assert.equal(headers['content-type'], 'application/octet-stream');
        assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
        assert.equal(headers['access-control-allow-origin'], '*');
        const head = await ask(url, `/log/${path}`, {}, 'HEAD');
        assert.deepEqual([head.status, head.body.length], [200, 0]);
        assert.equal(head.headers['content-length'], String(body.length));
        const part = await ask(url, `/log/${path}`, { range: 'bytes=0-31' });
        assert.deepEqual([part.status, part.body], [206, body.subarray(0, 32)]);
      }
    });

    await t.test(`files missing from the log of the ${name}`, async () => {
      for (const path of [
        'tile/0/001',
        'tile/0/001.p/43',
        'tile/0/000.p/256',
        'tile/0/0',
        'tile/0/x000/000',
        'tile/0',
        'tile/',
        'policy/',
        'nothing',
        '..%2fdesk%2fcheckpoint',
        '%63heckpoint%00',
      ]) {
        const { status, headers } = await ask(url, `/log/${path}`);
        assert.equal(status, 404, path);
        assert.equal(headers['cache-control'], 'no-store', path);
      }
    });

    await t.test(`methods of the ${name}`, async () => {
      for (const path of ['/log/checkpoint', '/log/tile/entries/000']) {
        const { status, headers } = await ask(url, path, { origin: 'https://monitor.example' }, 'OPTIONS');
        assert.equal(status, 204);
        assert.equal(headers.allow, 'GET, HEAD, OPTIONS');
        assert.equal(headers['access-control-allow-origin'], '*');
        assert.match(String(headers['access-control-allow-methods']), /GET, HEAD/);
        const refused = await ask(url, path, {}, 'POST');
        assert.deepEqual([refused.status, refused.headers.allow], [405, 'GET, HEAD, OPTIONS']);
      }
    });
  }
});

test('the log is below the root of a paper’s own domain, and of no path of the shared host', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app, { url: 'https://harbor.example/news' });
  app.store.desk.hosts.add('harbor-ledger', 'harbor.example', 'given', 0);
  const log = writeLog(join(folder, 'log/desk'), 'desk');
  const { url, close } = await listenDesk({ app, presses: new PressQueue(app), logger: LOGGER });
  t.after(close);
  const host = 'harbor.example';
  const own = await ask(url, '/news/log/checkpoint', { host });
  assert.deepEqual([own.status, own.text], [200, log.checkpoint()]);
  const page = await ask(url, '/news/log/', { host });
  assert.deepEqual([page.status, page.headers.location], [302, `${app.settings.origin}/log/`]);
  const preflight = await ask(url, '/news/log/checkpoint', { host }, 'OPTIONS');
  assert.equal(preflight.headers['access-control-allow-origin'], '*');
  for (const [path, headers] of [
    ['/harbor-ledger/log/checkpoint', {}],
    ['/nobody/log/checkpoint', {}],
    ['/log/checkpoint', { host }],
  ] as const) {
    assert.notEqual((await ask(url, path, headers)).status, 200, path);
  }
});

test('a paper whose own address is its path on the shared host has the log below it, unless it is private', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(
    t,
    folder,
    { now: Date.parse('2026-11-20T12:00:00Z') },
    { ORIGIN: 'https://papers.example' },
  );
  createPaper(app, { url: 'https://papers.example/harbor-ledger' });
  const log = writeLog(join(folder, 'log/desk'), 'desk');
  const { url, close } = await listenDesk({ app, presses: new PressQueue(app), logger: LOGGER });
  t.after(close);
  const policy = () => ask(url, '/harbor-ledger/log/policy', { host: 'papers.example', accept: 'application/json' });
  assert.equal((await policy()).text, `log ${log.vkey}\nquorum none\n`);
  createPaper(app, { url: 'https://papers.example/harbor-ledger', paper_public: false });
  assert.equal((await policy()).status, 404);
});

test('no new paper is called log; one from before keeps its pages', async (t) => {
  assert.equal(isPaperSlug('log'), false);
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  renamedPaper(app, 'log');
  mkdirSync(join(folder, 'papers/log/stories/high-water'), { recursive: true });
  writeFileSync(join(folder, 'papers/log/_headers'), '/*\n');
  writeFileSync(join(folder, 'papers/log/stories/high-water/index.html'), '<!doctype html>');
  const log = writeLog(join(folder, 'log/desk'), 'desk');
  const { url, close } = await listenDesk({ app, presses: new PressQueue(app), logger: LOGGER });
  t.after(close);
  assert.equal((await ask(url, '/log/checkpoint')).text, log.checkpoint());
  assert.equal((await ask(url, '/log/stories/high-water/')).text, '<!doctype html>');
  assert.equal((await ask(url, '/log/api/v1/stories')).status, 200);
  const finding = checkHosts(app);
  assert.equal(finding.state, 'fault');
  assert.match(finding.found, /the front page of the paper called log/);

  mkdirSync(join(folder, 'content/log'), { recursive: true });
  writeFileSync(join(folder, 'content/log/paper.yaml'), 'nameplate: The Log\nsections: [City]\n');
  assert.deepEqual((await fileContent(intakeOf(app))).problems, []);
  assert.equal(app.store.desk.paper('log')?.nameplate, 'The Log');
});

test('a folder called log makes no paper', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  app.signer.open();
  mkdirSync(join(folder, 'content/log'), { recursive: true });
  writeFileSync(join(folder, 'content/log/paper.yaml'), 'nameplate: The Log\nsections: [City]\n');
  const { problems } = await fileContent(intakeOf(app));
  assert.match(JSON.stringify(problems), /the folder's name .*log.* cannot be a paper's address/);
});

/** Enters a copy of the test's paper under another slug, as a ledger from before may hold it. */
function renamedPaper({ store, clock: { now } }: AppContext, slug: string): void {
  const body = PaperBody.parse(store.desk.record('harbor-ledger', 'paper', ''));
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: now(), paper: slug, kind: 'paper', name: '', body }),
  );
}
