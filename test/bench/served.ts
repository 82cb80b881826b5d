import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { listenDesk, listenRecords } from '../../api/server.ts';
import { paperMails } from '../../src/desk/jobs/paper-mails.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { openServerLog } from '../../src/server/server-log.ts';
import { smtpOf } from '../../src/shared/net/smtp.ts';
import { startMails } from '../../src/shared/outbound/mail-job.ts';

// A server for the benchmark, in a process of its own: the desk, with or without the job that mails, the domain records, or a bare route that answers the same bytes.

const [, , what, address] = process.argv;
const ready = (url: string): void => {
  process.stdout.write(`ready ${url}\n`);
};

if (what === 'bare') {
  // The bytes are those that our server answers at the address.
  const answer = await fetch(address ?? '', { headers: JSON.parse(process.env.BENCH_HEADERS ?? '{}') });
  const type = answer.headers.get('content-type') ?? '';
  const text = await answer.text();
  const app = new Hono();
  const { pathname } = new URL(address ?? '');
  app.get(pathname, (c) => c.body(text, 200, { 'Content-Type': type }));
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => ready(`http://127.0.0.1:${port}`));
} else {
  const app = openAppContext(readSettings());
  const logger = openServerLog('info');
  const { url } =
    what === 'records'
      ? await listenRecords(app, logger)
      : await listenDesk({ app, presses: new PressQueue(app), logger });
  if (what === 'mailing') {
    const { render } = await loadBuild();
    const stop = startMails(
      app,
      paperMails(app, (content) => render('/mail', content)),
      smtpOf(app.settings),
      logger,
    );
    process.once('SIGTERM', () => void stop().then(() => process.exit()));
  }
  // As `broadsheet serve` does before it says that it is ready.
  await (await loadBuild()).preload();
  ready(url);
}
