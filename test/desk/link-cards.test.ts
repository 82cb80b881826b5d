import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import sharp from 'sharp';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { dependencies } from '../../src/desk/dependencies.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { dropUnneeded, LINK_WAITS, linkReader, readLinks } from '../../src/desk/jobs/link-cards-job.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { removePaper } from '../../src/desk/papers/removal.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { pageTextFaults } from '../../src/operate/audit/monitor/page-text.ts';
import { restore } from '../../src/operate/backup/restore.ts';
import { deskOf, intakeOf, openAppContext } from '../../src/server/context.ts';
import { clientOptions } from '../../src/shared/net/outbound-client.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';
import { AT, backUp } from '../backup/backups.ts';
import { appContextIn, createPaper, filing, PAPER, type Scope, tempFolder, treeOf } from '../support/app-context.ts';
import { loopback } from '../support/loopback.ts';
import { START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const logger = pino({ level: 'silent' });

const page = (head: string): string => `<!doctype html><html><head>${head}</head><body><p>Text</p></body></html>`;
const PAGE = page(`<title>Not this</title>
  <meta property="og:title" content="Tides &amp; ferries">
  <meta property="og:description" content="When the water is high.">
  <meta property="og:site_name" content="The harbour office">
  <meta property="og:image" content="/picture.png">`);

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 20, g: 90, b: 120 } } });

/** A site at a name that stands for the public network; every other address is a private one. */
async function site(t: Scope, routes: Record<string, RequestListener>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const route = routes[request.url ?? ''];
    if (route === undefined) response.writeHead(404).end();
    else route(request, response);
  });
  const { port } = new URL(await loopback(t, server));
  const read = linkReader({
    agent: 'test',
    allows: (address) => address === '127.0.0.1',
    resolve: async (host) => [host === 'pages.example' ? '127.0.0.1' : '127.0.0.2'],
  });
  return { root: `http://pages.example:${port}`, asked, read };
}

const html =
  (body: string | Uint8Array, type = 'text/html'): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': type }).end(body);
const redirect =
  (location: string): RequestListener =>
  (_request, response) =>
    response.writeHead(302, { location }).end();

/** A paper that has cards of links, unless `body` says otherwise, with one piece. */
async function stand(t: Scope, prose: string, { link_cards = true }: { link_cards?: boolean } = {}) {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app, { link_cards });
  const put = (slug: string, text: string) => {
    fileStory(deskOf(app), PAPER, filing(slug, { prose: `One is so.[^1] So is the other.[^2]\n\n${text}` }), {
      by: 'cli',
    });
    airStory(deskOf(app), PAPER, slug, { by: 'cli', at: clock.now });
  };
  put('linked', prose);
  await pressPapers(app, { cards: false });
  const tree = join(folder, 'papers', PAPER);
  const story = (name = 'index.html') => readFileSync(join(tree, 'stories/linked', name), 'utf8');
  return { app, clock, tree, story, put, press: () => pressPapers(app, { cards: false }) };
}

test('a bare link becomes a card once its page was read, and is a plain link everywhere else', async (t) => {
  const { root, asked, read } = await site(t, {
    '/tides': redirect('/tides/'),
    '/tides/': html(PAGE),
    '/picture.png': html(await picture(1200, 630).png().toBuffer(), 'image/png'),
    '/second': html(page('<title>Second</title>')),
  });
  const prose = `${root}/tides\n\nIn a line ${root}/inline of text.\n\n<${root}/second>\n\n- ${root}/listed`;
  const { app, story, press, tree } = await stand(t, prose);
  const before = story();
  assert.ok(!before.includes('link-card') && before.includes(`<p>${root}/tides</p>`));

  assert.equal(await readLinks(app, read, logger), 2);
  assert.deepEqual(asked.toSorted(), ['/picture.png', '/second', '/tides', '/tides/']);
  assert.equal(await readLinks(app, read, logger), 0, 'each page is read once');
  await press();

  const [, first = '', second = ''] = story().split('<div class="link-card">');
  assert.match(first, /<b class="title" dir="auto">Tides &amp; ferries<\/b> <span class="about" dir="auto">When the/);
  assert.match(first, /<span class="site" dir="auto">The harbour office<\/span>/);
  assert.ok(first.includes(`<a href="${root}/tides" dir="ltr" rel="noopener">${root}/tides</a>`));
  assert.ok(second.includes('<aside><b class="title" dir="auto">Second</b></aside>'), 'it names nothing else');
  const [, src = '', width, height] =
    /<img src="\/harbor-ledger\/(pictures\/link-[^"]+)" alt="" width="(\d+)" height="(\d+)"/.exec(first) ?? [];
  const drawn = await sharp(readFileSync(join(tree, src))).metadata();
  assert.deepEqual([drawn.format, drawn.width, drawn.height], ['webp', Number(width), Number(height)]);
  assert.deepEqual([drawn.width, drawn.height], [480, 252]);
  assert.doesNotMatch(story().replaceAll('\n', ''), /<img[^>]+src="http/, 'readers ask no third party');

  const twin = readFileSync(join(tree, 'stories/linked.md'), 'utf8');
  const feed = readFileSync(join(tree, 'feed.json'), 'utf8');
  for (const text of [twin, feed]) assert.ok(text.includes(`${root}/tides`) && !text.includes('Tides'));
  const { basis } = JSON.parse(story('proof.json'));
  assert.deepEqual(pageTextFaults(story(), basis), []);
  await pressPapers(app);
  assert.deepEqual((await auditApp(app, { deep: true })).faults, []);
  const pressed = treeOf(tree);
  await pressPapers(app, { full: true });
  assert.deepEqual(treeOf(tree), pressed);
});

