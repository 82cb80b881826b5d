import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileStory } from '../../src/desk/file-story.ts';
import { parseObservation } from '../../src/proof/records/receipt.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { openSigningKey, readSigningKey, rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { HOUR, probe } from '../support/probes.ts';
import { runAlone } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOON = Date.UTC(2026, 10, 20, 12);

function shopIn(t: TestContext) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  return { folder, clock, app: appContextIn(t, folder, clock) };
}

const rotate = ({ store, settings, clock: { now } }: AppContext) =>
  rotateSigningKey(store, signingKeyFile(settings), signingName(settings), now());
const open = ({ store, settings, clock: { now } }: AppContext) =>
  openSigningKey(store, signingKeyFile(settings), signingName(settings), now());
const present = ({ store }: AppContext) =>
  store.desk.signingKeys().findLast(({ retired_at }) => retired_at === null)?.kid;
const kidOf = (receipt: string) => parseObservation(receipt.slice(0, receipt.lastIndexOf('\n\n') + 1))?.kid;

/** Looks at hosts as a scanner does, and gives the kids that signed. */
async function observe(app: AppContext, ...names: string[]) {
  const { records } = app.store;
  records.watch(names.map(parseHostname), app.clock.now());
  const queue = localQueue(app, 'test');
  const taken = queue.leaseNames(names);
  const looks = names.map((name) => probe(name, app.clock.now(), { A: ['192.0.2.1'] }));
  await queue.submit(taken?.lease ?? '', looks);
  return names.map((name) => kidOf(records.observation(records.find(name)?.id ?? 0)?.receipt ?? ''));
}

test('reading creates no key, and a rolled-back transaction keeps none', async (t) => {
  const { app } = shopIn(t);
  const file = signingKeyFile(app.settings);
  // A process that signs without having opened the door.
  await assert.rejects(observe(app, 'early.example'), { code: 'unavailable', message: /there is no signing key yet/ });
  assert.ok(!existsSync(file) && app.store.desk.signingKeys().length === 0);

  const half = () =>
    app.store.database.transact(() => {
      open(app);
      throw new Error('taken back');
    });
  assert.throws(half, /taken back/);
  assert.deepEqual(app.store.desk.signingKeys(), []);
  await assert.rejects(observe(app, 'early.example'), { code: 'unavailable' });
  open(app);
  const kids = await observe(app, 'harbor.example');
  assert.deepEqual(kids, [present(app)]);
  assert.deepEqual(kids, [readSigningKey(file).kid]);
});

test('a rotation between the check of a key and its signature does not let the retired one sign', (t) => {
  const { folder, clock, app } = shopIn(t);
  createPaper(app);
  const other = appContextIn(t, folder, clock);
  const desk = deskOf(app);
  // The desk was taken, and its key looked at, before the other process rotates.
  const old = desk.signingKey.kid;
  clock.now += HOUR;
  const { kid } = rotate(other);
  fileStory(desk, PAPER, filing('tide'), { by: 'cli' });
  assert.notEqual(old, kid);
  const story = app.store.desk.archive(PAPER).storyBySlug('tide');
  assert.deepEqual(
    app.store.desk
      .archive(PAPER)
      .generations(story?.id ?? '')
      .map((generation) => generation.kid),
    [kid],
  );
});

test('a rotation that is killed at any moment leaves one key in force, and the means to sign with it', (t) => {
  const { folder, clock, app } = shopIn(t);
  createPaper(app);
  const file = signingKeyFile(app.settings);
  const waits = `${file}.next`;
  const old = readFileSync(file);

  // Killed before its commit: a key waits that the ledger does not name.
  const stranger = shopIn(t).app;
  stranger.signer.open();
  cpSync(signingKeyFile(stranger.settings), waits);
  const before = appContextIn(t, folder, clock);
  open(before);
  assert.equal(deskOf(before).signingKey.kid, present(app));
  assert.deepEqual(readFileSync(file), old);

  // Killed between its commit and the rename: the ledger names the key that waits.
  const { kid } = rotate(before);
  renameSync(file, waits);
  writeFileSync(file, old, { mode: 0o600 });
  assert.equal(deskOf(app).signingKey.kid, kid, 'a server that runs signs with it at once');
  assert.equal(deskOf(appContextIn(t, folder, clock)).signingKey.kid, kid);
  open(appContextIn(t, folder, clock));
  assert.equal(readSigningKey(file).kid, kid, 'the next start gives it its place');
  assert.ok(!existsSync(waits));
});

test('the key file of a retired key is refused, with the cure', (t) => {
  const { folder, clock, app } = shopIn(t);
  createPaper(app);
  const file = signingKeyFile(app.settings);
  const old = readFileSync(file);
  const retired = present(app);
  rotate(app);
  // From a backup of before the rotation.
  writeFileSync(file, old, { mode: 0o600 });
  const restored = appContextIn(t, folder, clock);
  const refused = new RegExp(`holds ${retired}, which was retired.*npm run -s broadsheet -- key rotate`);
  assert.throws(() => restored.signer.open(), { code: 'unavailable', message: refused });
  assert.throws(() => deskOf(restored).signingKey, { code: 'unavailable', message: /does not hold/ });
  const made = rotate(restored);
  assert.equal(deskOf(restored).signingKey.kid, made.kid);
  assert.equal(deskOf(app).signingKey.kid, made.kid, 'the server that runs goes on with it too');
});

test('processes that rotate concurrently leave one key in force, and a server signs with it', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { folder, app } = shopIn(t);
  createPaper(app);
  const rotations = await Promise.all([1, 2, 3].map(() => runAlone(t, folder, ['key', 'rotate', '--json'])));
  const kids = rotations.map(({ code, stdout, stderr }) => {
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { kid: string }).kid;
  });
  assert.equal(new Set(kids).size, 3);
  const keys = app.store.desk.signingKeys();
  assert.deepEqual([keys.length, keys.filter(({ retired_at }) => retired_at === null).length], [4, 1]);
  assert.equal(readSigningKey(signingKeyFile(app.settings)).kid, present(app));
  assert.deepEqual(await observe(app, 'harbor.example'), [present(app)]);
});
