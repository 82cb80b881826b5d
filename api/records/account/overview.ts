import { isoTime } from '../../../src/proof/time.ts';
import { accountExport, deleteAccount, usageNow } from '../../../src/records/account-data.ts';
import { isAlertOn } from '../../../src/records/accounts/change-alert.ts';
import { chartOfKeys, chartOfOutcomes } from '../../../src/records/accounts/usage-chart.ts';
import type { AccountPages } from '../../../src/records/accounts/views.ts';
import { creditRow } from '../../../src/records/meter/credits.ts';
import { meterHeaders } from '../../../src/records/meter/headers.ts';
import type { Usage } from '../../../src/records/meter/usage.ts';
import { limitsOf } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { SignedIn } from '../../env.ts';
import { setSessionCookie } from '../../middleware/session.ts';
import { PRIVATE } from '../../responses/send.ts';
import { changeView } from '../pages/change-view.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { stepsOf } from './first-steps.ts';
import { SIGN_IN, sendAccountPage, signedInForm, signedInPage } from './pages.ts';
import { planParts } from './plans.ts';

/** The longest wrong address that a form keeps, in characters. */
const ADDRESS_SHOWN = 254;

const DAYS_DRAWN = 31;
const CHANGES_SHOWN = 5;

type OverviewView = Pick<AccountPages['/account/overview'], 'made' | 'problem'>;

/** The overview, with what the first step just made, or why it could not. */
export const sendOverview =
  (app: AppContext, pages: PageSender) =>
  (c: RecordsContext, { account }: SignedIn, { made = null, problem = null }: Partial<OverviewView> = {}) => {
    const { store, clock } = app;
    const { records } = store;
    const usage = requireUsage(app, account.id, DAYS_DRAWN);
    const steps = stepsOf(app, account.id, made?.key ?? null);
    // The steps are shown until the first request was answered; `start=1` shows them again, and `start=0` hides them.
    const asked = c.req.query('start');
    const isShown = made !== null || problem !== null || asked === '1' || (asked !== '0' && steps.answered === null);
    const status = problem !== null ? 400 : made !== null ? 201 : 200;
    return sendAccountPage(pages, c, ['/account/overview', 'Account', status], {
      made_at: isoTime(account.made_at),
      usage,
      keys: records.serviceKeys
        .list(account.id)
        .filter((key) => key.revoked_at === null && !records.serviceKeys.hasExpired(key, clock.now())).length,
      groups: records.watchGroups.list(account.id).length,
      watched: records.watchGroups.hostsOf(account.id).length,
      cap: limitsOf(app, account).limits.watch,
      alerts: records.changeAlerts.list(account.id).filter(isAlertOn).length,
      steps: isShown ? steps : null,
      made,
      problem,
      chart: chartOfOutcomes(usage.days, usage.today.allowance),
      changes: records.watchGroups
        .changes(account.id, null, { before: Number.MAX_SAFE_INTEGER, limit: CHANGES_SHOWN })
        .map(changeView),
    });
  };

const SPANS = [7, 31, 90] as const;
const ENTRIES = 50;

export function usageHandlers(app: AppContext, pages: PageSender) {
  const { meter } = app.store.records;
  return {
    usage: signedInPage((c, { account }) => {
      const span = SPANS.find((days) => String(days) === c.req.query('days')) ?? DAYS_DRAWN;
      const usage = requireUsage(app, account.id, span);
      const counted = meter.usage(account.id, app.clock.now(), app.settings.keyedDaily);
      return sendAccountPage(pages, c, ['/account/usage', 'Usage'], {
        usage,
        outcomes: chartOfOutcomes(usage.days, usage.today.allowance),
        keys: chartOfKeys(usage.days, meter.keyDays(account.id, usage.days[0]?.day ?? usage.today.day)),
        spans: SPANS,
        span,
        headers: counted === null ? [] : Object.entries(meterHeaders(counted)),
      });
    }),
    credits: signedInPage((c, { account }) => {
      const given = Number(c.req.query('before'));
      const before = Number.isSafeInteger(given) && given > 1 ? given : Number.MAX_SAFE_INTEGER;
      const { credits } = requireUsage(app, account.id, 1);
      const entries = app.store.records.credits.entries(account.id, app.clock.now(), { before, limit: ENTRIES });
      const last = entries.at(-1)?.seq ?? 1;
      return sendAccountPage(pages, c, ['/account/credits', 'Plan and credits'], {
        balance: credits.balance,
        are_sold: (app.settings.x402?.rpc ?? null) !== null,
        cost_per_request: credits.cost_per_request,
        entries: entries.map((entry) => {
          const { seq, ...row } = creditRow(entry);
          return { is_open: seq === null, ...row };
        }),
        older_url: last > 1 ? `/account/credits?before=${last}` : null,
        ...planParts(app, account),
      });
    }),
  };
}

export function dataHandlers(app: AppContext, pages: PageSender) {
  const { records } = app.store;
  const send = (c: RecordsContext, { account }: SignedIn, given = '', problem: string | null = null) =>
    sendAccountPage(pages, c, ['/account/data', 'Your data', problem === null ? 200 : 400], {
      held: {
        keys: records.serviceKeys.list(account.id).filter(({ revoked_at }) => revoked_at === null).length,
        sessions: records.sessions.list(account.id, app.clock.now()).length,
        groups: records.watchGroups.list(account.id).length,
        hosts: records.watchGroups.hostsOf(account.id).length,
        alerts: records.changeAlerts.list(account.id).length,
        credits: requireUsage(app, account.id, 1).credits.balance,
      },
      problem,
      given,
    });
  return {
    page: signedInPage((c, signed) => send(c, signed)),
    export: signedInPage((c, { account }) =>
      c.body(`${JSON.stringify(accountExport(app, account), null, 2)}\n`, 200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Disposition': 'attachment; filename="domain-records-account.json"',
        'Cache-Control': PRIVATE,
        'X-Content-Type-Options': 'nosniff',
      }),
    ),
    delete: signedInForm(app.settings, (c, signed, form) => {
      const { account } = signed;
      const given = form.text('confirm');
      if (given.toLowerCase() !== account.email) {
        const problem = `This is not the address of this account. Type ${account.email} to delete it.`;
        return send(c, signed, given.slice(0, ADDRESS_SHOWN), problem);
      }
      deleteAccount(app, account);
      setSessionCookie(c, app.settings.dataOrigin, null);
      return c.redirect(`${SIGN_IN}?done=deleted`, 303);
    }),
  };
}

/** The usage of an account over some days. Throws `not_found` when the account was deleted meanwhile. */
function requireUsage(app: AppContext, account: string, days: number): Usage {
  const usage = usageNow(app, account, days);
  if (usage === null) throw new Fault('not_found', 'this account was deleted');
  return usage;
}
