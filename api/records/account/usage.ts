import { usageBars } from '../../../src/accounts/usage-bars.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { creditsOf } from '../../../src/meter/credits.ts';
import { isoTime } from '../../../src/time.ts';
import type { PageSender } from '../pages/page.ts';
import { sendAccountPage, signedInPage } from './pages.ts';
import { requireUsage } from './require-usage.ts';

/** Days in the chart, and ledger entries on a page. */
const DAYS = 31;
const ENTRIES = 50;

/** The usage of an account, and the ledger of its credits. */
export function usageHandlers(app: AppContext, pages: PageSender) {
  return {
    usage: signedInPage((c, { account }) => {
      const usage = requireUsage(app, account.id, DAYS);
      return sendAccountPage(
        pages,
        c,
        { route: '/account/usage', title: 'Usage' },
        { usage, ...usageBars(usage.days) },
      );
    }),
    credits: signedInPage((c, { account }) => {
      const given = Number(c.req.query('before'));
      const before = Number.isSafeInteger(given) && given > 1 ? given : Number.MAX_SAFE_INTEGER;
      const { credits } = requireUsage(app, account.id, 1);
      const entries = app.store.credits.entries(account.id, app.now(), { before, limit: ENTRIES });
      const last = entries.at(-1)?.seq ?? 1;
      return sendAccountPage(
        pages,
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
    }),
  };
}
