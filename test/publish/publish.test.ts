import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { removePaper } from '../../src/desk/papers/removal.ts';
import { startPublisher } from '../../src/operate/publish/publish-job.ts';
import {
  compareTrees,
  type PublishOptions,
  planTrees,
  publishAfterPress,
  publishTrees,
} from '../../src/operate/publish/publish-run.ts';
import { present } from '../../src/proof/narrow.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import type { Settings } from '../../src/server/env.ts';
import { openCommandLog } from '../../src/server/server-log.ts';
import { type Address, parseAddress } from '../../src/shared/storage/address.ts';
import { openBucket } from '../../src/shared/storage/publish-target.ts';
import { publishLogOnce } from '../../src/signing/log/open-witnesses.ts';
import { paperOf } from '../press/paper-copy.ts';
import { PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { DAY, paperOf as pressPaperOf, publish, START } from '../support/pressed-paper.ts';
import { BUCKET, CREDENTIALS, refuse, S3Server } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const silent = openCommandLog('silent');
const TIMES = { lasts: 20_000, poll: 20 };

interface Stand {
  app: AppContext;
  address: Address;
  tree: string;
  clock: { now: number };
  send(options?: PublishOptions): ReturnType<typeof publishTrees>;
}

/** A paper with its log, and an address to publish to. */
async function standAt(t: TestContext, to: string, pieces = 3, make = paperOf): Promise<Stand> {
  const { app, clock, tree } = await make(t, pieces);
  await publishLogOnce(app, 'desk', openCommandLog('silent'));
  const address = parseAddress(to);
  assert.ok(typeof address !== 'string', String(address));
  const send = (options: PublishOptions = {}) => send_(app, address, options);
  return { app, address, tree, clock, send };
}

const bucketOf = ({ settings }: AppContext, address: Address) =>
  openBucket({ ...settings, objectStorage: { ...settings.objectStorage, ...CREDENTIALS } } as Settings, address);

function send_(app: AppContext, address: Address, options: PublishOptions) {
  return publishTrees(app, address, bucketOf(app, address), { times: TIMES, ...options });
}

const at = (store: S3Server, rest = '') => `s3://${BUCKET}/site?endpoint=${store.endpoint}${rest}`;

/** What the store has of a paper, as a tree on disk. */
function published(store: S3Server, prefix: string): Map<string, string> {
  const paths = store.paths(prefix).filter((path) => path !== '.broadsheet.json');
  return new Map(paths.map((path) => [path, store.bytes(prefix + path) ?? '']));
}

function assertPublished(store: S3Server, prefix: string, tree: string): void {
  const [there, wanted] = [published(store, prefix), treeOf(tree)];
  assert.deepEqual([...there.keys()].sort(), [...wanted.keys()].sort());
  for (const [path, bytes] of wanted) assert.equal(there.get(path), bytes, path);
}

test('a paper and the log are published once, and later only what changed', async (t) => {
  const store = await S3Server.start(t);
  const { app, tree, send, address } = await standAt(t, at(store));
  store.intercept = () => sleep(5).then(() => false);
  const first = await send();
  store.intercept = () => false;
  assertPublished(store, `site/${PAPER}/`, tree);
  assertPublished(store, 'site/log/', join(app.settings.logDir, 'desk'));
  assert.equal(first.get(PAPER)?.sent, treeOf(tree).size);
  assert.ok(store.mostAtOnce > 8, `${store.mostAtOnce} at once`);
  const logged = store.received.filter(
    ({ method, key }) => method === 'PUT' && key.startsWith('site/log/') && !key.endsWith('.json'),
  );
  assert.equal(logged.at(-1)?.key, 'site/log/checkpoint');

  store.received.length = 0;
  assert.deepEqual(
    [...(await send()).values()].map(({ sent, removed }) => sent + removed),
    [0, 0],
  );
  assert.equal(store.received.length, 2, 'one look at each lease');

  publish(app, 'the-new-one', START);
  await pressPapers(app, { cards: false });
  assert.ok(
    (await planTrees(app, address, bucketOf(app, address)))
      .get(PAPER)
      ?.some(({ path }) => path === 'stories/the-new-one/index.html'),
  );
  store.received.length = 0;
  const next = await send({ paper: PAPER });
  assertPublished(store, `site/${PAPER}/`, tree);
  assert.ok((next.get(PAPER)?.sent ?? 0) < 30);
  assert.ok(store.received.length < 60, `${store.received.length} requests`);
  const puts = store.received
    .filter(({ method }) => method === 'PUT')
    .map(({ key }) => key.replace(`site/${PAPER}/`, ''));
  const before = (a: string, b: string) => assert.ok(puts.indexOf(a) < puts.indexOf(b), `${a} before ${b}`);
  before('stories/the-new-one/index.html', 'sections/city/index.html');
  before('sections/city/index.html', 'index.html');
  before('index.html', 'rss.xml');
  assert.deepEqual((await compareTrees(app, address, bucketOf(app, address))).get(PAPER)?.differences, []);
});

test('objects carry the headers of _headers, and are sent again when these change', { skip: ONLY_WIDE }, async (t) => {
  const store = await S3Server.start(t);
  const { app, send } = await standAt(t, at(store));
  await send();
  const headersOf = (path: string) => store.objects.get(`site/${PAPER}/${path}`)?.headers ?? {};
  assert.equal(headersOf('index.html')['content-type'], 'text/html; charset=utf-8');
  assert.match(headersOf('index.html')['x-amz-meta-content-security-policy'] ?? '', /^default-src 'none'/);
  assert.match(headersOf('index.html')['x-amz-meta-link'] ?? '', /api-catalog/);
  assert.equal(headersOf('rss.xml')['content-type'], 'application/rss+xml; charset=utf-8');
  assert.equal(headersOf('rss.xml')['x-amz-meta-access-control-allow-origin'], '*');
  assert.match(headersOf('stories/piece-0/index.html')['cache-control'] ?? '', /s-maxage=60/);
  assert.match(store.objects.get('site/log/checkpoint')?.headers['cache-control'] ?? '', /max-age=5$/);
  const { slug: _slug, edition: _edition, changed_at: _at, ...body } = present(app.store.desk.paper(PAPER));
  const analytics = 'https://stats.example/count.js';
  app.store.database.transact(() =>
    append(app.store.desk, {
      type: 'record',
      at: START,
      paper: PAPER,
      kind: 'paper',
      name: '',
      body: { ...body, analytics } as never,
    }),
  );
  await pressPapers(app, { cards: false });
  await send();
  assert.match(headersOf('standards/index.html')['x-amz-meta-content-security-policy'] ?? '', /stats\.example/);
  // Its bytes are the same as before.
  assert.match(headersOf('manifest.webmanifest')['x-amz-meta-content-security-policy'] ?? '', /stats\.example/);
});

test('a withdrawn piece leaves the place, after every list that named it', async (t) => {
  const store = await S3Server.start(t);
  const { app, tree, send } = await standAt(t, at(store), 31);
  await send();
  assert.ok(store.objects.has(`site/${PAPER}/sections/city/2/index.html`));
  withdrawStory(deskOf(app), PAPER, 'piece-0', { by: 'cli', reason: 'It was never so.' });
  withdrawStory(deskOf(app), PAPER, 'piece-1', { by: 'cli', reason: 'Nor this.' });
  await pressPapers(app, { cards: false });
  store.received.length = 0;
  const report = await send();
  assertPublished(store, `site/${PAPER}/`, tree);
  assert.ok((report.get(PAPER)?.removed ?? 0) > 0);
  const writes = store.received.filter(({ method, key }) => method !== 'GET' && !key.endsWith('.json'));
  assert.deepEqual(
    writes.map(({ method }) => method).lastIndexOf('PUT') < writes.findIndex(({ method }) => method === 'POST'),
    true,
  );
});

test('a folder gets the same trees, one paper at its root if requested', async (t) => {
  const folder = join(tempFolder(t), 'www');
  const { tree, send, app } = await standAt(t, `file://${folder}?paper=${PAPER}`);
  await send();
  const there = treeOf(folder);
  for (const [path, bytes] of treeOf(tree)) assert.equal(there.get(path), bytes, path);
  assert.equal(there.get('log/checkpoint'), readFileSync(join(app.settings.logDir, 'desk/checkpoint'), 'latin1'));
  publish(app, 'the-new-one', START);
  await pressPapers(app, { cards: false });
  await send();
  const hidden = ['.broadsheet.json', 'log/.broadsheet.json'];
  assert.deepEqual(
    [...treeOf(folder).keys()].filter((path) => !path.startsWith('log/') && !hidden.includes(path)).sort(),
    [...treeOf(tree).keys()].sort(),
  );
});

test('drift is named and repaired', { skip: ONLY_WIDE }, async (t) => {
  const store = await S3Server.start(t);
  const { app, tree, address, send } = await standAt(t, at(store));
  await send();
  const key = (path: string) => `site/${PAPER}/${path}`;
  const index = store.objects.get(key('index.html'));
  const feed = store.objects.get(key('rss.xml'));
  assert.ok(index && feed);
  store.objects.set(key('index.html'), { ...index, bytes: Buffer.from('hacked'), etag: '0'.repeat(32) });
  store.objects.set(key('rss.xml'), { ...feed, headers: { ...feed.headers, 'cache-control': 'no-cache' } });
  store.objects.set(key('virus.exe'), feed);
  store.objects.delete(key('feed.json'));
  const check = async () => (await compareTrees(app, address, bucketOf(app, address))).get(PAPER)?.differences;
  assert.deepEqual(await check(), [
    { path: 'feed.json', what: 'missing' },
    { path: 'index.html', what: 'other bytes' },
    { path: 'rss.xml', what: 'other headers' },
    { path: 'virus.exe', what: 'stray' },
  ]);
  const report = await send({ repair: true });
  assert.deepEqual([report.get(PAPER)?.sent, report.get(PAPER)?.removed], [3, 1]);
  assert.deepEqual(await check(), []);
  assertPublished(store, `site/${PAPER}/`, tree);
});

test('a publisher that is slower than the log lacks no tile that its checkpoint needs', {
  skip: ONLY_WIDE,
}, async (t) => {
  const store = await S3Server.start(t);
  const { app, address, clock, send } = await standAt(t, at(store));
  await send();
  // Two heads: the partial tiles of the first are on disk, and nobody will read them there.
  for (const slug of ['one', 'another']) {
    clock.now += DAY;
    publish(app, slug, clock.now);
    await publishLogOnce(app, 'desk', openCommandLog('silent'));
  }
  await send();
  const check = async () => (await compareTrees(app, address, bucketOf(app, address))).get('log')?.differences;
  assert.deepEqual(await check(), []);
  const [needed = ''] = store.paths('site/log/tile/0/').sort((a, b) => Number(b.slice(6)) - Number(a.slice(6)));
  store.objects.delete(`site/log/tile/0/${needed}`);
  assert.deepEqual(await check(), [{ path: `tile/0/${needed}`, what: 'missing' }]);
});

test('a publication that broke off leaves no tile behind, however far the log goes on', {
  skip: ONLY_WIDE,
}, async (t) => {
  const store = await S3Server.start(t);
  const { app, address, clock, send } = await standAt(t, at(store));
  await send();
  const grow = async (name: string) => {
    app.store.database.transact(() => {
      for (let n = 0; n < 140; n++) publish(app, `${name}-${n}`, clock.now);
    });
    await publishLogOnce(app, 'desk', openCommandLog('silent'));
  };
  const tilesOf = () => store.paths('site/log/tile/0/').filter((path) => path.includes('.p/'));
  store.intercept = ({ method, key }, response) => {
    if (method !== 'PUT' || key !== 'site/log/checkpoint') return false;
    refuse(response, 403, 'AccessDenied');
    return true;
  };
  // Each sends tiles and no checkpoint, as when it is killed.
  for (const name of ['one', 'two']) {
    await grow(name);
    await assert.rejects(send(), /AccessDenied/);
  }
  const left = tilesOf();
  assert.ok(left.length > 1, left.join());
  store.intercept = () => false;
  await grow('three');
  await send();
  assert.ok(tilesOf().every((path) => !left.includes(path)));
  const { differences } = (await compareTrees(app, address, bucketOf(app, address))).get('log') ?? {};
  assert.deepEqual(differences, []);
});

test('partial tiles that the server has not removed yet leave the place when they are full', {
  skip: ONLY_WIDE,
}, async (t) => {
  const store = await S3Server.start(t);
  const { app, address, clock, send } = await standAt(t, at(store));
  await send();
  const partial = store.paths('site/log/tile/').filter((path) => path.includes('.p/'));
  assert.ok(partial.length > 0);
  app.store.database.transact(() => {
    for (let n = 0; n < 260; n++) publish(app, `more-${n}`, clock.now);
  });
  await publishLogOnce(app, 'desk', openCommandLog('silent'));
  // The server was killed after it wrote the full tile.
  const folder = join(app.settings.logDir, 'desk/tile');
  for (const path of partial) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), store.objects.get(`site/log/tile/${path}`)?.bytes ?? '');
  }
  await send();
  for (const path of partial) rmSync(dirname(join(folder, path)), { recursive: true, force: true });
  const { differences } = (await compareTrees(app, address, bucketOf(app, address))).get('log') ?? {};
  assert.deepEqual(differences, []);
});

