import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquirePressLease } from '../../src/desk/jobs/press-lease.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { REMOVAL_REASON, removePaper } from '../../src/desk/papers/removal.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { intakeOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { run, runAlone, until } from '../support/program.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

async function faultsIn(folder: string): Promise<string[]> {
  const app = openAppContext(readSettings(envIn(folder)));
  try {
    return (await auditApp(app)).faults;
  } finally {
    app.close();
  }
}

test('a paper is removed while the server runs, and restored explicitly', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'tides', url: 'https://tides.example' },
    { slug: 'shoals' },
    { slug: 'quiet', isPublic: false },
  ]);
  const { url, said } = await serveHere(t, folder);
  const get = (path: string, headers: Record<string, string> = {}) => ask(url, path, headers);
  const admin = { 'x-nrf-key': keys.get('tides')?.admin ?? '' };
  const post = (path: string, body: object) => send(url, { method: 'POST', path, headers: admin, body });
  const order = await post('/tides/api/v1/subscribers', { email: 'ada@reader.example', cadence: 'daily' });
  assert.equal(order.status < 300, true, JSON.stringify(order));
  assert.equal((await post('/tides/api/v1/webhooks', { url: 'https://hooks.example/tides' })).status, 201);
  assert.equal((await get('/tides/stories/high-water/')).status, 200);

  const asked = await run(t, folder, ['paper', 'remove', 'tides']);
  assert.deepEqual([asked.code, asked.stderr], [1, 'broadsheet: this takes tides off the air (3 pieces); add --yes\n']);
  const unknown = await run(t, folder, ['paper', 'remove', 'tide', '--yes']);
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'broadsheet: there is no paper "tide"; there are quiet, shoals, tides\n'],
  );

  // Two at once: one removes it, the other finds nothing.
  const both = await Promise.all([1, 2].map(() => runAlone(t, folder, ['paper', 'remove', 'tides', '--yes'])));
  assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1]);
  const done = both.find(({ code }) => code === 0)?.stdout ?? '';
  assert.match(
    done,
    /^removed tides: 3 pieces withdrawn, (?:\d+ files removed|its files wait for the next press), addresses of 1 reader erased, 3 keys revoked\n/,
  );
  assert.match(
    done,
    /4 receipts of it stay in the ledger and in the log\n.*content\/tides stays, and is not filed again/,
  );

  await t.test('its addresses answer 410 on both hosts, and no others do', async () => {
    await until(() => (existsSync(join(folder, 'papers/tides')) ? null : true));
    for (const [path, headers] of [
      ['/tides/', {}],
      ['/tides', {}],
      ['/tides/stories/high-water/', {}],
      ['/tides/rss.xml', {}],
      ['/tides/never/was', {}],
      ['/stories/high-water/', { host: 'tides.example' }],
    ] as const) {
      const { status, text } = await get(path, headers);
      assert.equal(status, 410, path);
      assert.match(text, /was removed/, path);
    }
    const api = await get('/tides/api/v1', { accept: 'application/json', ...admin });
    assert.equal(api.status, 410);
    assert.equal(JSON.parse(api.text).error, 'withdrawn');
    assert.equal((await post('/tides/api/v1/stories', storyBody('late'))).status, 410);
    assert.equal((await get('/shoals/stories/high-water/')).status, 200);
    assert.equal((await get('/quiet/')).status, 404);
    assert.doesNotMatch((await get('/')).text, /tides/);
    assert.equal((await get('/robots.txt')).text.includes('tides'), false);
  });

  await t.test('nothing of its readers is left, and the ledger, the log and the other trees hold', async () => {
    const app = openAppContext(readSettings(envIn(folder)));
    try {
      const { store } = app;
      assert.equal(store.desk.removals.eraseReaders('tides'), 0);
      assert.deepEqual(
        store.desk.keys.list('tides').filter(({ revoked_at }) => revoked_at === null),
        [],
      );
      assert.deepEqual(
        [...store.desk.entries()].flatMap((entry) => (entry.type === 'withdrawal' ? [entry.reason] : [])),
        [REMOVAL_REASON, REMOVAL_REASON, REMOVAL_REASON],
      );
    } finally {
      app.close();
    }
    assert.deepEqual(await faultsIn(folder), []);
  });

  await t.test('its folder is not filed again', async () => {
    const { code, stdout, stderr } = await run(t, folder, ['file']);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^tides\/paper\.yaml:1 paper: tides was removed on \S+, and nothing is filed to it; bring it back with `npm run -s broadsheet -- paper restore tides`, or delete or rename the folder\n$/,
    );
    assert.match(stdout, /^0 filed, 8 unchanged, 1 refused\n/);
    writeFileSync(join(folder, 'pieces.jsonl'), '');
    const imported = await run(t, folder, ['import', join(folder, 'pieces.jsonl'), '--paper', 'tides', '--create']);
    assert.match(imported.stderr, /tides was removed on/);
    const listed = await run(t, folder, ['paper', 'list', '--json']);
    const rows = JSON.parse(listed.stdout) as {
      slug: string;
      on_air: number;
      drafts: number;
      removed_at: string | null;
      public: boolean;
    }[];
    assert.deepEqual(
      rows.map(({ slug, on_air, drafts, removed_at, public: isPublic }) => [
        slug,
        on_air,
        drafts,
        removed_at === null,
        isPublic,
      ]),
      [
        ['quiet', 3, 1, true, false],
        ['shoals', 3, 1, true, true],
        ['tides', 0, 1, false, true],
      ],
    );
  });

  await t.test('an export has the removal, and an import of it has the same papers', async () => {
    const [file, other] = [join(folder, 'ledger.jsonl'), tempFolder(t)];
    assert.equal((await run(t, folder, ['ledger', 'export', file])).code, 0);
    const { code, stderr } = await run(t, other, ['ledger', 'import', file]);
    assert.equal(code, 0, stderr);
    const again = join(other, 'again.jsonl');
    await run(t, other, ['ledger', 'export', again]);
    const plain = (path: string) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => !/"type":"(?:log-|end)/.test(line));
    assert.deepEqual(plain(again), plain(file));
    assert.equal(existsSync(join(other, 'papers/tides')), false);
    assert.deepEqual(await faultsIn(other), []);
  });

  await t.test('restored, it has its notices, and a piece that is put on air again is on air', async () => {
    const restored = await run(t, folder, ['paper', 'restore', 'tides']);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /^The Tide Table \(tides\) is back, with 3 pieces withdrawn\n/);
    assert.equal((await get('/tides/')).status, 200);
    assert.equal((await get('/tides/stories/high-water/')).status, 410);
    assert.equal((await get('/tides/api/v1/config', admin)).status, 401);
    assert.equal((await run(t, folder, ['air', 'high-water', '--paper', 'tides'])).code, 0);
    assert.equal((await get('/tides/stories/high-water/')).status, 200);
    assert.deepEqual(await faultsIn(folder), []);
    assert.equal(
      (await run(t, folder, ['paper', 'restore', 'tides'])).stderr,
      'broadsheet: "tides" is not a paper that was removed\n',
    );
  });
  assert.equal(said.stderr, '');
});

