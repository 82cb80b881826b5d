import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { compareTrees, type PublishOptions, publishTrees } from '../../src/operate/publish/publish-run.ts';
import { present } from '../../src/proof/narrow.ts';
import { deskOf } from '../../src/server/context.ts';
import { parseAddress, type S3Address } from '../../src/shared/storage/address.ts';
import { BYTES_IN_FLIGHT } from '../../src/shared/storage/in-parallel.ts';
import { openBucket } from '../../src/shared/storage/publish-target.ts';
import { Budget } from '../../src/shared/workers/budget.ts';
import { paperOf } from '../press/paper-copy.ts';
import { filing, PAPER, SECTIONS, treeOf } from '../support/app-context.ts';
import { BUCKET, CREDENTIALS, S3Server } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

async function standOf(t: TestContext, query = '', pieces = 2) {
  const store = await S3Server.start(t);
  const { app, tree } = await paperOf(t, pieces);
  const address = parseAddress(`s3://${BUCKET}?endpoint=${store.endpoint}${query}`) as S3Address;
  const { objectStorage } = app.settings;
  const bucket = openBucket({ ...app.settings, objectStorage: { ...objectStorage, ...CREDENTIALS } }, address);
  const send = (options: PublishOptions = {}) => publishTrees(app, address, bucket, { paper: PAPER, ...options });
  const check = async () =>
    (await compareTrees(app, address, bucket, { paper: PAPER }))
      .get(PAPER)
      ?.differences.map(({ path, what }) => `${path}: ${what}`) ?? [];
  const item = (key: string) => present(store.objects.get(key));
  /** The lease as another machine would leave it, so that the next publication compares. */
  const forget = (key: string) => {
    const text = item(key)
      .bytes.toString()
      .replace(/"publication":"[^"]+"/, '"publication":"another"');
    store.objects.set(key, { ...item(key), bytes: Buffer.from(text), etag: '1'.repeat(32) });
  };
  return { store, app, tree, send, check, item, forget };
}

test('--check sees headers of every kind, and objects that were sent in parts', { skip: ONLY_WIDE }, async (t) => {
  const { store, send, check, item } = await standOf(t);
  await send();
  assert.deepEqual(await check(), []);
  const alter = (path: string, headers: Record<string, string | undefined>) => {
    const found = item(`${PAPER}/${path}`);
    const all = Object.entries({ ...found.headers, ...headers }).filter(([, value]) => value !== undefined);
    store.objects.set(`${PAPER}/${path}`, { ...found, headers: Object.fromEntries(all) as Record<string, string> });
  };
  alter('index.html', { 'content-encoding': 'br' });
  alter('rss.xml', { 'content-type': 'text/html' });
  alter('feed.json', { 'cache-control': undefined });
  alter('404.html', { 'x-amz-meta-strict-transport-security': 'max-age=31536000' });
  alter('robots.txt', { 'content-disposition': 'attachment' });
  alter('llms.txt', { 'x-amz-website-redirect-location': '/elsewhere' });
  alter('hue.css', { 'x-amz-meta-content-security-policy': undefined });
  // An empty header is none.
  alter('manifest.webmanifest', { 'content-encoding': '' });
  // Sent by another tool, in parts: the same bytes, and others of the same size.
  const parts = (path: string, bytes: Buffer) =>
    store.objects.set(`${PAPER}/${path}`, { ...item(`${PAPER}/${path}`), bytes, etag: `${'a'.repeat(32)}-2` });
  parts('sitemap.xml', item(`${PAPER}/sitemap.xml`).bytes);
  parts('front.json', Buffer.from(item(`${PAPER}/front.json`).bytes).fill('x', 10, 20));
  assert.deepEqual(await check(), [
    '404.html: other headers',
    'feed.json: other headers',
    'front.json: other bytes',
    'hue.css: other headers',
    'index.html: other headers',
    'llms.txt: other headers',
    'robots.txt: other headers',
    'rss.xml: other headers',
  ]);
  assert.equal((await send({ repair: true })).get(PAPER)?.sent, 8);
  assert.deepEqual(await check(), []);
});

