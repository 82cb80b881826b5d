import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { usageNow } from '../app/usage.ts';
import { counted } from '../counted.ts';
import { Fault } from '../fault.ts';
import { BURST_MAX, PLANS } from '../meter/plan.ts';
import { say, withAppContext } from './run.ts';
import { needAccount } from './service-key.ts';

/** How many days `show` sums up. */
const SPAN = 31;

export function command(): Command {
  return new Command('account').description('accounts of the domain records').addCommand(show()).addCommand(set());
}

function show(): Command {
  return new Command('show')
    .description('show an account’s plan, usage and credits')
    .argument('<email>')
    .option('--json', 'print all of it as JSON')
    .action((email: string, options: { json?: boolean }) =>
      withAppContext((app) => sayAccount(app, email, options.json)),
    );
}

function set(): Command {
  return new Command('set')
    .description('change how an account is metered')
    .argument('<email>')
    .option('--plan <plan>', PLANS.join(' or '))
    .option('--burst <n>', `how many days’ shares one day may take, 1 to ${BURST_MAX}`)
    .option('--json', 'print the account as `show` does')
    .action((email: string, options: { plan?: string; burst?: string; json?: boolean }) =>
      withAppContext((app) => {
        const plan = options.plan === undefined ? undefined : planFrom(options.plan);
        const burst = options.burst === undefined ? undefined : burstFrom(options.burst);
        if (plan === undefined && burst === undefined) {
          throw new Fault('invalid_request', 'say what to change: --plan, --burst, or both');
        }
        app.store.transact(() => {
          const { id } = needAccount(app.store, email);
          if (plan !== undefined) app.store.accounts.setPlan(id, plan);
          if (burst !== undefined) app.store.meter.setBurst(id, burst);
        });
        sayAccount(app, email, options.json);
      }),
    );
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
  const { id, email } = needAccount(app.store, text);
  const usage = usageNow(app, id, SPAN);
  if (usage === null) throw new Fault('not_found', `there is no account of ${JSON.stringify(text)}`);
  const { plan, burst, today, month, credits } = usage;
  say(json, { email, ...usage }, [
    `${email}: the ${plan} plan${burst === 1 ? '' : `, a day may take ${burst} days’ shares`}`,
    `today ${counted(today.units, 'request')}, ${today.remaining} of ${today.allowance} included are left; this month ${month.units}`,
    `${counted(credits.balance, 'credit')} bought and left`,
  ]);
}
