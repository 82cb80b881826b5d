import { Command } from 'commander';
import { usageNow } from '../records/account-data.ts';
import { BURST_MAX, PLANS } from '../records/meter/account-usage.ts';
import { amountFrom, appendCredits, creditRow, creditsOf, noteFrom } from '../records/meter/credits.ts';
import { planInForce, planInWords } from '../records/meter/plan-order.ts';
import { requireAccount } from '../records/service-keys.ts';
import type { AppContext } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

/** The number of days that `show` covers. */
const SPAN = 31;

export function account(): Command {
  return new Command('account').description('accounts of the domain records').addCommand(show()).addCommand(set());
}

function show(): Command {
  return new DataCommand('show')
    .description('show an account’s plan, usage and credits')
    .argument('<email>', 'the address that the account signs in with')
    .option('--json', 'print the account as JSON')
    .onData((app, email: string, { json }: { json?: boolean }) => sayAccount(app, email, json));
}

function set(): Command {
  return new DataCommand('set')
    .description('change how an account is metered')
    .argument('<email>', 'the address that the account signs in with')
    .option('--plan <plan>', `the plan: ${PLANS.join(' or ')}`)
    .option('--burst <n>', `how many daily allowances one day may use, 1 to ${BURST_MAX}`)
    .option('--json', 'print the account as `show` does')
    .onData((app, email: string, options: { plan?: string; burst?: string; json?: boolean }) => {
      const plan = options.plan === undefined ? undefined : planFrom(options.plan);
      const burst = options.burst === undefined ? undefined : burstFrom(options.burst);
      if (plan === undefined && burst === undefined) {
        throw new Fault('invalid_request', 'say what to change: --plan, --burst, or both');
      }
      app.store.database.transact(() => {
        const { id } = requireAccount(app.store, email);
        if (plan !== undefined) app.store.records.accounts.setPlan(id, plan);
        if (burst !== undefined) app.store.records.meter.setBurst(id, burst);
      });
      sayAccount(app, email, options.json);
    });
}

function planFrom(text: string) {
  const plan = PLANS.find((known) => known === text);
  if (plan !== undefined) return plan;
  throw new Fault('invalid_request', `--plan: ${JSON.stringify(text)}: must be one of ${PLANS.join(', ')}`);
}

function burstFrom(text: string): number {
  const burst = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (burst >= 1 && burst <= BURST_MAX) return burst;
  throw new Fault('invalid_request', `--burst: ${JSON.stringify(text)}: must be a whole number from 1 to ${BURST_MAX}`);
}

function sayAccount(app: AppContext, text: string, json: boolean | undefined): void {
  const { id, email } = requireAccount(app.store, text);
  const usage = usageNow(app, id, SPAN);
  if (usage === null) throw new Fault('not_found', `there is no account with the address ${JSON.stringify(text)}`);
  const { plan, burst, today, month, credits } = usage;
  const bought = planInWords(planInForce(app.store.records.plans.last(id), app.clock.now()));
  printResult(json, { email, ...usage, bought_plan: bought }, [
    `${email}: the ${plan} plan${burst === 1 ? '' : `, one day may use ${burst} daily allowances`}`,
    `today ${plural(today.units, 'request')}, ${today.remaining} of ${today.allowance} included left; this month ${month.units}`,
    `${plural(credits.balance, 'credit')} left`,
    ...(bought === null ? [] : [`bought the plan ${bought.name}, until ${bought.ends_at}`]),
  ]);
}

export function credits(): Command {
  return new Command('credits')
    .description('credits of an account of the domain records')
    .addCommand(addCredits())
    .addCommand(showCredits());
}

function addCredits(): Command {
  return new DataCommand('add')
    .description('add credits to an account; a negative amount, as in -- -5, takes some away')
    .argument('<email>', 'the address that the account signs in with')
    .argument('<amount>', 'credits, such as 25 or 0.05')
    .option('--note <text>', 'the reason, such as an invoice number')
    .option('--json', 'print {email, balance, entry}')
    .onData(({ store, clock: { now } }, email: string, amount: string, options: { note?: string; json?: boolean }) => {
      const move = { at: now(), amount: amountFrom(amount, 'amount'), note: noteFrom(options.note, '--note') };
      const { entry, balance, of } = store.database.transact(() => {
        const account = requireAccount(store, email);
        const line = appendCredits(store.records.credits, account.id, move);
        return {
          entry: creditRow(line),
          balance: creditsOf(store.records.credits.balance(account.id)),
          of: account.email,
        };
      });
      const lines = [`${entry.kind} of ${entry.amount} credits; ${of} has ${balance}`];
      printResult(options.json, { email: of, balance, entry }, lines);
    });
}

function showCredits(): Command {
  return new DataCommand('show')
    .description('show the credits of an account and their ledger, newest first')
    .argument('<email>', 'the address that the account signs in with')
    .option('--json', 'print {email, balance, entries}; today’s entry, which still grows, has no seq')
    .onData(({ store, clock: { now } }, email: string, options: { json?: boolean }) => {
      const account = requireAccount(store, email);
      const entries = store.records.credits.entries(account.id, now()).map(creditRow);
      const balance = creditsOf(store.records.credits.balance(account.id));
      printResult(options.json, { email: account.email, balance, entries }, [
        `${account.email} has ${balance} credits`,
        ...entries.map(
          ({ seq, at, kind, amount, balance: sum, day, note }) =>
            `${seq === null ? 'today, so far'.padEnd(at.length) : at}  ${kind.padEnd(10)}  ${amount}  ${sum}${day === null ? '' : `  ${day}`}${note === null ? '' : `  ${note}`}`,
        ),
      ]);
    });
}
