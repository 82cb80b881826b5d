import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { run, serve, start, until } from '../support/program.ts';
import { BUCKET, refuse, S3Server, startVersitygw, storeEnv } from '../support/s3-server.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';

/** A folder with one paper, filed and pressed. */
async function pressedFolder(t: TestContext): Promise<string> {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: PAPER }]);
  const { code, stderr } = await run(t, folder, ['press']);
  assert.equal(code, 0, stderr);
  return folder;
}

/** What the store lacks of a tree on disk, or has beside it. */
function differences(store: S3Server, folder: string): string[] {
  const tree = treeOf(join(folder, 'papers', PAPER));
  const there = new Set(store.paths(`site/${PAPER}/`).filter((path) => path !== '.broadsheet.json'));
  const others = [...tree]
    .filter(([path, bytes]) => store.bytes(`site/${PAPER}/${path}`) !== bytes)
    .map(([path]) => path);
  return [...others, ...[...there].filter((path) => !tree.has(path))];
}

test('a killed publication resumes immediately where it stopped', { skip: ONLY_WIDE }, async (t) => {
  const folder = await pressedFolder(t);
  const store = await S3Server.start(t);
  const env = storeEnv(store.endpoint);
  store.intercept = () => sleep(20).then(() => false);
  const total = treeOf(join(folder, 'papers', PAPER)).size;
  const publisher = start(t, folder, ['publish', '--paper', PAPER], env);
  // Some stages are sent and recorded.
  await until(() => (store.objects.size > total / 2 ? true : null));
  publisher.child.kill('SIGKILL');
  assert.equal((await publisher.ended).signal, 'SIGKILL');
  const first = store.objects.size;
  assert.ok(first < total, `${first} of ${total}`);
  store.intercept = () => false;
  store.received.length = 0;
  const { code, stdout, stderr } = await run(t, folder, ['publish', '--paper', PAPER, '--json'], env);
  assert.equal(code, 0, stderr);
  assert.deepEqual(differences(store, folder), []);
  const { sent } = JSON.parse(stdout)[PAPER];
  assert.ok(sent > 0 && sent < total, `${sent} of ${total}`);
  assert.ok(!store.received.some(({ method, key }) => method === 'GET' && key === ''), 'nothing is listed');
});

test('a bucket that fails holds up nothing, and catches up', { skip: ONLY_WIDE }, async (t) => {
  const folder = await pressedFolder(t);
  const store = await S3Server.start(t);
  const env = storeEnv(store.endpoint);
  store.intercept = (_request, response) => {
    refuse(response, 403, 'AccessDenied');
    return true;
  };
  const pressed = await run(t, folder, ['air', 'slack-water', '--paper', PAPER], env);
  assert.equal(pressed.code, 0);
  assert.match(
    pressed.stderr,
    /not published: the credentials may not GET .*allow them GetObject.*run broadsheet publish/,
  );
  const server = await serve(t, folder, env);
  await until(async () => {
    const { stdout } = await run(t, folder, ['doctor', '--json'], env);
    const found = JSON.parse(stdout).findings.find(({ name }: { name: string }) => name === 'publish');
    return found?.state === 'fault' && /may not GET/.test(found.found) ? true : null;
  });
  store.intercept = () => false;
  await until(() =>
    store.objects.has(`site/${PAPER}/_headers`) && differences(store, folder).length === 0 ? true : null,
  );
  const { code } = await run(
    t,
    folder,
    ['withdraw', 'slack-water', '--paper', PAPER, '--reason', 'It was wrong.'],
    env,
  );
  assert.equal(code, 0);
  await until(() => (differences(store, folder).length === 0 ? true : null));
  assert.match(store.bytes(`site/${PAPER}/stories/slack-water/index.html`) ?? '', /It was wrong\./);
  assert.equal((await server.stop()).code, 0);
  const { stdout } = await run(t, folder, ['publish', '--check'], env);
  assert.match(stdout, /tide-table: \d+ files compared, 0 differences/);
});

test('the command checks, repairs and says what it would do', {
  skip: ONLY_WIDE || without('versitygw'),
}, async (t) => {
  const folder = await pressedFolder(t);
  const env = storeEnv(await startVersitygw(t, tempFolder(t)));
  const would = await run(t, folder, ['publish', '--dry-run'], env);
  assert.match(would.stdout, /^send tide-table\/index\.html$/m);
  const sent = await run(t, folder, ['publish'], env);
  assert.match(sent.stdout, /^published tide-table: \d+ files sent \([\d.]+ [kM]B\), 0 removed$/m);
  const again = await run(t, folder, ['publish'], env);
  assert.equal(again.stdout, 'nothing left to publish\n');
  assert.equal((await run(t, folder, ['publish', '--check'], env)).code, 0);
  // Another desk in the same bucket.
  const other = await pressedFolder(t);
  const refused = await run(t, other, ['publish', '--to', `s3://${BUCKET}/site`], env);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /another desk publishes/);
  const both = await run(t, folder, ['publish', '--check', '--repair'], env);
  assert.match(both.stderr, /cannot be combined; give one of them/);
  const nowhere = await run(t, folder, ['publish', '--to', './papers'], { ...env, DIST_DIR: 'papers' });
  assert.match(nowhere.stderr, /must not hold or be within DIST_DIR/);
});

test('late writes of a stopped publisher are found and repaired by the next one', { skip: ONLY_WIDE }, async (t) => {
  const folder = await pressedFolder(t);
  const store = await S3Server.start(t);
  const env = storeEnv(store.endpoint);
  const { PUBLISH_URL: _, ...quiet } = env;
  const page = `site/${PAPER}/stories/high-water/index.html`;
  const late = Promise.withResolvers<void>();
  let held: Buffer | null = null;
  store.intercept = async ({ method, key }, response, raw) => {
    if (method !== 'PUT' || key !== page || held !== null) return false;
    const chunks: Buffer[] = [];
    for await (const chunk of raw) chunks.push(chunk);
    held = Buffer.concat(chunks);
    await late.promise;
    const item = { bytes: held, headers: {}, etag: 'late', modified: new Date() };
    store.objects.set(page, item);
    response.writeHead(200, { etag: '"late"' }).end();
    return true;
  };
  const stopped = start(t, folder, ['publish', '--paper', PAPER], env);
  await until(() => held);
  stopped.child.kill('SIGSTOP');
  const args = ['withdraw', 'high-water', '--paper', PAPER, '--reason', 'It was wrong.'];
  assert.equal((await run(t, folder, args, quiet)).code, 0);
  // Half a minute passes at the store.
  const leaseFile = `site/${PAPER}/.broadsheet.json`;
  const item = store.objects.get(leaseFile);
  assert.ok(item);
  store.objects.set(leaseFile, { ...item, modified: new Date(Date.now() - 40_000) });
  const { code, stderr } = await run(t, folder, ['publish', '--paper', PAPER], env);
  assert.equal(code, 0, stderr);
  assert.deepEqual(differences(store, folder), []);
  late.resolve();
  await until(() => (store.objects.get(page)?.etag === 'late' ? true : null));
  stopped.child.kill('SIGCONT');
  const outcome = await stopped.ended;
  assert.equal(outcome.code, 1);
  assert.match(outcome.stderr, /another publisher may have taken over.*publish again/);
  assert.deepEqual(differences(store, folder), ['stories/high-water/index.html']);
  assert.equal((await run(t, folder, ['publish', '--paper', PAPER], env)).code, 0);
  assert.deepEqual(differences(store, folder), []);
});
