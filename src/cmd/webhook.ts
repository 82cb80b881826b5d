import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { requirePaper, withAppContext } from '../app/context.ts';
import { openWebhookDesk } from '../app/webhook-desk.ts';
import { sendTest } from '../app/webhook-test.ts';
import { readSettings } from '../env.ts';
import { addWebhook, needWebhook, webhookRow } from '../readers/webhook-body.ts';
import { say } from '../terminal/output.ts';

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
      withAppContext(readSettings(), (app) => {
        requirePaper(app, options.paper);
        const { sections } = app.store.archive(options.paper).paper();
        const chosen = { cast: options.cast, ...(options.section === undefined ? {} : { sections: options.section }) };
        const made = addWebhook(openWebhookDesk(app), options.paper, { url, ...chosen }, sections);
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
      withAppContext(readSettings(), (app) => {
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
      withAppContext(readSettings(), (app) => {
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
      withAppContext(readSettings(), async (app) => {
        requirePaper(app, options.paper);
        const { delivery, status, error, ms } = await sendTest(app, options.paper, id);
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
  return needWebhook(openWebhookDesk(app), paper, id);
}
