import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { type Running, run, type Serving, serveAtOnce, start } from '../support/program.ts';
import { BUCKET, S3Server, storeEnv } from '../support/s3-server.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';

interface Stand {
  primary: Serving;
  first: string;
  backups: string;
  store: S3Server;
  env: Record<string, string>;
  /** Files a story at a server. Returns the status. */
  file(url: string, slug: string): Promise<number>;
  backUp(name: string): Promise<void>;
  /** The leaves of the desk that the lease says were signed. */
  signed(): number;
}

async function standOf(t: TestContext): Promise<Stand> {
  const [first, backups] = [tempFolder(t), tempFolder(t)];
  const keys = await enterPapers(first, [{ slug: PAPER }]);
  const store = await S3Server.start(t);
  const { PUBLISH_URL: _, ...access } = storeEnv(store.endpoint);
  const env = {
    ...access,
    LEASE_URL: `s3://${BUCKET}/lease`,
    LEASE_TIME: '8s',
    ORIGIN: 'https://papers.example',
    LOG_LEVEL: 'warn',
  };
  const primary = await serveAtOnce(t, first, env);
  const headers = { authorization: `Bearer ${keys.get(PAPER)?.admin}` };
  const file = async (url: string, slug: string) => {
    const body = { ...storyBody(slug), air: true };
    // A standby starts its server anew with each copy.
    const sent = send(url, { method: 'POST', path: `/${PAPER}/api/v1/stories`, headers, body });
    return (await sent.catch(() => ({ status: 0 }))).status;
  };
  await until(async () => ((await file(primary.url, 'the-first')) === 201 ? true : null));
  const signed = () => JSON.parse(store.bytes('lease/signer.json') ?? '{}').heads?.desk?.size ?? 0;
  const backUp = async (name: string) => {
    assert.equal((await run(t, first, ['backup', join(backups, `${name}.tar.zst`)])).code, 0);
  };
  return { primary, first, backups, store, env, file, backUp, signed };
}

/** Waits as `until` of program.ts does, but asks less often: what it waits for here takes seconds, and two servers answer. */
async function until<T>(ask: () => Promise<T | null> | T | null): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    await sleep(250);
  }
}

/** Waits as `until` does, and fails when a process that it waits for has ended. */
function untilIn<T>({ child, said }: Running, ask: () => Promise<T | null> | T | null): Promise<T> {
  return until(() => {
    assert.equal(child.exitCode, null, said.log);
    return ask();
  });
}

interface Standby extends Running {
  folder: string;
  url: string;
}

async function standBy(t: TestContext, { backups, env }: Stand, from = backups): Promise<Standby> {
  const folder = tempFolder(t);
  const port = String(await freePort());
  const args = ['standby', '--from', from, '--every', '1s'];
  return { ...start(t, folder, args, { ...env, PORT: port }), folder, url: `http://127.0.0.1:${port}` };
}

const json = async (url: string) =>
  fetch(url).then(
    async (response) => ({ status: response.status, body: await response.json() }),
    () => null,
  );
const isReady = (url: string) => until(async () => ((await json(`${url}/ready`))?.status === 200 ? true : null));
const shows = (url: string, slug: string) =>
  until(async () =>
    (await fetch(`${url}/${PAPER}/stories/${slug}/`).catch(() => null))?.status === 200 ? true : null,
  );
/** Waits until the lease says that everything of a server is signed. */
const signedAll = async (stand: Stand, more: number) => {
  const before = stand.signed();
  await until(() => (stand.signed() >= before + more ? true : null));
};

test('a standby keeps a copy from the backups, presses it, and takes over from a machine that is gone', {
  skip: ONLY_WIDE,
}, async (t) => {
  const stand = await standOf(t);
  const { primary, first, env, file, backUp } = stand;
  const standby = await standBy(t, stand);
  await untilIn(standby, () =>
    /standby: there is no backup at .* yet; trying again/.test(standby.said.stderr) ? true : null,
  );
  await backUp('1');
  await isReady(standby.url);
  await shows(standby.url, 'the-first');
  const health = await json(`${standby.url}/health`);
  assert.deepEqual(
    [health?.body.signing.signs, health?.body.signing.why],
    [false, 'holder'],
    JSON.stringify(health?.body),
  );
  assert.match(health?.body.signing.since, /^\d{4}-/);
  assert.doesNotMatch(JSON.stringify(health?.body), /process \d/, 'no machine is named to everybody');
  assert.equal(await file(standby.url, 'not-here'), 503);
  const status = await run(t, standby.folder, ['log', 'status'], env);
  assert.match(status.stdout, /signing: nothing is signed here: \S+, process \d+ signs, since \d{4}-/);
  const doctor = await run(t, standby.folder, ['doctor'], env);
  assert.match(doctor.stdout, /ok {4}lease: .*process \d+ holds it since .*stands by, and signs nothing/);

  // Nothing else uses the copy, which the next backup replaces.
  const data = join(standby.folder, 'var');
  const restored = await run(t, standby.folder, ['restore', join(stand.backups, '1.tar.zst')], env);
  assert.match(restored.stderr, /var is not empty/);
  const served = await run(t, standby.folder, ['serve'], { ...env, PORT: '0' });
  assert.match(served.stderr, /is the copy of a standby, which replaces it by the next backup; run broadsheet standby/);
  const twice = await run(t, standby.folder, ['standby', '--from', stand.backups], env);
  assert.match(twice.stderr, /another standby is using \S+; stop it first/);

  assert.equal(await file(primary.url, 'the-second'), 201);
  await backUp('2');
  await shows(standby.url, 'the-second');
  await signedAll(stand, 0);
  primary.child.kill('SIGKILL');
  await primary.ended;
  await untilIn(standby, async () => ((await file(standby.url, 'after-all')) === 201 ? true : null));
  assert.ok(!existsSync(join(data, 'standby.copy')), 'what signs is no copy any more');
  await shows(standby.url, 'after-all');

  // A backup of the machine that was lost replaces nothing now.
  assert.equal((await run(t, first, ['backup', join(stand.backups, '3.tar.zst')])).code, 0);
  await sleep(2_500);
  await shows(standby.url, 'after-all');
  standby.child.kill('SIGTERM');
  assert.equal((await standby.ended).code, 0);
  const audit = await run(t, standby.folder, ['audit'], env);
  assert.equal(audit.code, 0, audit.stdout);
});