test('a paper without the setting sends nothing, and its tree is as before', async (t) => {
  const { root, asked, read } = await site(t, { '/tides': html(PAGE) });
  const { app, story, press } = await stand(t, `${root}/tides`, { link_cards: false });
  const before = story();
  assert.equal(await readLinks(app, read, logger), 0);
  await press();
  assert.deepEqual([asked, story()], [[], before]);
  assert.ok(!(app.store.desk.dependenciesRead(PAPER, 'story/linked') ?? '').includes(dependencies.link('')));
});

test('a page that fails is asked again at growing intervals, and then no more', async (t) => {
  let status = 500;
  const { root, asked, read } = await site(t, {
    '/late': (request, response) => (status === 200 ? html(PAGE)(request, response) : response.writeHead(status).end()),
  });
  const { app, clock, story, press } = await stand(t, `${root}/late\n\n${root}/gone`);
  const attempts = async (url: string) => {
    await readLinks(app, read, logger);
    return asked.filter((path) => path === url).length;
  };
  assert.equal(await attempts('/late'), 1);
  assert.equal(await attempts('/late'), 1, 'not at once');
  clock.now += LINK_WAITS[0];
  status = 404;
  assert.equal(await attempts('/late'), 2);
  clock.now += LINK_WAITS[1];
  status = 200;
  await readLinks(app, read, logger);
  await press();
  assert.match(story(), /Tides &amp; ferries/);
  for (const wait of [...LINK_WAITS, 100 * LINK_WAITS[4]]) {
    await readLinks(app, read, logger);
    clock.now += wait;
  }
  assert.equal(asked.filter((path) => path === '/gone').length, LINK_WAITS.length + 1);
  assert.equal(await attempts('/gone'), LINK_WAITS.length + 1);
});

test('what a hostile page says is bounded and shown as text', async (t) => {
  const titled = (title: string) => html(page(`<title>${title}</title>`));
  const imaged = (address: string) =>
    html(page(`<title>Pictured</title><meta property="og:image" content="${address}">`));
  const bomb = await sharp({ create: { width: 6_000, height: 6_000, channels: 3, background: '#000' } })
    .png()
    .toBuffer();
  const { root, asked, read } = await site(t, {
    '/long': titled('word '.repeat(200_000)),
    '/script': titled('&lt;script&gt;alert(1)&lt;/script&gt;'),
    '/rtl': titled('safe \u202egnp.exe \u2066\u0000\u0007\u200bend'),
    '/unseen': titled('\u200b\u2060 \u202e'),
    '/latin': html(Buffer.from(page('<meta charset="latin1"><title>Caf\u00e9</title>'), 'latin1')),
    '/misnamed': html(page('<meta charset="ascii"><title>Café</title>'), 'text/html; charset=shift_jis'),
    '/unknown': html(Buffer.from(page('<title>Caf\u00e9</title>'), 'latin1'), 'text/html; charset=none-such'),
    '/deep': html(`<b>${'<b>'.repeat(300_000)}<title>Deep</title>`),
    '/svg': imaged('/evil.svg'),
    '/evil.svg': html('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>', 'image/png'),
    '/bomb': imaged('/bomb.png'),
    '/bomb.png': html(bomb, 'image/png'),
    '/torn': imaged('/torn.png'),
    '/torn.png': html(bomb.subarray(0, bomb.length / 2), 'image/png'),
    '/inside': imaged('http://127.0.0.2/secret.png'),
    '/file': imaged('file:///etc/passwd'),
    '/loop': redirect('/loop'),
    '/private': redirect('http://127.0.0.2/'),
    '/named': redirect('http://intranet.example/'),
    '/scheme': redirect('file:///etc/passwd'),
    '/pdf': html('%PDF-1.7', 'application/pdf'),
    '/endless': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write(page('<title>Endless</title>'));
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
  });
  const said = async (path: string) => {
    const found = await read(`${root}${path}`);
    return typeof found === 'string' ? found : found.page;
  };
  const titleOf = async (path: string) => {
    const found = await said(path);
    return typeof found === 'string' ? found : found.title;
  };
  const long = await titleOf('/long');
  assert.ok(long.length <= 161 && long.endsWith('word…'), long);
  assert.equal(await titleOf('/script'), '<script>alert(1)</script>');
  assert.equal(await titleOf('/rtl'), 'safe gnp.exe end');
  assert.equal(await titleOf('/unseen'), 'no title');
  for (const path of ['/latin', '/misnamed', '/unknown']) assert.equal(await titleOf(path), 'Café', path);
  assert.equal(await titleOf('/deep'), 'no title');
  assert.equal(await titleOf('/endless'), 'Endless');
  for (const path of ['/svg', '/bomb', '/torn', '/inside', '/file']) {
    assert.deepEqual(await said(path), { title: 'Pictured', description: '', site: '', picture: null }, path);
  }
  assert.equal(await said('/loop'), 'more than 5 redirects');
  assert.equal(await said('/private'), 'private_address');
  assert.equal(await said('/named'), 'private_address');
  assert.equal(await said('/scheme'), 'redirect to no web address');
  assert.equal(await said('/pdf'), 'not HTML');
  assert.ok(asked.includes('/bomb.png') && asked.includes('/evil.svg'));
  // As a desk asks: this machine is no public address.
  const { port } = new URL(root);
  assert.equal(await linkReader(clientOptions('test', false))(`http://127.0.0.1:${port}/long`), 'private_address');

  const { app, story, press } = await stand(t, `${root}/script`);
  await readLinks(app, read, logger);
  await press();
  assert.ok(story().includes('&lt;script&gt;alert(1)&lt;/script&gt;</b>'));
});

