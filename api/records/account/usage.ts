import { usageBars } from '../../../src/accounts/usage-bars.ts';
import { creditsOf } from '../../../src/meter/credits.ts';
import { isoTime } from '../../../src/time.ts';
import { needUsage } from './need-usage.ts';
import type { AccountDoors } from './pages.ts';
import { accountPage, sendAccountPage } from './pages.ts';

/** How many days the chart shows, and how many lines of the ledger are on a page. */
const SPAN = 31;
const LINES = 50;

/** What the account asked, and the ledger of its credits. */
export function accountUsageDoors(doors: AccountDoors): void {
  const { app } = doors;
  accountPage(doors, '/account/usage', (c, { account }) => {
    const usage = needUsage(doors, account.id, SPAN);
    return sendAccountPage(doors, c, { route: '/account/usage', title: 'Usage' }, { usage, ...usageBars(usage.days) });
  });
  accountPage(doors, '/account/credits', (c, { account }) => {
    const asked = Number(c.req.query('before'));
    const before = Number.isSafeInteger(asked) && asked > 1 ? asked : Number.MAX_SAFE_INTEGER;
    const { credits } = needUsage(doors, account.id, 1);
    const entries = app.store.credits.entries(account.id, app.now(), { before, limit: LINES });
    const last = entries.at(-1)?.seq ?? 1;
    return sendAccountPage(
      doors,
      c,
      { route: '/account/credits', title: 'Credits' },
      {
        balance: credits.balance,
        are_sold: (app.settings.x402?.rpc ?? null) !== null,
        cost_per_request: credits.cost_per_request,
        entries: entries.map(({ seq, at, kind, amount, balance, day, note }) => ({
          is_open: seq === null,
          at: isoTime(at),
          kind,
          amount: creditsOf(amount),
          balance: creditsOf(balance),
          day,
          note,
        })),
        older_url: last > 1 ? `/account/credits?before=${last}` : null,
      },
    );
  });
}
