import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { newId, requirePaper } from '../app/context.ts';
import { deliveryTransport } from '../app/jobs/webhooks.ts';
import { paperDeliveries } from '../app/paper-webhooks.ts';
import { Fault } from '../fault.ts';
import { Dispatcher } from '../outbound/dispatcher.ts';
import { queueTest } from '../readers/webhook-queue.ts';
import { addWebhook, requireReceiver, requireWebhook, webhookRow } from '../readers/webhook-rules.ts';
import { say, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('webhook')
    .description('receivers that a paper tells of what goes on air, over HTTP')
    .addCommand(add())
    .addCommand(list())
    .addCommand(remove())
    .addCommand(test());
}

function add(): Command {
  return new Command('add')
    .description('add a receiver; its secret signs what it is sent')
    .argument('<url>', 'an https address on a public host')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--section <name...>', 'only these sections; all when left out')
    .option('--no-cast', 'without the video edition')
    .option('--json', 'print {id, url, secret}')
    .action((url: string, options: { paper: string; section?: string[]; cast: boolean; json?: boolean }) =>
      withAppContext((app) => {
        requirePaper(app, options.paper);
        const { sections } = app.store.archive(options.paper).paper();
        const chosen = { cast: options.cast, ...(options.section === undefined ? {} : { sections: options.section }) };
        const fresh = { now: app.now(), newId, allowsPrivate: app.settings.webhookPrivate };
        const made = addWebhook(app.store, options.paper, { url, ...chosen }, sections, fresh);
        say(options.json, { id: made.id, url: made.url, secret: made.secret }, [
          made.secret,
          `webhook ${made.id} of ${options.paper}; \`npm run -s broadsheet -- webhook test ${made.id} --paper ${options.paper}\` tries it`,
        ]);
      }),
    );
}

function list(): Command {
  return new Command('list')
    .description("list a paper's own receivers")
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print them as JSON')
    .action((options: { paper: string; json?: boolean }) =>
      withAppContext((app) => {
        requirePaper(app, options.paper);
        const { sections } = app.store.archive(options.paper).paper();
        const rows = app.store.webhooks.list(options.paper).map((webhook) => webhookRow(webhook, sections));
        const lines = rows.map(
          ({ id, url, off_at, off_reason, failing_since }) =>
            `${id}  ${url}${off_at !== null ? `  (off since ${off_at}: ${off_reason})` : failing_since !== null ? `  (failing since ${failing_since})` : ''}`,
        );
        say(options.json, rows, lines.length === 0 ? ['no webhooks'] : lines);
      }),
    );
}

function remove(): Command {
  return new Command('remove')
    .description('remove a receiver, with what waits for it')
    .argument('<id>')
    .requiredOption('--paper <slug>', 'the paper')
    .action((id: string, options: { paper: string }) =>
      withAppContext((app) => {
        needOwn(app, options.paper, id);
        app.store.webhooks.remove(options.paper, id);
        say(false, null, [`removed ${id}`]);
      }),
    );
}

function test(): Command {
  return new Command('test')
    .description('send a receiver a test, now; exit 1 when it does not take it')
    .argument('<id>')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the attempt as JSON')
    .action((id: string, options: { paper: string; json?: boolean }) =>
      withAppContext(async (app) => {
        requirePaper(app, options.paper);
        const { store, now } = app;
        const webhook = requireReceiver(store, options.paper, id, now());
        const quiet = {
          attempted() {},
          switchedOff() {},
          unrecorded(_delivery: unknown, error: unknown) {
            throw error;
          },
        };
        const delivery = queueTest(store, options.paper, webhook, { now: now(), newId });
        await new Dispatcher(paperDeliveries(app), deliveryTransport(app, 'Broadsheet'), quiet).sendOne(delivery);
        const attempt = await attemptOf(app, options.paper, delivery);
        const { status, error, ms } = attempt;
        if (error !== null) process.exitCode = 1;
        say(options.json, { delivery, status, error, ms }, [
          error === null
            ? `taken (${status}, ${ms} ms)`
            : `not taken: ${error}${status === null ? '' : ` (${status})`}`,
        ]);
      }),
    );
}

function needOwn(app: AppContext, paper: string, id: string) {
  requirePaper(app, paper);
  return requireWebhook(app.store.webhooks, paper, id);
}

/** The one attempt of a test: a server that runs beside may have been quicker to send it. */
async function attemptOf({ store }: AppContext, paper: string, delivery: string) {
  for (let looks = 0; looks < LOOKS; looks++) {
    const [attempt] = store.deliveries.get(paper, delivery)?.attempts ?? [];
    if (attempt !== undefined) return attempt;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
  throw new Fault('unavailable', 'the server took the test to send it and has not said what came of it; see its log');
}

/** How often, and after how many ms each time, the outcome of a test is looked for: together longer than a request lasts. */
const LOOKS = 120;
const LOOK_EVERY = 100;
