import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { paperDeliveries, queuePaperEvents } from '../../src/desk/jobs/paper-webhooks.ts';
import { addWebhook } from '../../src/desk/readers/webhook.ts';
import { type AppContext, deskOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { Dispatcher, IN_FLIGHT_MAX } from '../../src/shared/outbound/dispatcher.ts';
import { deliveryTransport } from '../../src/shared/outbound/webhook-job.ts';
import { createPaper, filing, PAPER, SECTIONS } from '../support/app-context.ts';
import { type Bench, environmentOf } from './paper.ts';
import { aSecond, type Figure, note } from './table.ts';

const RECEIVERS = 32;
const EVENTS = 100;
const CHILD = fileURLToPath(new URL('receivers.ts', import.meta.url));

/** Events queued for many receivers and sent to them, beside the same requests without a queue; and with one receiver that hangs. */
export async function webhooksPart({ folder: parent }: Bench): Promise<Figure[]> {
  const child = spawn(process.execPath, [CHILD, String(RECEIVERS)], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const [hanging = '', ...takers] = line.trim().split(' ').slice(1);
    const alone = await told(join(parent, 'webhooks'), takers);
    const beside = await told(join(parent, 'webhooks-hanging'), [hanging, ...takers]);
    const bare = await unqueued(alone.app, takers);
    for (const { app } of [alone, beside]) app.close();
    note(`webhooks: ${RECEIVERS} receivers, ${EVENTS} events, ${IN_FLIGHT_MAX} requests at a time`);
    const figure = (what: string, ours: number, other: number | null): Figure => ({
      what,
      ours: aSecond(ours),
      other: other === null ? '' : aSecond(other),
      ratio: other === null ? null : ours / other,
      budget: '',
      holds: null,
    });
    return [
      figure('webhook deliveries queued', alone.queued, null),
      figure('webhook deliveries signed, sent and noted : the same requests without a queue', alone.sent, bare),
      figure('the same with one receiver that hangs : with none', beside.sent, alone.sent),
    ];
  } finally {
    child.kill();
  }
}

/** Deliveries a second that were queued, and that were taken. */
async function told(folder: string, urls: string[]): Promise<{ app: AppContext; queued: number; sent: number }> {
  mkdirSync(folder);
  const app = openAppContext(readSettings({ ...environmentOf(folder), WEBHOOK_PRIVATE: 'allow' }));
  createPaper(app);
  const {
    store,
    clock: { now },
  } = app;
  for (const url of urls) {
    addWebhook(store.desk, PAPER, { url }, SECTIONS, { now: now(), newId, allowsPrivate: true });
  }
  app.store.database.transact(() => {
    for (let n = 0; n < EVENTS; n++) {
      fileStory(deskOf(app), PAPER, filing(`piece-${n}`), { by: 'cli' });
      airStory(deskOf(app), PAPER, `piece-${n}`, { by: 'cli' });
    }
  });
  const began = performance.now();
  while (queuePaperEvents(app));
  const queued = performance.now();
  let taken = 0;
  let done: () => void = () => {};
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const dispatcher = new Dispatcher(paperDeliveries(app), deliveryTransport(app, 'Broadsheet'), {
    attempted(_delivery, { error }) {
      if (error === null && ++taken === RECEIVERS * EVENTS) done();
    },
    switchedOff() {},
    unrecorded(_delivery, error) {
      throw error;
    },
  });
  const start = performance.now();
  dispatcher.start();
  await all;
  const end = performance.now();
  await dispatcher.stop();
  return {
    app,
    queued: (urls.length * EVENTS * 1_000) / (queued - began),
    sent: (RECEIVERS * EVENTS * 1_000) / (end - start),
  };
}

/** The same number of requests a second by the same client, with nothing kept of them. */
async function unqueued(app: AppContext, urls: string[]): Promise<number> {
  const { client } = deliveryTransport(app, 'Broadsheet');
  const body = JSON.stringify({ type: 'story.aired', data: 'x'.repeat(600) });
  let left = RECEIVERS * EVENTS;
  const start = performance.now();
  const caller = async () => {
    while (left > 0) {
      const { error } = await client.post(urls[left-- % urls.length] ?? '', {}, body);
      if (error !== null) throw new Error(`a receiver did not take it: ${error}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, caller));
  return (RECEIVERS * EVENTS * 1_000) / (performance.now() - start);
}