test('a removal that is killed is completed by the next press, and one that meets a press waits for it', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }, { slug: 'shoals' }]);
  const app = openAppContext(readSettings(envIn(folder)));
  t.after(() => app.close());
  await pressPapers(app);
  const tree = join(folder, 'papers/tides');
  assert.ok(existsSync(join(tree, '_headers')));
  // Killed before, in the middle of, and after the removal of the files.
  removePaper(intakeOf(app), 'tides', 'cli');
  assert.deepEqual((await auditApp(app)).faults, [
    'tides: the paper was removed, and its files wait for the press; run `npm run -s broadsheet -- press`',
  ]);
  rmSync(join(tree, '_headers'));
  rmSync(join(tree, 'stories'), { recursive: true });
  const held = await acquirePressLease(app.store.desk.manifest, 'tides');
  const pressing = runAlone(t, folder, ['press']);
  await until(() => (app.store.desk.manifest.leaseOwner('shoals') === null ? true : null));
  assert.ok(existsSync(tree), 'another press holds the tree');
  held.release();
  const { code, stdout } = await pressing;
  assert.equal(code, 0);
  assert.match(stdout, /pressed tides: 0 outputs, 0 files written, \d+ removed/);
  assert.equal(existsSync(tree), false);
  assert.deepEqual((await auditApp(app)).faults, []);
  // What a backup or a copy brings back goes too.
  mkdirSync(tree);
  assert.equal((await pressPapers(app)).has('tides'), true);
  assert.equal(existsSync(tree), false);
  assert.equal((await pressPapers(app)).size, 0);
});
