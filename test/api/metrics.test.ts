import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { listenMetrics } from '../../api/metrics.ts';
import { openMetrics } from '../../src/app/metrics/metrics.ts';
import { StaleSince } from '../../src/app/metrics/stale-since.ts';
import { Readiness } from '../../src/app/readiness.ts';
import { PROJECT } from '../../src/project.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { run, serve } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';

const ALERTS = join(PROJECT, 'deploy/prometheus/alerts.yml');
const DASHBOARD = join(PROJECT, 'deploy/grafana/broadsheet.json');

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

  await t.test('readiness is the same on both services, and nothing else listens there', async () => {
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

  await t.test('fifty scrapes at once share a reading', async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, () => fetch(`${metrics}/metrics`)));
    for (const answer of texts) {
      assert.equal(answer.status, 200);
      assert.match(await answer.text(), /^broadsheet_ready 1$/m);
    }
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

test('each alert says how urgent it is and what to do, and the manual has it', () => {
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

test('a metrics port that is taken, and a wrong one, are one line that names the setting', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const metrics = openMetrics({ app, presses: () => null });
  t.after(() => metrics.close());
  const other = await listenMetrics(metrics, { host: '127.0.0.1', port: 0 }, assert.ifError);
  t.after(() => other.close());
  const port = new URL(other.url).port;
  const taken = await run(t, folder, ['serve'], { METRICS_PORT: port });
  assert.deepEqual([taken.code, taken.stdout], [1, '']);
  assert.match(taken.stderr, new RegExp(`^broadsheet: port ${port} of 127\\.0\\.0\\.1 is taken; set METRICS_PORT `));
  const wrong = await run(t, folder, ['serve'], { METRICS_HOST: 'not a host' });
  assert.match(wrong.stderr, /^broadsheet: METRICS_HOST=not a host: must be an address/);
});

test('a scrape succeeds, and counts what it could not read, when the database is gone', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const metrics = openMetrics({ app, presses: () => null });
  t.after(() => metrics.close());
  const { store } = app;
  const gone = (): never => {
    throw new Error('the disk is gone');
  };
  t.mock.method(store, 'vitalSigns', gone);
  t.mock.method(store.log, 'size', gone);
  const text = await metrics.text();
  assert.match(text, /^broadsheet_ready 0$/m);
  assert.match(text, /^broadsheet_metrics_failures_total\{reading="pieces"\} 1$/m);
  assert.match(text, /^broadsheet_disk_free_bytes\{folder="data"\} \d+$/m);
});

test('a process is ready while it serves and its database answers', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const { readiness } = app;
  for (const phase of ['starting', 'stopping'] as const) {
    readiness.phase = phase;
    assert.deepEqual(readiness.report(), { status: 'not_ready', checks: { server: phase, database: 'ok' } });
  }
  const broken = new Readiness({
    vitalSigns: () => {
      throw new Error('disk I/O error');
    },
  });
  assert.deepEqual(broken.report(), { status: 'not_ready', checks: { server: 'ok', database: 'no_answer' } });
});

test('queues are counted up to a bound, and a busy paper that is pressed does not wait', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  const { store } = app;
  store.transact(() => {
    for (let n = 0; n < 10_050; n++) store.markStale('a-paper', [`tag ${n}`]);
    store.markStale('b-paper', ['tag']);
  });
  const signs = store.vitalSigns();
  assert.equal(signs.staleTags(), 10_000);
  assert.deepEqual(signs.stalePapers(), [
    { paper: 'a-paper', pressed: 0 },
    { paper: 'b-paper', pressed: 0 },
  ]);
  let now = 0;
  const stale = new StaleSince(() => now);
  stale.longest(signs.stalePapers());
  now = 60_000;
  assert.equal(stale.longest(signs.stalePapers()), 60_000);
  store.manifest.recordPressed('a-paper', 10_050, 1);
  assert.equal(stale.longest([{ paper: 'a-paper', pressed: 10_050 }]), 0);
  assert.equal(stale.longest([]), 0);
});
