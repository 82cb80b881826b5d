import assert from 'node:assert/strict';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { paperDeliveries, queuePaperEvents } from '../../src/desk/jobs/paper-webhooks.ts';
import { addWebhook } from '../../src/desk/readers/webhook.ts';
import { deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import type { WebhookClient } from '../../src/shared/outbound/delivery.ts';
import { Dispatcher } from '../../src/shared/outbound/dispatcher.ts';
import { appContextIn, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const HOSTS = ['one', 'two', 'three'];
const SLUGS = ['tide', 'quay'];
/** Fewer failures than a schedule has attempts, so that nothing is given up. */
const FAILURES_MAX = 6;

const who = fc.nat(1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('file' as const), slug: fc.nat(1), headline: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('air' as const), slug: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), slug: fc.nat(1) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('queue' as const), who, batches: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), who }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('fail' as const), host: fc.nat(2), times: fc.integer({ min: 1, max: 2 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('sleep' as const), seconds: fc.constantFrom(1, 5, 30, 300, 7_200) }),
  },
);

test('each webhook gets each event at least once and accepts it once, and only a crash repeats one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const ends: (() => void)[] = [];
      const scope = { after: (work: () => void) => void ends.unshift(work) };
      try {
        const clock = { now: START };
        const folder = tempFolder(scope);
        // Two processes on one store.
        const apps = [0, 1].map(() => appContextIn(scope, folder, clock, { WEBHOOK_PRIVATE: 'allow' }));
        const [app] = apps;
        assert.ok(app);
        const {
          store,
          clock: { now },
        } = app;
        createPaper(app);
        const hooks = HOSTS.map((host) =>
          addWebhook(store.desk, PAPER, { url: `http://${host}.example/` }, SECTIONS, {
            now: now(),
            newId,
            allowsPrivate: true,
          }),
        );
        const failures = new Map<string, number>();
        let failed = 0;
        const sends: string[] = [];
        const lost: string[] = [];
        const client = (arrived: string[], isLost: boolean): WebhookClient => ({
          async post(url, headers) {
            const key = `${url} ${headers['webhook-id']}`;
            arrived.push(key);
            // A process that dies here has sent it without recording it.
            if (isLost) return new Promise(() => {});
            const left = failures.get(url) ?? 0;
            failures.set(url, Math.max(0, left - 1));
            return left > 0 ? { status: 500, error: 'status', ms: 1 } : { status: 200, error: null, ms: 1 };
          },
        });
        const news = {
          attempted() {},
          switchedOff: () => assert.fail('nothing was given up'),
          unrecorded: (_: unknown, error: unknown) => assert.fail(String(error)),
        };
        const dispatcher = (n: number, isLost = false) => {
          const own = apps[n] ?? app;
          const transport = { allowsPrivate: true, now, groupCommit: own.store.database.groupCommit };
          return new Dispatcher(
            paperDeliveries(own),
            { ...transport, client: client(isLost ? lost : sends, isLost) },
            news,
          );
        };

        for (const one of steps) {
          const slug = SLUGS['slug' in one ? one.slug : 0] ?? '';
          const story = app.store.desk.archive(PAPER).storyBySlug(slug);
          if (one.do === 'file')
            fileStory(deskOf(app), PAPER, filing(slug, { headline: `No ${one.headline}` }), { by: 'cli' });
          if (one.do === 'air' && story !== null) airStory(deskOf(app), PAPER, slug, { by: 'cli' });
          if (one.do === 'withdraw' && story?.state === 'on_air') {
            withdrawStory(deskOf(app), PAPER, slug, { by: 'cli', reason: 'It was wrong.' });
          }
          if (one.do === 'queue') for (let n = 0; n < one.batches; n++) queuePaperEvents(apps[one.who] ?? app);
          if (one.do === 'send') {
            const runner = dispatcher(one.who);
            runner.start();
            await runner.idle();
          }
          if (one.do === 'crash') dispatcher(one.who, true).start();
          if (one.do === 'fail' && failed + one.times <= FAILURES_MAX) {
            failed += one.times;
            const url = `http://${HOSTS[one.host]}.example/`;
            failures.set(url, (failures.get(url) ?? 0) + one.times);
          }
          if (one.do === 'sleep') clock.now += one.seconds * 1_000;
        }
        // In the end all answer, and time passes.
        failures.clear();
        while (queuePaperEvents(app));
        for (
          let next = store.desk.deliveries.waiting().next;
          next !== null;
          next = store.desk.deliveries.waiting().next
        ) {
          clock.now = Math.max(clock.now, next);
          const runner = dispatcher(1);
          runner.start();
          await runner.idle();
        }

        const events: string[] = [];
        for (let event = app.store.desk.events.next(0); event !== null; event = app.store.desk.events.next(event.n)) {
          events.push(event.id);
        }
        const expected = hooks.flatMap(({ url }) => events.map((id) => `${url} ${id}`)).sort();
        const deliveries = store.desk.deliveries.list(PAPER, { limit: 10_000 });
        assert.equal(deliveries.length, expected.length);
        assert.deepEqual([...new Set(sends)].sort(), expected, 'at least once');
        for (const { state, attempts } of deliveries) {
          assert.equal(state, 'delivered');
          assert.equal(attempts.filter(({ error }) => error === null).length, 1, 'taken once');
        }
        const noted = deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0);
        assert.equal(sends.length, noted, 'what was sent and not lost in a crash is noted, each once');
      } finally {
        for (const end of ends) end();
      }
    }),
    { numRuns: 60 },
  );
});
