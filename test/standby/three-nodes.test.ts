import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DAY } from '../../src/proof/time.ts';
import { bucketHash, parseHostname } from '../../src/records/hostname.ts';
import { closedBefore } from '../../src/records/jobs/archiver.ts';
import { startDemoNameServer } from '../../src/records/probe/demo-name-server.ts';
import type { DemoAnswer } from '../../src/records/probe/demo-zone.ts';
import { nodeOf, parseNodes, type RecordsNodes } from '../../src/shared/nodes.ts';
import { ALONE } from '../../src/signing/signer.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { observeDays } from '../support/archive.ts';
import { clockOffBy, skipWithoutFaketime } from '../support/faketime.ts';
import { freePort } from '../support/free-port.ts';
import { type Running, run, type Serving, serveAtOnce, start, until } from '../support/program.ts';
import { BUCKET, S3Server, storeEnv } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const SEEDED_DAYS = 3;
const HOSTS = Array.from({ length: 12 }, (_, n) => `name-${n}.example`);

interface Cluster {
  env(node: string, table: string): Promise<Record<string, string>>;
  namesOf(node: string, table: string): string[];
  /** Where leases and archives are. */
  places: Record<string, string>;
  store: S3Server;
  /** What the names answer from now on. */
  round: number;
}

/** A zone whose every name has an address and a serial that say the round. */
async function clusterOf(t: TestContext): Promise<Cluster> {
  const store = await S3Server.start(t);
  const { PUBLISH_URL: _, ...access } = storeEnv(store.endpoint);
  const places = { ...access, LEASE_URL: `s3://${BUCKET}/lease`, ARCHIVE_URL: `s3://${BUCKET}/records` };
  const cluster = { round: 1 };
  const soa = () => ({
    ...{
      mname: 'ns1.example',
      rname: 'host.example',
      serial: cluster.round,
      refresh: 1,
      retry: 1,
      expire: 1,
      minimum: 1,
    },
  });
  const answer = (_name: string, type: string): DemoAnswer => {
    const records: DemoAnswer['records'] =
      type === 'A' ? [{ type, data: `192.0.2.${cluster.round}` }] : type === 'SOA' ? [{ type, data: soa() }] : [];
    return { code: 'noError', records, authority: { name: 'example', data: soa() } };
  };
  const names = await startDemoNameServer(answer);
  t.after(() => names.close());
  return Object.assign(cluster, {
    places,
    store,
    async env(node: string, table: string) {
      const port = await freePort();
      return {
        ...{ ...places, RECORDS_NODES: table, RECORDS_NODE: node, LEASE_TIME: '4s' },
        ...{ RESOLVERS: `127.0.0.1:${names.port}`, SCAN_EVERY: '1s', SCANNER: 'off', SERVICES: 'records' },
        ...{ RECORDS_PORT: String(port), DATA_ORIGIN: `http://127.0.0.1:${port}`, LOG_LEVEL: 'warn' },
      };
    },
    namesOf: (node: string, table: string) =>
      HOSTS.filter((name) => {
        const nodes = parseNodes(table.split(','), node) as RecordsNodes;
        return nodeOf(nodes, bucketHash(name, parseHostname(name).registrable_domain)).name === node;
      }),
  });
}

/** Runs a command that scans beside a server until each name has an observation of this round. */
async function scan(t: TestContext, folder: string, env: Record<string, string>, names: string[]): Promise<void> {
  const { code, stderr } = await run(t, folder, ['scan', ...names], env);
  assert.equal(code, 0, stderr);
}

const health = async ({ records }: { records: string }) =>
  (await fetch(`${records}/health`).then((response) => response.json())) as {
    signing: { signs: boolean; why: string };
  };
const signs = (server: { records: string; child: Running['child']; said: Running['said'] }) =>
  until(async () => {
    assert.equal(server.child.exitCode, null, server.said.log);
    return (await health(server).catch(() => null))?.signing.signs === true ? true : null;
  });