test('a place that is not as remembered is compared, and only differences are sent', { skip: ONLY_WIDE }, async (t) => {
  const store = await S3Server.start(t);
  const { app, tree, send } = await standAt(t, at(store));
  await send();
  // Another machine published the same desk since: its lease is another one.
  const leaseFile = `site/${PAPER}/.broadsheet.json`;
  const item = store.objects.get(leaseFile);
  assert.ok(item);
  const text = item.bytes.toString().replace(/"publication":"[^"]+"/, '"publication":"of another machine"');
  store.objects.set(leaseFile, { ...item, bytes: Buffer.from(text), etag: '1'.repeat(32) });
  store.objects.delete(`site/${PAPER}/rss.xml`);
  store.objects.set(`site/${PAPER}/stories/unheard-of/index.html`, item);
  assert.deepEqual((await send()).get(PAPER), { sent: 1, bytes: treeOf(tree).get('rss.xml')?.length, removed: 1 });
  assertPublished(store, `site/${PAPER}/`, tree);
  // An emptied bucket.
  store.objects.clear();
  await send();
  assertPublished(store, `site/${PAPER}/`, tree);
  assertPublished(store, 'site/log/', join(app.settings.logDir, 'desk'));
});

test('a location of another desk or of unknown origin is rejected', async (t) => {
  const store = await S3Server.start(t);
  const one = await standAt(t, at(store));
  await one.send();
  // With a key of its own.
  const other = await standAt(t, at(store), 3, pressPaperOf);
  const before = new Map(store.objects);
  await assert.rejects(other.send(), /another desk publishes harbor-ledger there.*publish to another place/);
  await assert.rejects(other.send({ repair: true }), /another desk publishes/);
  assert.deepEqual(store.objects, before);

  store.objects.clear();
  store.objects.set(`site/${PAPER}/mine.txt`, {
    bytes: Buffer.from('mine'),
    headers: {},
    etag: 'x',
    modified: new Date(),
  });
  await assert.rejects(
    one.send({ paper: PAPER }),
    /objects that no publication wrote, such as site\/harbor-ledger\/mine\.txt/,
  );
  assert.equal(store.objects.size, 1);
  await one.send({ paper: PAPER, repair: true });
  assertPublished(store, `site/${PAPER}/`, one.tree);
});

