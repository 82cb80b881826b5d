import { Command } from 'commander';
import { webhookChange } from '../desk/activity.ts';
import { sendTest } from '../desk/jobs/paper-webhooks.ts';
import { recordCommand } from '../desk/papers/record-command.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { addWebhook, requireWebhook, webhookRow } from '../desk/readers/webhook.ts';
import { CLI } from '../shared/command-line.ts';
import { newId } from '../shared/new-id.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('webhook')
    .description('webhooks, which a paper notifies over HTTP of what goes on air')
    .addCommand(add())
    .addCommand(list())
    .addCommand(remove())
    .addCommand(test());
}

function add(): Command {
  return new DataCommand('add')
    .description('add a webhook; its secret signs what is sent to it')
    .argument('<url>', 'an https address on a public host')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--section <name...>', 'only these sections; by default all')
    .option('--no-cast', 'do not send events of video and audio editions')
    .option('--json', 'print {id, url, secret}')
    .onData((app, url: string, options: { paper: string; section?: string[]; cast: boolean; json?: boolean }) => {
      requirePaper(app, options.paper);
      const { sections } = app.store.desk.archive(options.paper).paper();
      const chosen = { cast: options.cast, ...(options.section === undefined ? {} : { sections: options.section }) };
      const fresh = { now: app.clock.now(), newId, allowsPrivate: app.settings.webhookPrivate };
      const made = app.store.database.transact(() => {
        const webhook = addWebhook(app.store.desk, options.paper, { url, ...chosen }, sections, fresh);
        recordCommand(app, options.paper, webhookChange('added', webhook));
        return webhook;
      });
      printResult(options.json, { id: made.id, url: made.url, secret: made.secret }, [
        made.secret,
        `webhook ${made.id} of ${options.paper}; \`${CLI} webhook test ${made.id} --paper ${options.paper}\` sends a test`,
      ]);
    });
}

function list(): Command {
  return new DataCommand('list')
    .description('list the webhooks of a paper')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the webhooks as JSON')
    .onData((app, options: { paper: string; json?: boolean }) => {
      requirePaper(app, options.paper);
      const { sections } = app.store.desk.archive(options.paper).paper();
      const rows = app.store.desk.webhooks.list(options.paper).map((webhook) => webhookRow(webhook, sections));
      const lines = rows.map(
        ({ id, url, off_at, off_reason, failing_since, paused_at }) =>
          `${id}  ${url}${paused_at !== null ? `  (paused since ${paused_at})` : off_at !== null ? `  (off since ${off_at}: ${off_reason})` : failing_since !== null ? `  (failing since ${failing_since})` : ''}`,
      );
      printResult(options.json, rows, lines.length === 0 ? ['no webhooks'] : lines);
    });
}

function remove(): Command {
  return new DataCommand('remove')
    .description('remove a webhook and its queued deliveries')
    .argument('<id>', 'the id of the webhook')
    .requiredOption('--paper <slug>', 'the paper')
    .onData((app, id: string, options: { paper: string }) => {
      requirePaper(app, options.paper);
      app.store.database.transact(() => {
        const webhook = requireWebhook(app.store.desk.webhooks, options.paper, id);
        app.store.desk.webhooks.remove(options.paper, id);
        recordCommand(app, options.paper, webhookChange('removed', webhook));
      });
      printResult(false, null, [`removed ${id}`]);
    });
}

function test(): Command {
  return new DataCommand('test')
    .description('send a test to a webhook now; exit code 1 when it is not accepted')
    .argument('<id>', 'the id of the webhook')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the attempt as JSON')
    .onData(async (app, id: string, options: { paper: string; json?: boolean }) => {
      requirePaper(app, options.paper);
      const { delivery, status, error, ms } = await sendTest(app, options.paper, id);
      if (error !== null) process.exitCode = 1;
      printResult(options.json, { delivery, status, error, ms }, [
        error === null
          ? `accepted (${status}, ${ms} ms)`
          : `not accepted: ${error}${status === null ? '' : ` (${status})`}`,
      ]);
    });
}
