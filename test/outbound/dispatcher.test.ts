import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { paperDeliveries, queuePaperEvents } from '../../src/desk/jobs/paper-webhooks.ts';
import { DELIVERIES_KEPT, type PaperDeliveryJob } from '../../src/desk/readers/delivery.ts';
import { addWebhook, type Webhook } from '../../src/desk/readers/webhook.ts';
import { queueTest } from '../../src/desk/readers/webhook-queue.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import type { Attempt, WebhookClient } from '../../src/shared/outbound/delivery.ts';
import { type DeliveryTransport, Dispatcher, LEASE_TIME, PER_HOST_MAX } from '../../src/shared/outbound/dispatcher.ts';
import { RETRIES } from '../../src/shared/outbound/retry.ts';
import { appContextIn, type Clock, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const OK = { status: 204, error: null, ms: 5 };
const DOWN = { status: 503, error: 'status', ms: 5 };
const GONE = { status: 410, error: 'gone', ms: 5 };

/** A desk under a set clock, whose receivers answer what the test says. */
class Stand {
  readonly clock: Clock = { now: START };
  readonly folder: string;
  readonly app: AppContext;
  /** What was sent, and when. */
  readonly sent: { url: string; headers: Record<string, string>; body: string; at: number }[] = [];
  readonly news: string[] = [];
  answer: (url: string) => Promise<Omit<Attempt, 'at'>> | Omit<Attempt, 'at'> = () => OK;

  constructor(t: TestContext) {
    this.folder = tempFolder(t);
    this.app = appContextIn(t, this.folder, this.clock, { WEBHOOK_PRIVATE: 'allow' });
    createPaper(this.app);
  }

  readonly client: WebhookClient = {
    post: async (url, headers, body) => {
      this.sent.push({ url, headers, body, at: this.clock.now });
      return this.answer(url);
    },
  };

  transport({ store, clock: { now } } = this.app): DeliveryTransport {
    return { client: this.client, allowsPrivate: true, now, groupCommit: store.database.groupCommit };
  }

  dispatcher(): Dispatcher<PaperDeliveryJob> {
    return new Dispatcher(paperDeliveries(this.app), this.transport(), {
      attempted: () => {},
      switchedOff: ({ webhook }, reason) => this.news.push(`${webhook} ${reason}`),
      unrecorded: (_delivery, error) => {
        throw error;
      },
    });
  }

  add(url: string, more: { sections?: string[]; cast?: boolean } = {}): Webhook {
    return addWebhook(this.app.store.desk, PAPER, { url, ...more }, SECTIONS, {
      now: this.clock.now,
      newId,
      allowsPrivate: true,
    });
  }

  air(slug: string, more = {}): void {
    fileStory(deskOf(this.app), PAPER, filing(slug, more), { by: 'cli' });
    airStory(deskOf(this.app), PAPER, slug, { by: 'cli' });
  }

  /** Queues what happened and sends what is due now. */
  async round(): Promise<void> {
    while (queuePaperEvents(this.app));
    const dispatcher = this.dispatcher();
    dispatcher.start();
    await dispatcher.idle();
  }

  deliveries() {
    return this.app.store.desk.deliveries.list(PAPER, { limit: 1_000 });
  }
}

test('withheld events are neither sent nor resent', async (t) => {
  const stand = new Stand(t);
  stand.add('http://hook.example/');
  stand.air('tide');
  await stand.round();
  stand.clock.now += 1_000;
  fileStory(deskOf(stand.app), PAPER, filing('tide', { headline: 'Another' }), { by: 'cli' });
  withdrawStory(deskOf(stand.app), PAPER, 'tide', { by: 'cli', reason: 'A court said so.', withholdHeadline: true });
  assert.deepEqual(stand.deliveries(), [], 'nothing that was sent can be sent again');
  stand.sent.length = 0;
  await stand.round();
  const id = stand.app.store.desk.archive(PAPER).storyBySlug('tide')?.id;
  assert.deepEqual(
    stand.sent.map(({ body }) => JSON.parse(body)),
    [
      {
        type: 'story.withdrawn',
        timestamp: '2026-11-20T12:00:01.000Z',
        data: { id, headline_withheld: true, withdrawn_at: '2026-11-20T12:00:01.000Z', reason: 'A court said so.' },
      },
    ],
  );
});

test('what a receiver gets', async (t) => {
  const stand = new Stand(t);
  stand.add('http://hook.example/');
  stand.air('tide');
  stand.clock.now += 1_000;
  fileStory(deskOf(stand.app), PAPER, filing('tide', { headline: 'Another' }), { by: 'cli' });
  withdrawStory(deskOf(stand.app), PAPER, 'tide', { by: 'cli', reason: 'It was wrong.' });
  await stand.round();
  const [aired, revised, withdrawn] = stand.sent.map(({ body }) => JSON.parse(body));
  const id = stand.app.store.desk.archive(PAPER).storyBySlug('tide')?.id ?? '';
  const root = 'http://localhost:4321/harbor-ledger';
  assert.deepEqual(
    {
      ...aired,
      data: { ...aired.data, image: new URL(aired.data.image).pathname.replace(/-[0-9a-f]+\.png$/, '.png') },
    },
    {
      type: 'story.aired',
      timestamp: '2026-11-20T12:00:00.000Z',
      data: {
        id,
        slug: 'tide',
        headline: 'What tide means',
        dek: 'A dek of one sentence.',
        category: 'City',
        kind: 'news',
        byline: {
          name: 'ines calloway',
          title: 'Editor',
          avatar: `${root}/portraits/ines-calloway.png`,
          declared_ai: true,
        },
        authors: [],
        written_by: null,
        provenance: null,
        tags: [],
        published_at: '2026-11-20T12:00:00.000Z',
        updated_at: '2026-11-20T12:00:00.000Z',
        revision: 1,
        url: `${root}/stories/tide/`,
        image: `/harbor-ledger/cards/${id}.png`,
      },
    },
  );
  // It tells what was, though the piece was withdrawn before anything was sent.
  assert.deepEqual([revised.type, revised.data.headline, revised.data.revision], ['story.revised', 'Another', 2]);
  assert.deepEqual(withdrawn, {
    type: 'story.withdrawn',
    timestamp: '2026-11-20T12:00:01.000Z',
    data: {
      id,
      slug: 'tide',
      url: `${root}/stories/tide/`,
      withdrawn_at: '2026-11-20T12:00:01.000Z',
      reason: 'It was wrong.',
    },
  });
  await stand.round();
  assert.equal(stand.sent.length, 3);
});

test('each receiver is notified of the sections that it chose, and of the video edition if it did', async (t) => {
  const stand = new Stand(t);
  const { store } = stand.app;
  stand.add('http://all.example/');
  stand.add('http://city.example/', { sections: ['City'], cast: false });
  stand.add('http://port.example/', { sections: ['Port & Sea', 'Ämter'] });
  const reader = {
    paper: PAPER,
    cadence: 'weekly' as const,
    asked: null,
    made_at: START,
    ordered_at: START,
    mailed_at: null,
    last_sent_at: null,
    webhook_secret: 'whsec_AAAA',
  };
  const put = (id: string, sections: string[] | null, cast: boolean, confirmed_at: number | null) =>
    store.desk.readers.subscribers.put({
      ...reader,
      id,
      reader: id,
      email: `${id}@example.org`,
      sections,
      cast,
      confirmed_at,
      webhook: `http://${id}.example/`,
    });
  put('reader-of-amter', ['Ämter'], false, START);
  put('reader-of-all', null, true, START);
  put('not-confirmed', null, true, null);
  const toldOf = async (work: () => void) => {
    stand.sent.length = 0;
    work();
    await stand.round();
    return stand.sent.map(({ url }) => new URL(url).hostname.replace('.example', '')).sort();
  };
  assert.deepEqual(await toldOf(() => stand.air('tide')), ['all', 'city', 'reader-of-all']);
  assert.deepEqual(await toldOf(() => stand.air('quay', { category: 'Ämter' })), [
    'all',
    'port',
    'reader-of-all',
    'reader-of-amter',
  ]);
  const moved = { category: 'Port & Sea' };
  const revise = () => fileStory(deskOf(stand.app), PAPER, filing('tide', moved), { by: 'cli' });
  assert.deepEqual(
    await toldOf(revise),
    ['all', 'city', 'port', 'reader-of-all'],
    'those of the section that it left too',
  );
  const cast = { day: '2026-11-20', title: 'The day', description: '', video: 'media/a.mp4', poster: 'media/a.jpg' };
  const body = { ...cast, captions: null, duration_s: 60, bytes: 1_000, media_type: 'video/mp4' };
  const publish = () => {
    stand.app.store.database.transact(() =>
      store.desk.emit({ type: 'cast.published', paper: PAPER, at: START, cast: body }),
    );
  };
  assert.deepEqual(await toldOf(publish), ['all', 'port', 'reader-of-all']);
  const data = JSON.parse(stand.sent[0]?.body ?? '').data;
  assert.equal(data.video_url, 'http://localhost:4321/harbor-ledger/media/a.mp4');
  store.desk.readers.subscribers.remove('reader-of-all', START);
  assert.deepEqual(await toldOf(() => stand.air('lamp')), ['all', 'city']);
  const hooks = new Set(stand.deliveries().map(({ webhook }) => webhook));
  assert.ok(!hooks.has('reader-of-all'), 'what was kept of a reader who is erased is gone');
  assert.ok(hooks.has('reader-of-amter'));
});

test('a delivery that fails comes again on its schedule, the same bytes under the same id, then is given up', async (t) => {
  const stand = new Stand(t);
  const { id } = stand.add('http://hook.example/');
  stand.answer = () => DOWN;
  stand.air('tide');
  await stand.round();
  let at = START;
  for (const wait of RETRIES) {
    assert.equal(stand.deliveries()[0]?.due_at, at + wait);
    stand.clock.now = at + wait - 1;
    const before = stand.sent.length;
    await stand.round();
    assert.equal(stand.sent.length, before, 'not before its time');
    stand.clock.now = at += wait;
    assert.deepEqual(stand.news, []);
    await stand.round();
    assert.equal(stand.sent.length, before + 1);
  }
  assert.deepEqual(
    RETRIES.map((wait) => wait / 1_000),
    [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
  );
  assert.equal(new Set(stand.sent.map(({ body }) => body)).size, 1);
  assert.equal(new Set(stand.sent.map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal(new Set(stand.sent.map(({ headers }) => headers['webhook-timestamp'])).size, RETRIES.length + 1);
  const [delivery] = stand.deliveries();
  assert.equal(delivery?.state, 'failed');
  assert.equal(delivery.attempts.length, RETRIES.length + 1);
  assert.deepEqual(delivery.attempts[0], { at: START, ...DOWN });
  assert.deepEqual([delivery.off_at, delivery.off_reason], [stand.clock.now, 'failing']);
  assert.deepEqual(stand.news, [`${id} failing`]);

  stand.air('quay');
  await stand.round();
  assert.equal(stand.deliveries().length, 1, 'a webhook that is off is told nothing');
});

test('a receiver that takes others is not switched off for one that it never took', async (t) => {
  const stand = new Stand(t);
  stand.add('http://hook.example/');
  stand.air('tide');
  while (queuePaperEvents(stand.app));
  for (const wait of [0, ...RETRIES]) {
    stand.clock.now += wait;
    stand.answer = () => DOWN;
    await stand.round();
    stand.answer = () => OK;
    stand.air(`piece-${stand.clock.now}`);
    await stand.round();
  }
  assert.equal(stand.deliveries().at(-1)?.state, 'failed');
  assert.deepEqual(stand.news, []);
  assert.equal(stand.app.store.desk.webhooks.list(PAPER)[0]?.off_at, null);
});

test('410 ends a webhook immediately with its pending deliveries; a successful test or retry switches it on again', async (t) => {
  const stand = new Stand(t);
  const webhook = stand.add('http://hook.example/');
  stand.answer = () => DOWN;
  stand.air('tide');
  await stand.round();
  stand.air('quay');
  stand.answer = () => GONE;
  await stand.round();
  assert.deepEqual(
    stand.deliveries().map(({ state }) => state),
    ['failed', 'failed'],
  );
  assert.deepEqual(stand.news, [`${webhook.id} gone`]);
  assert.deepEqual([stand.app.store.desk.webhooks.get(PAPER, webhook.id)?.off_reason], ['gone']);

  const [newest] = stand.deliveries();
  const id = newest?.id ?? '';
  stand.answer = () => DOWN;
  assert.ok(stand.app.store.desk.deliveries.retry(PAPER, id, stand.clock.now));
  await stand.round();
  assert.equal(stand.app.store.desk.deliveries.get(PAPER, id)?.state, 'failed', 'one attempt by hand');
  stand.answer = () => OK;
  stand.app.store.desk.deliveries.retry(PAPER, id, stand.clock.now);
  await stand.round();
  assert.equal(stand.app.store.desk.deliveries.get(PAPER, id)?.state, 'delivered');
  assert.equal(new Set(stand.sent.slice(1).map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal(stand.app.store.desk.webhooks.get(PAPER, webhook.id)?.off_at, null);
  stand.air('lamp');
  await stand.round();
  assert.equal(stand.deliveries()[0]?.state, 'delivered');
  assert.equal(stand.app.store.desk.deliveries.retry(PAPER, 'nonsense', 0), false);
  assert.equal(stand.app.store.desk.deliveries.retry('other-paper', id, 0), false);

  const test = queueTest(stand.app.store.desk, PAPER, webhook, { now: stand.clock.now, newId });
  await stand.round();
  assert.equal(stand.app.store.desk.deliveries.get(PAPER, test)?.state, 'delivered');
  assert.deepEqual(JSON.parse(stand.sent.at(-1)?.body ?? ''), {
    type: 'webhook.test',
    timestamp: new Date(stand.clock.now).toISOString(),
    data: { paper: PAPER, webhook: webhook.id },
  });
});

test('a delivery in flight while its webhook is switched off is given up too, and the admin is notified once', async (t) => {
  const stand = new Stand(t);
  const { id } = stand.add('http://hook.example/');
  for (const slug of ['tide', 'quay', 'lamp']) stand.air(slug);
  const ends: ((answer: typeof OK | typeof DOWN) => void)[] = [];
  stand.answer = () => new Promise((resolve) => ends.push(resolve));
  while (queuePaperEvents(stand.app));
  const dispatcher = stand.dispatcher();
  dispatcher.start();
  await new Promise((resolve) => setImmediate(resolve));
  for (const [n, answer] of [GONE, DOWN, GONE].entries()) {
    ends[n]?.(answer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await dispatcher.idle();
  assert.deepEqual(
    stand.deliveries().map(({ state }) => state),
    ['failed', 'failed', 'failed'],
  );
  assert.deepEqual(stand.news, [`${id} gone`]);
});

test('a retry by hand of one that waits is sent now, and goes on with its schedule', async (t) => {
  const stand = new Stand(t);
  stand.add('http://hook.example/');
  stand.answer = () => DOWN;
  stand.air('tide');
  await stand.round();
  const [{ id } = { id: '' }] = stand.deliveries();
  stand.app.store.desk.deliveries.retry(PAPER, id, stand.clock.now);
  await stand.round();
  const delivery = stand.app.store.desk.deliveries.get(PAPER, id);
  assert.deepEqual([delivery?.state, delivery?.due_at], ['waiting', START + (RETRIES[1] ?? 0)]);
});

test('a removed webhook gets nothing more, nor does a former reader’s', async (t) => {
  const stand = new Stand(t);
  const { id } = stand.add('http://hook.example/');
  stand.air('tide');
  while (queuePaperEvents(stand.app));
  assert.ok(stand.app.store.desk.webhooks.remove(PAPER, id));
  await stand.round();
  assert.deepEqual([stand.sent, stand.deliveries()], [[], []]);
});

test('a host that hangs holds up no other, and has few requests at a time', async (t) => {
  const stand = new Stand(t);
  for (const path of ['a', 'b', 'c', 'd', 'e', 'f']) stand.add(`http://slow.example/${path}`);
  for (let n = 0; n < 20; n++) stand.air(`tide-${n}`);
  while (queuePaperEvents(stand.app));
  stand.add('http://quick.example/');
  stand.air('quay');
  while (queuePaperEvents(stand.app));
  const ends: (() => void)[] = [];
  stand.answer = (url) =>
    url.includes('quick')
      ? OK
      : new Promise((resolve) => ends.push(() => resolve({ status: null, error: 'timeout', ms: 1 })));
  const dispatcher = stand.dispatcher();
  dispatcher.start();
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(dispatcher.inFlight, PER_HOST_MAX);
  assert.equal(stand.sent.filter(({ url }) => url.includes('slow')).length, PER_HOST_MAX);
  assert.equal(stand.sent.filter(({ url }) => url.includes('quick')).length, 1, 'the last of 121 was sent first');
  const stopped = dispatcher.stop();
  for (const end of ends) end();
  await stopped;
  assert.equal(stand.sent.length, PER_HOST_MAX + 1, 'who stops begins nothing');
});

test('two processes on one store send nothing twice', async (t) => {
  const stand = new Stand(t);
  const other = appContextIn(t, stand.folder, stand.clock, { WEBHOOK_PRIVATE: 'allow' });
  for (const name of ['a', 'b', 'c', 'd', 'e']) stand.add(`http://${name}.example/`);
  for (let n = 0; n < 30; n++) stand.air(`tide-${n}`);
  stand.answer = () => new Promise((resolve) => setImmediate(() => resolve(OK)));
  const news = {
    attempted() {},
    switchedOff() {},
    unrecorded: (_: unknown, error: unknown) => assert.fail(String(error)),
  };
  let isMore = true;
  while (isMore) isMore = [queuePaperEvents(stand.app), queuePaperEvents(other)].includes(true);
  // Both may see the same as due; one of them gets it.
  const seen = stand.app.store.desk.deliveries.due(stand.clock.now, 10, []).map(({ id }) => id);
  const leases = [stand.app, other].map(
    ({
      store: {
        desk: { deliveries },
      },
    }) => deliveries.lease(seen, stand.clock.now, stand.clock.now + LEASE_TIME),
  );
  assert.deepEqual(
    leases.map(({ length }) => length),
    [10, 0],
  );
  stand.clock.now += LEASE_TIME;
  const dispatchers = [stand.dispatcher(), new Dispatcher(paperDeliveries(other), stand.transport(other), news)];
  while (stand.app.store.desk.deliveries.waiting().count > 0) {
    for (const dispatcher of dispatchers) dispatcher.start();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.idle()));
  const keys = stand.sent.map(({ url, headers }) => `${url} ${headers['webhook-id']}`);
  assert.equal(keys.length, 150);
  assert.equal(new Set(keys).size, 150);
});

test('a delivery without a recorded outcome is due again after its lease, and a late outcome is ignored', async (t) => {
  const stand = new Stand(t);
  stand.add('http://hook.example/');
  stand.air('tide');
  while (queuePaperEvents(stand.app));
  let end: () => void = () => {};
  stand.answer = () =>
    new Promise((resolve) => {
      end = () => resolve(DOWN);
    });
  const stalled = stand.dispatcher();
  stalled.start();
  stand.answer = () => OK;
  stand.clock.now += LEASE_TIME - 1;
  await stand.round();
  assert.equal(stand.sent.length, 1);
  stand.clock.now += 1;
  await stand.round();
  assert.equal(stand.sent.length, 2);
  assert.equal(stand.sent[0]?.headers['webhook-id'], stand.sent[1]?.headers['webhook-id']);
  assert.equal(stand.sent[0]?.body, stand.sent[1]?.body);
  end();
  await stalled.idle();
  const [delivery] = stand.deliveries();
  assert.deepEqual([delivery?.state, delivery?.attempts.length], ['delivered', 1]);
});

test('an event with many receivers is queued in batches, and each of them has it once', async (t) => {
  const stand = new Stand(t);
  const { store } = stand.app;
  store.database.transact(() => {
    for (let n = 0; n < 450; n++) {
      const id = `reader-${String(n).padStart(4, '0')}`;
      const at = { made_at: START, ordered_at: START, mailed_at: null, confirmed_at: START, last_sent_at: null };
      const choices = { cadence: 'instant' as const, sections: null, cast: true, asked: null };
      const hook = { webhook: 'http://hook.example/', webhook_secret: 'whsec_AAAA' };
      store.desk.readers.subscribers.put({
        id,
        paper: PAPER,
        reader: id,
        email: `${id}@example.org`,
        ...choices,
        ...at,
        ...hook,
      });
    }
  });
  stand.air('tide');
  stand.air('quay');
  assert.ok(queuePaperEvents(stand.app));
  assert.equal(stand.deliveries().length, 200);
  // Another process goes on.
  const other = appContextIn(t, stand.folder, stand.clock);
  while (queuePaperEvents(other));
  const queued = stand.deliveries();
  assert.equal(queued.length, 900);
  assert.equal(new Set(queued.map(({ webhook, message }) => `${webhook} ${message}`)).size, 900);
});

test('deliveries are forgotten after a while, except those that wait', async (t) => {
  const stand = new Stand(t);
  stand.add('http://hook.example/');
  stand.air('tide');
  await stand.round();
  stand.answer = () => DOWN;
  stand.air('quay');
  await stand.round();
  stand.app.store.desk.deliveries.forget(START - 1);
  assert.equal(stand.deliveries().length, 2);
  stand.clock.now += DELIVERIES_KEPT;
  stand.app.store.desk.deliveries.forget(stand.clock.now - DELIVERIES_KEPT);
  assert.deepEqual(
    stand.deliveries().map(({ state }) => state),
    ['waiting'],
  );
});
