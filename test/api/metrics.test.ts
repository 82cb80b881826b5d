import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { listenMetrics } from '../../api/metrics.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { StaleSince } from '../../src/operate/metrics/gauges.ts';
import { openMetrics } from '../../src/operate/metrics/metrics.ts';
import { readiness, server } from '../../src/operate/metrics/readiness.ts';
import { openServerLog, type ServerLog } from '../../src/server/server-log.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { ALONE } from '../../src/signing/signer.ts';
import type { LeaseState } from '../../src/signing/signer-lease.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { type Families, parseExposition, type Sample } from '../support/exposition.ts';
import { refusedServe, serve } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const ALERTS = join(PROJECT, 'deploy/prometheus/alerts.yml');
const DASHBOARD = join(PROJECT, 'deploy/grafana/broadsheet.json');

/** Longer than a reading is kept, in ms. */
const KEPT = 1_010;

/** The series of a scrape: each name with its labels, without the value. */
function seriesOf(text: string): Set<string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Set(lines.map((line) => line.slice(0, line.lastIndexOf(' '))));
}

/** The names of metrics that a query reads. */
function namesIn(query: string): string[] {
  return [...query.matchAll(/\b(?:broadsheet|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);
}

test('a server is watched: routes and not paths, no name of a private paper, any number of scrapes', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'tides' }, { slug: 'undisclosed', isPublic: false }]);
  const { url, records, said, stop } = await serve(t, folder, { METRICS_PORT: '0', METRICS_HOST: '127.0.0.1' });
  const [, metrics = ''] = / metrics=(http:\/\/127\.0\.0\.1:\d+)$/m.exec(said.stdout) ?? [];
  const scrape = async () => (await fetch(`${metrics}/metrics`)).text();

  await t.test('readiness is the same on both services, and the port serves nothing else', async () => {
    for (const service of [url, records]) {
      const answer = await fetch(`${service}/ready`);
      assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store']);
      assert.deepEqual(await answer.json(), { status: 'ready', checks: { server: 'ok', database: 'ok' } });
      assert.equal((await fetch(`${service}/metrics`)).status, 404);
    }
    assert.equal((await fetch(`${metrics}/`)).status, 404);
    const refused = await fetch(`${metrics}/metrics`, { method: 'POST' });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD']);
  });

  await t.test('hostile paths make no series', async () => {
    const headers = { authorization: `Bearer ${keys.get('undisclosed')?.read}` };
    const paths = (n: number) => [
      `/tides/stories/zebra-${n}/`,
      `/tides/api/v1/stories/zebra-${n}`,
      `/zebra-${n}/api/v1/stories`,
      `/tides/api/v1/subscribers/zebra${n}@example.org`,
      `/tides/api/zebra-${n}`,
      `/undisclosed/api/v1/stories?q=zebra-${n}`,
    ];
    const ask = async (n: number) => {
      for (const path of paths(n)) {
        const options = path.startsWith('/undisclosed') ? { headers } : {};
        await (await fetch(url + path, options)).text();
      }
      await (await fetch(`${records}/v1/domains/zebra-${n}.example`)).text();
      await (await fetch(url, { method: 'PROPFIND' })).text();
    };
    // The second keyless lookup in a row gets 429, as all later ones.
    await ask(0);
    await ask(0);
    const before = seriesOf(await scrape());
    for (let n = 1; n <= 10; n++) await ask(n);
    // A reading is kept for a second; counters are current.
    const text = await scrape();
    const added = [...seriesOf(text)].filter((series) => series.startsWith('broadsheet_http') && !before.has(series));
    assert.deepEqual(added, []);
    assert.ok(text.includes('route="/{paper}/api/v1/stories/{id}"'));
    assert.match(text, /method="other"/);
    for (const secret of ['zebra', 'undisclosed', 'example.org', 'nrf_', '127.0.0.1', folder]) {
      assert.ok(!text.includes(secret), secret);
    }
    assert.match(text, /^broadsheet_papers 2$/m);
  });

  await t.test('fifty concurrent scrapes share one reading', async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, () => fetch(`${metrics}/metrics`)));
    for (const answer of texts) {
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), /^broadsheet_ready 1$/m);
    }
  });

  await t.test('strangers’ methods, hosts and headers make no series, and no counter falls', async () => {
    const before = parseExposition(await scrape());
    const { hostname, port } = new URL(url);
    const odd = [
      'BREW / HTTP/1.1\r\nHost: zebra.example',
      'GET /zebra%0a%22%7d/../%5c HTTP/1.1\r\nHost: "zebra\\',
      'M-SEARCH * HTTP/1.1\r\nHost: zebra',
      'GET http://zebra.example/tides/api/v1/stories HTTP/1.1\r\nHost: zebra.example',
      'CONNECT zebra.example:443 HTTP/1.1\r\nHost: zebra.example',
      'GET /tides/ HTTP/1.1\r\nHost: zebra\r\nConnection: Upgrade\r\nUpgrade: zebra',
      `GET /tides/ HTTP/1.1\r\nHost: zebra\r\nX-Zebra: ${'z'.repeat(40_000)}`,
    ];
    for (const head of odd) {
      const socket = connect(Number(port), hostname);
      // A refusal may reset a connection on which the rest of a request is still to come.
      socket.on('error', () => {});
      socket.write(`${head}\r\nConnection: close\r\n\r\n`);
      socket.resume();
      await once(socket, 'close');
    }
    const text = await scrape();
    assert.ok(!text.includes('zebra'));
    const after = parseExposition(text);
    const valueIn = (families: Families, { name, labels }: Sample) =>
      families.get(name)?.samples.find((one) => isDeepStrictEqual(one.labels, labels))?.value ?? 0;
    for (const [name, { type, samples }] of before) {
      if (type !== 'counter') continue;
      for (const sample of samples) assert.ok(valueIn(after, sample) >= sample.value, name);
    }
    const methods = new Set(
      after.get('broadsheet_http_requests_total')?.samples.map(({ labels }) => labels.get('method')),
    );
    assert.deepEqual([...methods].sort(), ['GET', 'other']);
  });

  await t.test('every metric of the dashboard and of the alerts exists', async () => {
    const text = await scrape();
    const known = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    );
    const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
    const queries: string[] = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
      (panel.targets ?? []).map(({ expr }) => expr),
    );
    const rules: { expr: string }[] = parse(readFileSync(ALERTS, 'utf8')).groups.flatMap(
      ({ rules }: { rules: object[] }) => rules,
    );
    const used = new Set([...queries, ...rules.map(({ expr }) => expr)].flatMap(namesIn));
    assert.deepEqual(
      [...used].filter((name) => !known.has(name)),
      [],
    );
    const labelsOf = new Map(
      [...parseExposition(text).values()].flatMap(({ samples }) =>
        samples.map(({ name, labels }) => [name, new Set([...labels.keys(), 'instance', 'job'])] as const),
      ),
    );
    for (const query of [...queries, ...rules.map(({ expr }) => expr)]) {
      for (const [, name = '', pairs = ''] of query.matchAll(/\b([a-z_]+)\{([^}]*)\}/g)) {
        const wrong = [...pairs.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].filter(
          ([, label = '']) => labelsOf.has(name) && !labelsOf.get(name)?.has(label),
        );
        assert.deepEqual(wrong, [], query);
      }
    }
    const own = [...known].filter((name) => name.startsWith('broadsheet_') && !/_(?:sum|count|bucket)$/.test(name));
    const documented = readFileSync(join(PROJECT, 'docs/watching.md'), 'utf8');
    assert.deepEqual(
      own.filter((name) => !documented.includes(`\`${name}`)),
      [],
      'docs/watching.md lists every metric',
    );
  });

  const { code, stderr } = await stop();
  assert.deepEqual([code, stderr], [0, '']);
});

