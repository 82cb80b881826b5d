import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { pino } from 'pino';
import { sendHubPings } from '../../src/desk/jobs/hub-ping-job.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { SECOND } from '../../src/proof/time.ts';
import { readSettings } from '../../src/server/env.ts';
import { createWebhookClient } from '../../src/shared/net/outbound-client.ts';
import { appContextIn, createPaper, envIn, PAPER, tempFolder } from '../support/app-context.ts';
import { publish, START } from '../support/pressed-paper.ts';
import { type Received, receiver } from '../support/receiver.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { assertWellFormed } from '../support/xml.ts';

const ROOT = `http://localhost:4321/${PAPER}`;

/**
 * The topic of a publisher's request, which must be one as hubs take them (W3C WebSub, section 6; PubSubHubbub 0.4).
 */
function topicOf({ headers, body }: Received): string {
  assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
  const form = new URLSearchParams(body);
  assert.deepEqual([...form.keys()].sort(), ['hub.mode', 'hub.topic', 'hub.url']);
  assert.equal(form.get('hub.mode'), 'publish');
  assert.equal(form.get('hub.url'), form.get('hub.topic'));
  return form.get('hub.url') ?? '';
}

test('after a press the hub is notified of each changed feed until it accepts', async (t) => {
  const hub = await receiver(t);
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock, { HUB_URL: hub.url, WEBHOOK_PRIVATE: 'allow', PORT: '4321' });
  const client = createWebhookClient('test', true);
  const logger = pino({ level: 'silent' });
  const told = async (): Promise<string[]> => {
    hub.got.length = 0;
    while ((await sendHubPings(app, client, hub.url, logger)) > 0);
    return hub.got.map((got) => topicOf(got).replace(`${ROOT}/`, '')).sort();
  };
  createPaper(app);
  publish(app, 'first', START);
  await pressPapers(app, { cards: false });

  const read = (path: string) => readFileSync(join(folder, 'papers', PAPER, path), 'utf8');
  assert.match(read('rss.xml'), new RegExp(`<atom:link href="${hub.url}" rel="hub"/>`));
  assert.match(read('rss.xml'), /<atom:link href="[^"]*\/rss\.xml" rel="self"/);
  assert.deepEqual(JSON.parse(read('feed.json')).hubs, [{ type: 'WebSub', url: hub.url }]);

  const all = await told();
  assert.deepEqual(all.filter((path) => !path.includes('/')).sort(), ['feed.json', 'podcast.xml', 'rss.xml']);
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual(await told(), [], 'a ping that was taken is not sent again');

  // Only what changed; and a press that changes nothing tells nobody.
  clock.now += SECOND;
  publish(app, 'second', clock.now);
  await pressPapers(app, { cards: false });
  const changed = ['feed.json', 'masthead/ines-calloway/rss.xml', 'rss.xml', 'sections/city/rss.xml'];
  hub.answer = (_request, response) => response.writeHead(503).end();
  assert.deepEqual(await told(), changed);
  await pressPapers(app, { full: true, cards: false });
  assert.deepEqual(await told(), [], 'a hub that fails is given time');
  clock.now += 5 * SECOND;
  hub.answer = (_request, response) => response.writeHead(202).end();
  assert.deepEqual(await told(), changed, 'and asked again');

  // A press that was killed has noted its feeds; the next one lets them go.
  app.store.desk.hubPings.note(PAPER, ['rss.xml']);
  assert.deepEqual(await told(), []);
  clock.now += SECOND;
  publish(app, 'third', clock.now);
  await pressPapers(app, { cards: false });
  // A feed that changes again while its ping is under way is told of again.
  const [ping] = app.store.desk.hubPings.lease(clock.now, clock.now + 1, 1);
  assert.ok(ping);
  app.store.desk.hubPings.note(PAPER, [ping.path]);
  app.store.desk.hubPings.release(PAPER, clock.now);
  app.store.desk.hubPings.settle(ping);
  assert.deepEqual(await told(), changed);

  // What happens in a private paper is nobody's business.
  clock.now += SECOND;
  publish(app, 'fourth', clock.now);
  await pressPapers(app, { cards: false });
  app.store.database.transact(() => {
    const paper = app.store.desk.archive(PAPER).paper();
    const { slug: _slug, edition: _edition, changed_at: _at, ...body } = paper;
    app.store.desk.setPaper(PAPER, { ...body, paper_public: false }, clock.now);
  });
  assert.deepEqual(await told(), []);
  assert.deepEqual(app.store.desk.hubPings.lease(clock.now + SECOND, clock.now + 2 * SECOND, 9), []);
});

test('a hub that cannot be one stops the start with a line', () => {
  for (const [url, more] of [
    ['hub.example', {}],
    ['ftp://hub.example/', { WEBHOOK_PRIVATE: 'allow' }],
    ['http://hub.example.org/', {}],
    ['https://127.0.0.1/', {}],
    ['https://localhost/', {}],
  ] as const) {
    assert.throws(
      () => readSettings(envIn('/nowhere', { HUB_URL: url, ...more })),
      (error: Error) =>
        /^HUB_URL=.*: (?:is|leads) .*; give the address of a WebSub hub/.test(error.message) &&
        !error.message.includes('\n'),
      url,
    );
  }
  assert.equal(readSettings(envIn('/nowhere', { HUB_URL: '' })).hubUrl, null);
});

test('a server notifies the hub by itself, and lists the papers as OPML', { skip: ONLY_WIDE }, async (t) => {
  const hub = await receiver(t);
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'of-tides' }]);
  const { url } = await serveHere(t, folder, { HUB_URL: hub.url, WEBHOOK_PRIVATE: 'allow' });
  const topic = `${url}/of-tides/rss.xml`;
  while (!hub.got.some((got) => topicOf(got) === topic)) await sleep(50);
  const { headers, text } = await send(url, { path: '/opml.xml' });
  assert.equal(headers['content-type'], 'text/x-opml; charset=UTF-8');
  assertWellFormed(text);
  assert.match(text, /<opml version="2.0">\s*<head><title>/);
  assert.ok(text.includes(`xmlUrl="${topic}"`), text);
  assert.match(text, /<outline type="rss" version="RSS2" text="[^"]+"/);
  assert.match((await send(url, { path: '/' })).text, /href="\/opml\.xml"/);
});

test('a ping that the hub took while another process held the write lock is not sent again', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  app.store.desk.hubPings.note(PAPER, ['rss.xml']);
  app.store.desk.hubPings.release(PAPER, START);
  const other = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => other.close());
  let posts = 0;
  const client = {
    async post() {
      if (posts++ === 0) {
        other.exec('BEGIN IMMEDIATE');
        setTimeout(() => other.exec('COMMIT'), 300);
      }
      return { status: 204, error: null, ms: 1 };
    },
  };
  const unshare = app.store.database.lock.share({ held() {}, freed() {} });
  try {
    const logger = pino({ level: 'silent' });
    assert.equal(await sendHubPings(app, client, 'https://hub.example/', logger), 1);
    clock.now += 60 * SECOND;
    assert.equal(await sendHubPings(app, client, 'https://hub.example/', logger), 0);
  } finally {
    unshare();
  }
});
