import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { queueAlerts } from '../../src/desk/readers/alert.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { confirmedReader } from '../support/readers.ts';
import { smtpServer } from '../support/smtp.ts';
import type { Text } from './invented.ts';
import { type Bench, environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import { pieceAt } from './pieces.ts';
import { aSecond, type Figure, median, millis, note } from './table.ts';

const SERVED = fileURLToPath(new URL('served.ts', import.meta.url));
const READERS = 100_000;
const SENT = 5_000;
const CALLERS = 32;
/** How long the API is asked at a time, in seconds. */
const SPAN = 2;

/** Alerts queued and sent a second, and what callers of the API notice while a hundred thousand readers are chosen. */
export async function mailsPart(bench: Bench): Promise<Figure[]> {
  const folder = filedPaper(bench, Math.min(...bench.sizes), 'mails');
  const app = openPaper(folder);
  const endings: (() => unknown)[] = [() => app.close()];
  const ending = { after: (work: () => unknown) => void endings.unshift(work) };
  try {
    const rate = queuing(app, bench.texts.texts);
    const sink = await smtpServer(ending, { size: 1_000_000 });
    const smtp = { SMTP_URL: `smtp://127.0.0.1:${sink.port}`, MAIL_FROM: 'alerts@news.example' };
    // The queue holds those of the first part: as many of them are sent as fast as they go.
    const began = { at: 0, count: 0 };
    const fast = await desk(environmentOf(folder), { ...smtp, MAILS_PER_MINUTE: '0' });
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (began.at === 0 && sink.taken.length > 100)
        Object.assign(began, { at: performance.now(), count: sink.taken.length });
      if (began.at > 0 && sink.taken.length >= began.count + SENT) break;
    }
    const sent = ((sink.taken.length - began.count) / (performance.now() - began.at)) * 1_000;
    await fast.stop();
    sink.taken.length = 0;
    const { quiet, busy, chosen } = await meanwhile(app, bench.texts.texts, folder, smtp);
    const of = { other: '', ratio: null, budget: '', holds: null };
    return [
      { ...of, what: `alerts queued for ${READERS} readers`, ours: aSecond(rate) },
      { ...of, what: 'alerts sent to a mail server on this machine', ours: aSecond(sent) },
      {
        ...of,
        what: `GET stories, ${CALLERS} callers, p99 while ${READERS} readers are chosen (${chosen}) : when nothing is chosen`,
        ours: millis(busy),
        other: millis(quiet),
        ratio: busy / quiet,
      },
    ];
  } finally {
    for (const end of endings) await end();
  }
}

/** Puts the readers in, puts a piece on air and queues its alerts. Returns how many a second. */
function queuing(app: AppContext, texts: Text[]): number {
  // What the paper has put on air before is nobody's news.
  while (queueAlerts(app.store.desk, { now: app.clock.now, newId }));
  app.store.database.transact(() => {
    for (let n = 0; n < READERS; n++) confirmedReader(app, `reader-${n}@example.org`, { cadence: 'instant' }, PAPER);
  });
  note(`${READERS} readers are in`);
  publish(app, texts, 'told-first');
  const start = performance.now();
  while (queueAlerts(app.store.desk, { now: app.clock.now, newId }));
  return (READERS / (performance.now() - start)) * 1_000;
}

/**
 * The p99 of GET stories, in ms: while nothing is chosen, and while all readers are. Sending goes on at its usual rate.
 */
async function meanwhile(app: AppContext, texts: Text[], folder: string, smtp: Record<string, string>) {
  const served = await desk(environmentOf(folder), smtp);
  try {
    const load = async () => {
      const options = { url: `${served.url}/${PAPER}/api/v1/stories`, connections: CALLERS, duration: SPAN };
      const { latency, non2xx, errors } = await autocannon(options);
      if (non2xx + errors > 0) throw new Error('the API did not answer');
      return latency.p99;
    };
    const quiet: number[] = [];
    // The first rounds warm it; what else the machine does is met before and after.
    for (let round = 0; round < 4; round++) await load();
    for (let round = 0; round < 3; round++) quiet.push(await load());
    publish(app, texts, 'told-second');
    const last = app.store.desk.events.last();
    const busy: number[] = [];
    const start = performance.now();
    const isChosen = () => app.store.desk.events.cursor('mails').n >= last;
    do busy.push(await load());
    while (!isChosen());
    const chosen = `in ${((performance.now() - start) / 1_000).toFixed(0)} s`;
    for (let round = 0; round < 3; round++) quiet.push(await load());
    return { quiet: median(quiet), busy: median(busy), chosen };
  } finally {
    await served.stop();
  }
}

function publish(app: AppContext, texts: Text[], slug: string): void {
  const door = deskOf(app);
  fileStory(door, PAPER, { ...pieceAt(texts, 0), slug }, { by: 'cli' });
  airStory(door, PAPER, slug, { by: 'cli' });
}

/** The desk with the job that mails, in a process of its own. */
async function desk(
  env: NodeJS.ProcessEnv,
  more: Record<string, string>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [SERVED, 'mailing'], {
    env: { ...process.env, ...env, ...more, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += chunk;
    const url = /^ready (\S+)$/m.exec(said)?.[1];
    if (url === undefined) continue;
    const stop = async () => {
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
    };
    return { url, stop };
  }
  throw new Error('the benchmark’s desk ended before it was ready');
}