test('a lagging standby signs nothing until it has everything that was signed', { skip: ONLY_WIDE }, async (t) => {
  const stand = await standOf(t);
  const { primary, env, file, backUp, signed } = stand;
  await backUp('1');
  const standby = await standBy(t, stand);
  await isReady(standby.url);
  const before = signed();
  assert.equal(await file(primary.url, 'too-late'), 201);
  await until(() => (signed() > before ? true : null));
  primary.child.kill('SIGKILL');
  await primary.ended;
  const isBehind = async () => (await json(`${standby.url}/health`))?.body.signing.why === 'newer_copy';
  await untilIn(standby, async () => ((await isBehind()) ? true : null));
  assert.equal((await json(`${standby.url}/ready`))?.status, 200, 'what it has is read');
  assert.equal(await file(standby.url, 'not-yet'), 503);
  const doctor = await run(t, standby.folder, ['doctor'], env);
  assert.match(
    doctor.stdout,
    /FAULT lease: .* took it since .* and no longer renews it: nobody signs\n +restore the newest/,
  );
  const status = await run(t, standby.folder, ['log', 'status'], env);
  assert.match(status.stdout, /no longer renews it; the log \S+ has \d+ leaves here, and the server that signed last/);
  // The disk of the lost machine is read after all.
  await backUp('2');
  await untilIn(standby, async () => ((await file(standby.url, 'at-last')) === 201 ? true : null));
  await shows(standby.url, 'too-late');
});

test('of two standbys one takes over, and none does while the store is down', { skip: ONLY_WIDE }, async (t) => {
  const stand = await standOf(t);
  const { primary, store, file, backUp } = stand;
  await backUp('1');
  await signedAll(stand, 0);
  const standbys = [await standBy(t, stand), await standBy(t, stand)];
  for (const { url } of standbys) await isReady(url);
  let isDown = true;
  store.intercept = (_request, response) => {
    if (isDown) response.writeHead(500).end();
    return isDown;
  };
  // It cannot renew the lease, and stops by itself.
  assert.equal((await primary.ended).code, 1);
  for (const { url } of standbys) {
    await until(async () => ((await json(`${url}/health`))?.body.signing.why === 'store' ? true : null));
    assert.equal(await file(url, 'nowhere'), 503);
  }
  isDown = false;
  const statuses = await until(async () => {
    const found = [];
    for (const { url } of standbys) found.push(await file(url, `by-${found.length}`).catch(() => 0));
    return found.includes(201) ? found : null;
  });
  assert.deepEqual([...statuses].sort(), [201, 503]);
});

test('a damaged or older backup is not used, and the served copy stays', { skip: ONLY_WIDE }, async (t) => {
  const stand = await standOf(t);
  await stand.backUp('1');
  await stand.backUp('older');
  const standby = await standBy(t, stand, join(stand.backups, 'current.tar.zst'));
  const current = join(stand.backups, 'current.tar.zst');
  const put = (name: string, change = (bytes: Buffer) => bytes) =>
    writeFileSync(current, change(readFileSync(join(stand.backups, `${name}.tar.zst`))));
  assert.equal(await stand.file(stand.primary.url, 'the-second'), 201);
  await stand.backUp('2');
  put('2');
  await isReady(standby.url);
  await shows(standby.url, 'the-second');
  put('2', (bytes) => bytes.subarray(0, bytes.length - 100));
  await until(() => (/current\.tar\.zst is not a complete backup/.test(standby.said.stderr) ? true : null));
  await shows(standby.url, 'the-second');
  put('older');
  await until(() =>
    /current\.tar\.zst is not used: it has \d+ leaves of the log of the desk/.test(standby.said.stderr) ? true : null,
  );
  await shows(standby.url, 'the-second');
});
