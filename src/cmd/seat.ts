import { Command } from 'commander';
import { requirePaper } from '../app/context.ts';
import { keyRow } from '../desk/keys.ts';
import { Fault } from '../fault.ts';
import { makeKeyOf } from './key.ts';
import { say, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('seat')
    .description('seats of a paper: the keys of its people')
    .addCommand(add())
    .addCommand(list())
    .addCommand(remove());
}

function add(): Command {
  return new Command('add')
    .description('give a person a seat; the key is shown this once')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--email <address>', 'whose seat it is')
    .requiredOption('--level <level>', 'read or admin')
    .option('--json', 'print {id, key, level}')
    .action((options: { paper: string; email: string; level: string; json?: boolean }) =>
      withAppContext((app) => {
        const { email, level } = options;
        const { key, made } = makeKeyOf(app, options.paper, { level, name: email, seat: email }, { seat: 'email' });
        say(options.json, { id: made.id, key, level: made.level }, [
          key,
          `${made.level} seat of ${made.seat} on ${options.paper} (key ${made.id}); it is not shown again`,
        ]);
      }),
    );
}

function list(): Command {
  return new Command('list')
    .description('list the seats that are taken')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print them as JSON')
    .action((options: { paper: string; json?: boolean }) =>
      withAppContext((app) => {
        requirePaper(app, options.paper);
        const seats = app.store.keys
          .list(options.paper)
          .filter(({ seat, revoked_at }) => seat !== null && revoked_at === null)
          .map((key) => keyRow(key, app.store.keys.hasExpired(key, app.now())));
        const lines = seats.map(({ id, level, seat }) => `${id}  ${level.padEnd(5)}  ${seat}`);
        say(options.json, seats, lines.length === 0 ? ['no seats'] : lines);
      }),
    );
}

function remove(): Command {
  return new Command('remove')
    .description('take a seat away: its key is revoked')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--email <address>', 'whose seat it is')
    .action((options: { paper: string; email: string }) =>
      withAppContext((app) => {
        requirePaper(app, options.paper);
        const { keys } = app.store;
        const held = keys.seat(options.paper, options.email.toLowerCase());
        if (held === null || !keys.revoke(options.paper, held.id, app.now(), 'cli')) {
          throw new Fault(
            'not_found',
            `${options.email} has no seat on ${options.paper}; \`npm run -s broadsheet -- seat list\` shows who has`,
          );
        }
        say(false, null, [`${held.seat} has no seat on ${options.paper} any more; key ${held.id} is revoked`]);
      }),
    );
}
