import { Command } from 'commander';
import { creditsOf } from '../meter/credits.ts';
import { amountFrom, creditRow, moveCredits, noteFrom } from '../meter/top-up.ts';
import { say, withAppContext } from './run.ts';
import { needAccount } from './service-key.ts';

export function command(): Command {
  return new Command('credits')
    .description('credits of an account of the domain records')
    .addCommand(add())
    .addCommand(show());
}

function add(): Command {
  return new Command('add')
    .description('top an account’s credits up; with an amount below nothing, as in -- -5, take some away')
    .argument('<email>')
    .argument('<amount>', 'credits, such as 25 or 0.05')
    .option('--note <text>', 'what for, such as an invoice’s number')
    .option('--json', 'print {email, balance, entry}')
    .action((email: string, amount: string, options: { note?: string; json?: boolean }) =>
      withAppContext(({ store, now }) => {
        const move = { at: now(), amount: amountFrom(amount, 'amount'), note: noteFrom(options.note, '--note') };
        const { entry, balance, of } = store.transact(() => {
          const account = needAccount(store, email);
          const line = moveCredits(store.credits, account.id, move);
          return { entry: creditRow(line), balance: creditsOf(store.credits.balance(account.id)), of: account.email };
        });
        const lines = [`${entry.kind} of ${entry.amount} credits; ${of} has ${balance}`];
        say(options.json, { email: of, balance, entry }, lines);
      }),
    );
}

function show(): Command {
  return new Command('show')
    .description('show an account’s ledger of credits, newest first')
    .argument('<email>')
    .option('--json', 'print {email, balance, entries}; an entry of today that grows on has no seq')
    .action((email: string, options: { json?: boolean }) =>
      withAppContext(({ store, now }) => {
        const account = needAccount(store, email);
        const entries = store.credits.entries(account.id, now()).map(creditRow);
        const balance = creditsOf(store.credits.balance(account.id));
        say(options.json, { email: account.email, balance, entries }, [
          `${account.email} has ${balance} credits`,
          ...entries.map(
            ({ seq, at, kind, amount, balance: sum, day, note }) =>
              `${seq === null ? 'today, so far'.padEnd(at.length) : at}  ${kind.padEnd(10)}  ${amount}  ${sum}${day === null ? '' : `  ${day}`}${note === null ? '' : `  ${note}`}`,
          ),
        ]);
      }),
    );
}