test('the dashboard has the form that Grafana imports', () => {
  const { panels, ...dashboard } = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
  assert.deepEqual(
    [dashboard.title, dashboard.uid, typeof dashboard.schemaVersion],
    ['Broadsheet', 'broadsheet', 'number'],
  );
  assert.deepEqual(
    dashboard.templating.list.map(({ name }: { name: string }) => name),
    ['datasource', 'instance'],
  );
  const ids = new Set(panels.map(({ id }: { id: number }) => id));
  assert.equal(ids.size, panels.length);
  for (const { type, title, gridPos, targets, datasource } of panels) {
    assert.ok(['row', 'stat', 'timeseries'].includes(type), title);
    assert.ok(gridPos.x + gridPos.w <= 24 && gridPos.h > 0, title);
    if (type === 'row') continue;
    assert.deepEqual(datasource, { type: 'prometheus', uid: '$' + '{datasource}' }, title);
    assert.ok(
      targets.every(({ expr, refId }: { expr: string; refId: string }) => expr !== '' && refId !== ''),
      title,
    );
  }
});

test('each alert states its urgency and remedy, and the manual lists it', () => {
  const documented = readFileSync(join(PROJECT, 'docs/watching.md'), 'utf8');
  const { groups } = parse(readFileSync(ALERTS, 'utf8'));
  for (const { alert, labels, annotations } of groups[0].rules) {
    assert.match(labels.severity, /^(?:page|ticket)$/, alert);
    assert.ok(annotations.summary.length > 20 && annotations.action.length > 20, alert);
    assert.ok(documented.includes(`\`${alert}\``), `docs/watching.md has ${alert}`);
  }
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test('promtool accepts the alerts', { skip: !hasPromtool && 'promtool (Debian: prometheus) is not installed' }, () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('alerts fire only for what cannot wait', {
  skip: ONLY_WIDE || (!hasPromtool && 'promtool is not installed'),
}, (t) => {
  const folder = tempFolder(t);
  cpSync(ALERTS, join(folder, 'alerts.yml'));
  cpSync(join(PROJECT, 'test/deploy/alerts.yml'), join(folder, 'tests.yml'));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'tests.yml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});

test('a metrics port in use, and an invalid one, give one line that names the setting', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const metrics = openMetrics({ app, presses: () => null }, openServerLog('silent'));
  t.after(() => metrics.close());
  const other = await listenMetrics(metrics, { host: '127.0.0.1', port: 0 }, assert.ifError);
  t.after(() => other.close());
  const port = new URL(other.url).port;
  const taken = await refusedServe(folder, { METRICS_PORT: port });
  assert.deepEqual([taken.code, taken.stdout], [1, '']);
  assert.match(taken.stderr, new RegExp(`^broadsheet: port ${port} of 127\\.0\\.0\\.1 is taken; set METRICS_PORT `));
  const wrong = await refusedServe(folder, { METRICS_HOST: 'not a host' });
  assert.match(wrong.stderr, /^broadsheet: METRICS_HOST=not a host: must be a local address or name/);
});

test('a scrape succeeds without failed readings, which are counted, logged once, and never 0', {
  skip: ONLY_WIDE,
}, async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const said: [unknown, unknown][] = [];
  const take = (fields: { reading: string }, message: string) => void said.push([fields.reading, message]);
  const logger = { error: take, info: take } as unknown as ServerLog;
  const metrics = openMetrics({ app, presses: () => null }, logger);
  t.after(() => metrics.close());
  const { store } = app;
  const own = async () => {
    await pause(KEPT);
    return parseExposition(await metrics.text());
  };
  const before = parseExposition(await metrics.text());
  assert.equal(before.get('broadsheet_pieces_on_air')?.samples.length, 1);
  assert.equal(before.get('broadsheet_backup_timestamp_seconds')?.samples[0]?.value, 0, 'no backup is known');

  const gone = (): never => {
    throw new Error('the disk is gone');
  };
  const mocks = [t.mock.method(store.database, 'vitalSigns', gone), t.mock.method(store.database.log, 'size', gone)];
  const failing = await own();
  const again = await own();
  for (const families of [failing, again]) {
    const values = (name: string) => families.get(`broadsheet_${name}`)?.samples ?? [];
    assert.equal(values('ready')[0]?.value, 0);
    const unread = ['pieces_on_air', 'papers', 'press_backlog_seconds', 'mails_due', 'scanner_due', 'payments_open'];
    for (const name of [...unread, 'log_fenced']) assert.deepEqual(values(name), [], name);
    assert.ok(values('disk_free_bytes').some(({ labels, value }) => labels.get('folder') === 'data' && value > 0));
  }
  const failures = (families: Families, reading: string) =>
    families.get('broadsheet_metrics_failures_total')?.samples.find(({ labels }) => labels.get('reading') === reading)
      ?.value;
  assert.deepEqual(
    [before, failing, again].map((families) => failures(families, 'pieces')),
    [0, 1, 2],
  );
  assert.deepEqual(
    said.filter(([reading]) => reading === 'pieces'),
    [['pieces', 'metrics cannot be read']],
  );
  for (const mock of mocks) mock.mock.restore();
  assert.equal((await own()).get('broadsheet_pieces_on_air')?.samples.length, 1);
  assert.deepEqual(said.filter(([reading]) => reading === 'pieces').at(-1), ['pieces', 'these metrics are read again']);
});

test('a scrape waits for no other process that writes', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const metrics = openMetrics({ app, presses: () => null }, openServerLog('silent'));
  t.after(() => metrics.close());
  const db = new DatabaseSync(databaseFile(app.settings));
  db.exec('BEGIN EXCLUSIVE');
  const families = parseExposition(await metrics.text());
  db.exec('ROLLBACK');
  db.close();
  const failures = families.get('broadsheet_metrics_failures_total')?.samples ?? [];
  assert.ok(failures.length > 10);
  assert.deepEqual(
    failures.filter(({ value }) => value > 0),
    [],
  );
});

test('a process is ready while it serves and its database answers', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const status = (database: 'ok' | 'no_answer', more: object = {}) => ({
    status: 'not_ready',
    checks: { server: 'ok', database, ...more },
  });
  for (const phase of ['starting', 'stopping'] as const) {
    server.phase = phase;
    assert.deepEqual(readiness(app), status('ok', { server: phase }));
  }
  server.phase = 'serving';
  assert.deepEqual(readiness(app), { status: 'ready', checks: { server: 'ok', database: 'ok' } });
  const broken = t.mock.method(app.store.database, 'vitalSigns', () => {
    throw new Error('disk I/O error');
  });
  assert.deepEqual(readiness(app), status('no_answer'));
  broken.mock.restore();
  // A server that signs has its papers pressed; one that stands by has nothing to show without them.
  createPaper(app);
  app.signer.right = { ...ALONE, state: () => ({ isHeld: false }) as LeaseState };
  assert.deepEqual(readiness(app), status('ok', { papers: 'not_pressed' }));
  await pressPapers(app, { cards: false });
  assert.deepEqual(readiness(app), { status: 'ready', checks: { server: 'ok', database: 'ok', papers: 'ok' } });
});

test('queues are counted up to a bound, and a busy paper that is pressed does not wait', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const { store } = app;
  store.database.transact(() => {
    for (let n = 0; n < 10_050; n++) store.desk.markStale('a-paper', [`tag ${n}`]);
    store.desk.markStale('b-paper', ['tag']);
  });
  const signs = store.database.vitalSigns();
  assert.equal(signs.staleDependencies(), 10_000);
  assert.deepEqual(signs.stalePapers(), [
    { paper: 'a-paper', pressed: 0 },
    { paper: 'b-paper', pressed: 0 },
  ]);
  let now = 0;
  const stale = new StaleSince(() => now);
  stale.longest(signs.stalePapers());
  now = 60_000;
  assert.equal(stale.longest(signs.stalePapers()), 60_000);
  store.desk.manifest.recordPressed('a-paper', 10_050, 1);
  assert.equal(stale.longest([{ paper: 'a-paper', pressed: 10_050 }]), 0);
  assert.equal(stale.longest([]), 0);
});
