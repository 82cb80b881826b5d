import { Command } from 'commander';
import { withExistingData } from '../app/context.ts';
import { listPaperKeys, makePaperKey, removeSeat } from '../app/paper-keys.ts';
import { readSettings } from '../env.ts';
import { endOf, lifeOf } from '../terminal/key-lines.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('seat')
    .description('seats of a paper: the access keys of people')
    .addCommand(add())
    .addCommand(list())
    .addCommand(remove());
}

function add(): Command {
  return new Command('add')
    .description('give a person a seat; the key is shown only once')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--email <address>', 'whose seat it is')
    .requiredOption('--level <level>', 'read or admin')
    .option('--expires-at <time>', 'when the key expires, as in 2026-12-31T00:00:00Z; by default never')
    .option('--json', 'print {id, key, level}')
    .action((options: { paper: string; email: string; level: string; expiresAt?: string; json?: boolean }) =>
      withExistingData(readSettings(), (app) => {
        const { paper, email, level, expiresAt: expires_at } = options;
        const words = { level, name: email, seat: email, expires_at };
        const { key, made } = makePaperKey(app, paper, words, { seat: 'email' });
        printResult(options.json, { id: made.id, key, level: made.level }, [
          key,
          `${made.level} seat of ${made.seat} on ${paper} (key ${made.id})${endOf(made.expires_at)}; it is not shown again`,
        ]);
      }),
    );
}

function list(): Command {
  return new Command('list')
    .description('list the seats of a paper')
    .requiredOption('--paper <slug>', 'the paper')
    .option('--json', 'print the seats as JSON')
    .action(({ paper, json }: { paper: string; json?: boolean }) =>
      withExistingData(readSettings(), (app) => {
        const seats = listPaperKeys(app, paper).filter(({ seat, revoked_at }) => seat !== null && revoked_at === null);
        const lines = seats.map((key) => `${key.id}  ${key.level.padEnd(5)}  ${key.seat}${lifeOf(key)}`);
        printResult(json, seats, lines.length === 0 ? ['no seats'] : lines);
      }),
    );
}

function remove(): Command {
  return new Command('remove')
    .description('remove a seat and revoke its key')
    .requiredOption('--paper <slug>', 'the paper')
    .requiredOption('--email <address>', 'whose seat it is')
    .action(({ paper, email }: { paper: string; email: string }) =>
      withExistingData(readSettings(), (app) => {
        const { id, seat } = removeSeat(app, paper, email);
        printResult(false, null, [`${seat} no longer has a seat on ${paper}; key ${id} is revoked`]);
      }),
    );
}