test('three nodes: one is killed and its copy takes over, one is lost and another takes its names, none signs twice', {
  skip: ONLY_WIDE || skipWithoutFaketime(),
}, async (t) => {
  const cluster = await clusterOf(t);
  const at = (name: string, bytes: string) => `${name}=${bytes}@http://127.0.0.1:1`;
  const BEFORE = [at('a', '00-54'), at('b', '55-a9'), at('c', 'aa-ff')].join();
  const AFTER = [at('a', '00-54'), at('b', '55-a9'), at('d', 'aa-ff'), 'c=gone'].join();
  const nodes = new Map<string, { folder: string; env: Record<string, string>; server: Serving; names: string[] }>();
  const begin = async (node: string, table: string, isSeeded: boolean) => {
    const folder = tempFolder(t);
    const env = await cluster.env(node, table);
    const names = cluster.namesOf(node, table);
    assert.ok(names.length > 0, `some of the names are of node ${node}`);
    // Yesterday is not closed yet in the first hour of a day.
    const clock = { now: closedBefore(Date.now()) - SEEDED_DAYS * DAY + DAY / 2 };
    const app = appContextIn(t, folder, clock, env);
    app.signer.right = ALONE;
    if (isSeeded) observeDays(app, clock, SEEDED_DAYS, names);
    app.store.records.watch(names.map(parseHostname), Date.now());
    app.close();
    const server = await serveAtOnce(t, folder, env);
    nodes.set(node, { folder, env, server, names });
    return { folder, env, server, names };
  };
  const [a, b, c] = [await begin('a', BEFORE, true), await begin('b', BEFORE, true), await begin('c', BEFORE, true)];
  for (const node of [a, b, c]) await signs(node.server);
  for (const node of ['a', 'b', 'c']) {
    const own = nodes.get(node);
    assert.ok(own);
    await until(async () => {
      const { stdout } = await run(t, own.folder, ['archive', 'status', '--json'], own.env);
      return JSON.parse(stdout).observations === SEEDED_DAYS * own.names.length ? true : null;
    });
  }
  // c is lost with its disk, before it scans.
  c.server.child.kill('SIGKILL');
  const d = await begin('d', AFTER, false);
  const refusedTwice = await run(t, d.folder, ['scan', ...d.names], d.env);
  assert.match(refusedTwice.stderr, /nothing is signed here/, 'c may still sign');
  for (const node of [a, b]) await scan(t, node.folder, node.env, node.names);
  await signs(d.server);
  cluster.round = 2;
  for (const node of [a, b, d]) await scan(t, node.folder, node.env, node.names);
  const back = await start(t, c.folder, ['serve'], c.env).ended;
  assert.equal(back.code, 1);
  assert.match(back.stderr, /node d took the names of this node on \d{4}-/);

  // b is killed; its copy on another machine takes over.
  const backups = tempFolder(t);
  await signedAll(b, cluster.store);
  assert.equal((await run(t, b.folder, ['backup', join(backups, '1.tar.zst')], b.env)).code, 0);
  b.server.child.kill('SIGKILL');
  await b.server.ended;
  const copy = tempFolder(t);
  const port = String(await freePort());
  const moved = { ...b.env, RECORDS_PORT: port, DATA_ORIGIN: b.env.DATA_ORIGIN ?? '' };
  const standby = start(t, copy, ['standby', '--from', backups, '--every', '1s'], moved);
  await signs({ ...standby, records: `http://127.0.0.1:${port}` });
  cluster.round = 3;
  const second = { folder: copy, env: moved, names: b.names };
  for (const node of [a, second, d]) await scan(t, node.folder, node.env, node.names);
  const returned = await serveAtOnce(t, b.folder, b.env);
  assert.deepEqual([(await health(returned)).signing.signs, (await health(returned)).signing.why], [false, 'holder']);
  const refused = await run(t, b.folder, ['scan', ...b.names], b.env);
  assert.match(refused.stderr, /nothing is signed here/);
  await returned.stop();

  // Two days later, by the store's clock too, everything is in the archive.
  cluster.store.intercept = (_request, response) => {
    response.setHeader('date', new Date(Date.now() + 2 * DAY).toUTCString());
    return false;
  };
  standby.child.kill('SIGTERM');
  await Promise.all([standby.ended, a.server.stop(), d.server.stop()]);
  for (const [node, { folder, env, names }] of Object.entries({ a, b: second, d })) {
    const later = { ...env, RECORDS_NODES: AFTER, ...clockOffBy((2 * DAY) / 1_000) };
    const server = await serveAtOnce(t, folder, later);
    const want = names.length * (node === 'd' ? 2 : SEEDED_DAYS + 3);
    await until(async () => {
      assert.equal(server.child.exitCode, null, server.said.log);
      const { stdout } = await run(t, folder, ['archive', 'status', '--json'], env);
      return JSON.parse(stdout).observations === want ? true : null;
    });
    await server.stop();
  }
  const { verify } = await import('../../packages/verify/src/verify.ts');
  const evidence = tempFolder(t);
  for (const name of HOSTS) {
    const args = ['archive', 'history', name, '--json', '--evidence', evidence];
    const { stdout, stderr } = await run(t, tempFolder(t), args, cluster.places);
    assert.equal(stderr, '');
    const { nodes: found, records, files } = JSON.parse(stdout);
    const isLost = c.names.includes(name);
    assert.deepEqual(
      found.map(({ node }: { node: string }) => node),
      isLost ? ['c', 'd'] : [a.names.includes(name) ? 'a' : 'b'],
    );
    const serials = records.slice(SEEDED_DAYS).map((one: { signals: { SOA: { values: string[] } } }) => {
      return Number(one.signals.SOA.values[0]?.split(' ')[2]);
    });
    assert.deepEqual(serials, isLost ? [2, 3] : [1, 2, 3], `${name} was signed once for each probe`);
    const times = records.map(({ observed_at }: { observed_at: string }) => observed_at);
    assert.deepEqual(times, [...new Set(times)].sort());
    for (const file of files) {
      const { holds, faults } = await verify(readFileSync(file, 'utf8'));
      assert.deepEqual([holds, faults], [true, []], file);
    }
  }
});

/** Waits until the lease of a node knows all its leaves. */
async function signedAll({ folder, env }: { folder: string; env: Record<string, string> }, store: S3Server) {
  const app = appContextIn({ after() {} }, folder, { now: Date.now() }, env);
  try {
    await until(() => {
      const { heads } = JSON.parse(store.bytes(`lease/signers/${env.RECORDS_NODE}.json`) ?? '{}');
      return heads.records?.size === app.store.database.log.size('records') ? true : null;
    });
  } finally {
    app.close();
  }
}
