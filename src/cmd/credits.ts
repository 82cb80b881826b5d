import { Command } from 'commander';
import { withExistingData } from '../app/context.ts';
import { requireAccount } from '../app/service-keys.ts';
import { readSettings } from '../env.ts';
import { amountFrom, appendCredits, creditRow, creditsOf, noteFrom } from '../meter/credits.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('credits')
    .description('credits of an account of the domain records')
    .addCommand(add())
    .addCommand(show());
}

function add(): Command {
  return new Command('add')
    .description('add credits to an account; a negative amount, as in -- -5, takes some away')
    .argument('<email>', 'the address that the account signs in with')
    .argument('<amount>', 'credits, such as 25 or 0.05')
    .option('--note <text>', 'the reason, such as an invoice number')
    .option('--json', 'print {email, balance, entry}')
    .action((email: string, amount: string, options: { note?: string; json?: boolean }) =>
      withExistingData(readSettings(), ({ store, now }) => {
        const move = { at: now(), amount: amountFrom(amount, 'amount'), note: noteFrom(options.note, '--note') };
        const { entry, balance, of } = store.transact(() => {
          const account = requireAccount(store, email);
          const line = appendCredits(store.credits, account.id, move);
          return { entry: creditRow(line), balance: creditsOf(store.credits.balance(account.id)), of: account.email };
        });
        const lines = [`${entry.kind} of ${entry.amount} credits; ${of} has ${balance}`];
        printResult(options.json, { email: of, balance, entry }, lines);
      }),
    );
}

function show(): Command {
  return new Command('show')
    .description('show the credits of an account and their ledger, newest first')
    .argument('<email>', 'the address that the account signs in with')
    .option('--json', 'print {email, balance, entries}; today’s entry, which still grows, has no seq')
    .action((email: string, options: { json?: boolean }) =>
      withExistingData(readSettings(), ({ store, now }) => {
        const account = requireAccount(store, email);
        const entries = store.credits.entries(account.id, now()).map(creditRow);
        const balance = creditsOf(store.credits.balance(account.id));
        printResult(options.json, { email: account.email, balance, entries }, [
          `${account.email} has ${balance} credits`,
          ...entries.map(
            ({ seq, at, kind, amount, balance: sum, day, note }) =>
              `${seq === null ? 'today, so far'.padEnd(at.length) : at}  ${kind.padEnd(10)}  ${amount}  ${sum}${day === null ? '' : `  ${day}`}${note === null ? '' : `  ${note}`}`,
          ),
        ]);
      }),
    );
}