test('cards go with the pieces that need them, with the setting, and with the paper', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { root, asked, read } = await site(t, {
    '/tides': html(PAGE),
    '/again': html(PAGE),
    '/picture.png': html(await picture(300, 200).png().toBuffer(), 'image/png'),
  });
  const { app, clock, put, press, tree } = await stand(t, `${root}/tides`);
  const { linkCards } = app.store.desk;
  const pictures = () => [...treeOf(tree).keys()].filter((path) => path.includes('link-'));
  put('another', `${root}/tides`);
  await press();
  await readLinks(app, read, logger);
  await press();
  assert.equal(asked.length, 2, 'one request for both pieces');
  const before = pictures();
  assert.equal(before.length, 1);

  const withdraw = (slug: string) => {
    const piece = app.store.desk.archive(PAPER).storyBySlug(slug)?.id ?? '';
    append(app.store.desk, { type: 'withdrawal', at: clock.now, paper: PAPER, piece, reason: 'Why', made_by: 'cli' });
  };
  app.store.database.transact(() => withdraw('linked'));
  await press();
  dropUnneeded(app);
  assert.notEqual(linkCards.of(PAPER, `${root}/tides`), null, 'another piece shows it');
  app.store.database.transact(() => withdraw('another'));
  await press();
  dropUnneeded(app);
  await press();
  assert.equal(linkCards.of(PAPER, `${root}/tides`), null);
  assert.deepEqual(pictures(), []);
  await pressPapers(app);
  assert.deepEqual((await auditApp(app, { deep: true })).faults, []);

  // Two pages with one picture share its file.
  put('third', `${root}/tides`);
  put('fourth', `${root}/again`);
  await press();
  await readLinks(app, read, logger);
  await press();
  assert.deepEqual(pictures(), before);
  app.store.database.transact(() => withdraw('third'));
  await press();
  dropUnneeded(app);
  await press();
  assert.equal(linkCards.of(PAPER, `${root}/tides`), null);
  assert.deepEqual(pictures(), before);
  removePaper({ store: app.store.desk, now: app.clock.now }, PAPER, 'cli');
  assert.deepEqual(linkCards.papers(), []);
  await press();
  assert.ok(!existsSync(tree));
});

test('a backup holds the cards; a desk that imports the ledger reads the pages itself', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { root, asked, read } = await site(t, {
    '/tides': html(PAGE),
    '/picture.png': html(await picture(300, 200).png().toBuffer()),
  });
  const { app, clock, press, story } = await stand(t, `${root}/tides`);
  await readLinks(app, read, logger);
  await press();
  const folder = tempFolder(t);

  await backUp(app.settings, join(folder, 'backup.tar.zst'));
  const dataDir = join(folder, 'restored/var');
  await restore(backupLocation(app.settings, join(folder, 'backup.tar.zst'), AT), dataDir, () => {});
  const restored = openAppContext(
    { ...app.settings, dataDir, distDir: join(folder, 'restored/papers') },
    () => clock.now,
  );
  t.after(() => restored.close());
  await pressPapers(restored);
  const again = readFileSync(join(folder, 'restored/papers', PAPER, 'stories/linked/index.html'), 'utf8');
  assert.equal(again, story());
  assert.deepEqual((await auditApp(restored, { deep: true })).faults, []);
  assert.equal(asked.length, 2);

  await exportLedger(intakeOf(app), join(folder, 'ledger.jsonl'));
  const other = appContextIn(t, join(folder, 'other'), clock);
  await importLedger(intakeOf(other), join(folder, 'ledger.jsonl'));
  await pressPapers(other);
  const there = () => readFileSync(join(folder, 'other/papers', PAPER, 'stories/linked/index.html'), 'utf8');
  assert.ok(!there().includes('link-card'));
  assert.deepEqual((await auditApp(other, { deep: true })).faults, []);
  await readLinks(other, read, logger);
  await pressPapers(other);
  assert.equal(asked.length, 4);
  assert.equal(there(), story());
});