test('--check reads objects that a store encrypts, whatever their metadata', { skip: ONLY_WIDE }, async (t) => {
  const { store, send, check, item } = await standOf(t);
  await send();
  for (const [key, found] of store.objects) {
    const headers = { ...found.headers, 'x-amz-server-side-encryption': 'aws:kms' };
    const etag = createHash('md5').update(key).digest('hex');
    store.objects.set(key, { ...found, headers, etag });
  }
  assert.deepEqual(await check(), []);
  const front = item(`${PAPER}/index.html`);
  store.objects.set(`${PAPER}/index.html`, { ...front, bytes: Buffer.from(front.bytes).fill('x', 100, 120) });
  assert.deepEqual(await check(), ['index.html: other bytes']);
});

test('foreign files stay, unless a repair is requested', { skip: ONLY_WIDE }, async (t) => {
  const { store, tree, send, check, item, forget } = await standOf(t, `&paper=${PAPER}`);
  await send();
  const foreign = ['backups/broadsheet-2026.tar.zst', 'litestream/0/ltx/1.ltx', 'signer.json', 'google1234.html'];
  const gone = ['stories/long-gone/index.html', 'an-old-page/index.html', 'cards/0123.png'];
  for (const key of [...foreign, ...gone]) store.objects.set(key, item('robots.txt'));
  // After a restore, or a publication of another machine, all is compared.
  forget('.broadsheet.json');
  assert.equal((await send()).get(PAPER)?.removed, gone.length);
  assert.deepEqual(
    [...store.objects.keys()].filter((key) => foreign.includes(key)),
    foreign,
  );
  assert.equal(store.objects.size, treeOf(tree).size + foreign.length + 1);
  assert.deepEqual(await check(), foreign.map((key) => `${key}: stray`).sort());
  await send({ repair: true });
  assert.deepEqual(await check(), []);
});

test('a page that changed while the place was compared is still one that the place does not have', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { store, app, tree, send } = await standOf(t, '', 31);
  let listings = 0;
  store.intercept = async ({ method, key }) => {
    if (method !== 'GET' || key !== '' || listings++ > 0) return false;
    // No list shows the prose.
    fileStory(
      deskOf(app),
      PAPER,
      filing('piece-0', { category: SECTIONS[0] ?? '', prose: 'Another.[^1] Second.[^2]' }),
      {
        by: 'cli',
      },
    );
    await pressPapers(app, { cards: false });
    return false;
  };
  await send();
  const puts = store.received.filter(({ method }) => method === 'PUT').map(({ key }) => key);
  const linking = [...treeOf(tree)].filter(
    ([path, text]) => path.endsWith('.html') && text.includes('stories/piece-0/"'),
  );
  assert.ok(linking.length > 1);
  const last = puts.lastIndexOf(`${PAPER}/stories/piece-0/index.html`);
  for (const [path] of linking) {
    if (/^(?:stories|embed)\//.test(path)) continue;
    assert.ok(puts.indexOf(`${PAPER}/${path}`) > last, `${path} before the page that it links to`);
  }
});

test('files are in memory as far as they fit', async () => {
  const budget = new Budget(BYTES_IN_FLIGHT);
  const MB = 2 ** 20;
  let [now, most, alone] = [0, 0, 0];
  const sizes = [...Array.from({ length: 60 }, (_, at) => (at % 9) * MB), 500 * MB, 500 * MB, 1];
  await Promise.all(
    sizes.map((size) =>
      budget
        .within(size, async () => {
          now += size;
          if (size > 32 * MB) alone += now === size ? 1 : 0;
          else most = Math.max(most, now);
          await new Promise((resolve) => setTimeout(resolve, 1));
          now -= size;
          if (size === 4 * MB) throw new Error('one that fails');
        })
        .catch(() => {}),
    ),
  );
  assert.deepEqual([now, alone], [0, 2]);
  assert.ok(most <= 32 * MB && most > 16 * MB, String(most));
});