test('a tree on disk that differs from what was pressed is not published', async (t) => {
  const store = await S3Server.start(t);
  const { tree, send } = await standAt(t, at(store));
  writeFileSync(join(tree, 'stories/piece-0/index.html'), 'altered');
  await assert.rejects(
    send({ paper: PAPER }),
    /stories\/piece-0\/index\.html is not the file that was pressed; run broadsheet press --full/,
  );
  assert.ok(!store.objects.has(`site/${PAPER}/index.html`));
});

test('a removed paper leaves the place', { skip: ONLY_WIDE }, async (t) => {
  const store = await S3Server.start(t);
  const { app, send } = await standAt(t, at(store));
  await send();
  removePaper(intakeOf(app), PAPER, 'cli');
  await pressPapers(app);
  await send();
  assert.deepEqual(store.paths(`site/${PAPER}/`), ['.broadsheet.json']);
});

test('a store that says nothing does not hold up the end of a server', { skip: ONLY_WIDE }, async (t) => {
  const { app } = await paperOf(t, 3);
  const store = await S3Server.start(t);
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  store.intercept = () => {
    asked();
    return true;
  };
  const objectStorage = { ...app.settings.objectStorage, ...CREDENTIALS };
  const stop = startPublisher({ ...app, settings: { ...app.settings, publishUrl: at(store), objectStorage } }, silent);
  await isAsked;
  // The request stays without an answer: only a stop that waits for none ends.
  await stop();
});

