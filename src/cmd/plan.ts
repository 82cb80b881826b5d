import { Command } from 'commander';
import { priceInWords } from '../records/meter/offer.ts';
import { limitsInWords, type PlanTerms, planNameFrom, type SoldPlan, termFrom } from '../records/meter/plan.ts';
import { freeLimits } from '../records/plans.ts';
import type { AppContext } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function plan(): Command {
  return new Command('plan')
    .description('plans that accounts of the domain records buy')
    .addCommand(set())
    .addCommand(list())
    .addCommand(remove());
}

/** The days of a new plan. */
const DAYS = 30;

const OPTIONS: readonly [term: keyof PlanTerms, flag: string, about: string][] = [
  ['daily', '--daily', 'included requests per UTC day'],
  ['per_minute', '--per-minute', 'requests per clock minute for each key'],
  ['watch', '--watch', 'hostnames in groups'],
  ['streams', '--streams', 'open streams'],
  ['exports', '--exports', 'exports per UTC day'],
  ['price', '--price', 'the price for all its days, in atomic units of the token: for USDC, millionths of a dollar'],
  ['days', '--days', `how many days it lasts; ${DAYS} for a new plan`],
];

type Given = Partial<Record<'daily' | 'perMinute' | 'watch' | 'streams' | 'exports' | 'price' | 'days', string>> & {
  json?: boolean;
};

function set(): Command {
  const command = new DataCommand('set')
    .description('put a plan on sale, or change it; accounts that hold it keep what they bought')
    .argument('<name>', 'its name, of a–z, 0–9 and -');
  for (const [, flag, about] of OPTIONS) command.option(`${flag} <n>`, about);
  return command.option('--json', 'print the plan as JSON').onAnyData((app: AppContext, text: string, given: Given) => {
    const { plans } = app.store.records;
    const name = planNameFrom(text);
    const saved = app.store.database.transact(() => {
      const before = plans.find(name);
      const known = before ?? { ...freeLimits(app.settings, 'daily'), price: null, days: DAYS };
      const terms = Object.fromEntries(
        OPTIONS.map(([term, flag]) => {
          const value = given[term === 'per_minute' ? 'perMinute' : term];
          return [term, value === undefined ? known[term] : termFrom(term, value, flag)];
        }),
      ) as Omit<SoldPlan, 'name' | 'price'> & { price: number | null };
      if (terms.price === null) {
        throw new Fault('invalid_request', `--price: a new plan needs one; there is no plan ${name} yet`, {
          field: 'price',
        });
      }
      const sold = { name, ...terms, price: terms.price };
      plans.set(sold);
      return sold;
    });
    printResult(given.json, saved, [inWords(app, saved)]);
  });
}

function list(): Command {
  return new DataCommand('list')
    .description('list the plans on sale, the cheapest per day first')
    .option('--json', 'print {plans}')
    .onAnyData((app, { json }: { json?: boolean }) => {
      const { plans } = app.store.records;
      const rows = plans.list().map((sold) => ({ ...sold, held_by: plans.holders(sold.name, app.clock.now()) }));
      const lines = rows.map((row) => `${inWords(app, row)}; held by ${plural(row.held_by, 'account')}`);
      printResult(json, { plans: rows }, lines.length === 0 ? ['no plan is on sale'] : lines);
    });
}

function remove(): Command {
  return new DataCommand('remove')
    .description('take a plan off sale; accounts that hold it keep it to its end')
    .argument('<name>', 'its name')
    .option('--json', 'print {removed, held_by}')
    .onData((app, text: string, { json }: { json?: boolean }) => {
      const { plans } = app.store.records;
      const name = planNameFrom(text);
      if (!plans.remove(name)) throw new Fault('not_found', `there is no plan ${name}; list shows those on sale`);
      const held_by = plans.holders(name, app.clock.now());
      printResult(json, { removed: name, held_by }, [
        `${name} is no longer on sale; ${plural(held_by, 'account')} ${held_by === 1 ? 'holds' : 'hold'} it to its end`,
      ]);
    });
}

function inWords({ settings }: AppContext, { name, price, days, ...limits }: SoldPlan): string {
  const { asset } = settings.x402 ?? {};
  const cost =
    asset === undefined ? `${price.toLocaleString('en')} atomic units` : priceInWords({ units: price, asset });
  return `${name}: ${cost} for ${plural(days, 'day')}; ${limitsInWords(limits)}`;
}