test('even a defect in publishing does not fail the command before it', async (t) => {
  const store = await S3Server.start(t);
  const { app, tree } = await paperOf(t, 3);
  writeFileSync(join(tree, '_headers'), '/newspaper/*\n  X-Odd: no header → carries this\n');
  const said: string[] = [];
  t.mock.method(process.stderr, 'write', (text: string) => said.push(text) > 0);
  const objectStorage = { ...app.settings.objectStorage, ...CREDENTIALS };
  await publishAfterPress({ ...app, settings: { ...app.settings, publishUrl: at(store), objectStorage } });
  assert.match(said.join(''), /not published: TypeError.*run broadsheet publish/s);
});

test('two publishers take turns', { skip: ONLY_WIDE }, async (t) => {
  const store = await S3Server.start(t);
  const { tree, send } = await standAt(t, at(store));
  const holders: string[] = [];
  const waiting = (_tree: string, holder: string) => void holders.push(holder);
  const [a, b] = await Promise.all([send({ paper: PAPER, waiting }), send({ paper: PAPER, waiting })]);
  assert.equal((a.get(PAPER)?.sent ?? 0) + (b.get(PAPER)?.sent ?? 0), treeOf(tree).size);
  assert.ok(holders.length > 0);
  assertPublished(store, `site/${PAPER}/`, tree);
});
