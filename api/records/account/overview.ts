import { isoTime } from '../../../src/proof/time.ts';
import { accountExport, deleteAccount, usageNow } from '../../../src/records/account-data.ts';
import { creditRow } from '../../../src/records/meter/credits.ts';
import type { Usage } from '../../../src/records/meter/usage.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { setSessionCookie } from '../../middleware/session.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { SIGN_IN, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

export const overviewPage = (app: AppContext, pages: PageSender) => {
  const { store, settings, clock } = app;
  return signedInPage((c, { account, session }) =>
    sendAccountPage(pages, c, ['/account/overview', 'Account'], {
      made_at: isoTime(account.made_at),
      usage: requireUsage(app, account.id, 1),
      keys: store.records.serviceKeys
        .list(account.id)
        .filter((key) => key.revoked_at === null && !store.records.serviceKeys.hasExpired(key, clock.now())).length,
      groups: store.records.watchGroups.list(account.id).length,
      watched: store.records.watchGroups.hostsOf(account.id).length,
      cap: settings.watchCaps[account.plan],
      alerts: store.records.changeAlerts.list(account.id).filter(({ off_at }) => off_at === null).length,
      sessions: store.records.sessions.list(account.id, clock.now()).map(({ id, made_at, seen_at }) => ({
        id,
        made_at: isoTime(made_at),
        seen_at: isoTime(seen_at),
        is_this: id === session.id,
      })),
    }),
  );
};

const DAYS = 31;
const ENTRIES = 50;

export function usageHandlers(app: AppContext, pages: PageSender) {
  return {
    usage: signedInPage((c, { account }) => {
      const usage = requireUsage(app, account.id, DAYS);
      return sendAccountPage(pages, c, ['/account/usage', 'Usage'], { usage, ...usageBars(usage.days) });
    }),
    credits: signedInPage((c, { account }) => {
      const given = Number(c.req.query('before'));
      const before = Number.isSafeInteger(given) && given > 1 ? given : Number.MAX_SAFE_INTEGER;
      const { credits } = requireUsage(app, account.id, 1);
      const entries = app.store.records.credits.entries(account.id, app.clock.now(), { before, limit: ENTRIES });
      const last = entries.at(-1)?.seq ?? 1;
      return sendAccountPage(pages, c, ['/account/credits', 'Credits'], {
        balance: credits.balance,
        are_sold: (app.settings.x402?.rpc ?? null) !== null,
        cost_per_request: credits.cost_per_request,
        entries: entries.map((entry) => {
          const { seq, ...row } = creditRow(entry);
          return { is_open: seq === null, ...row };
        }),
        older_url: last > 1 ? `/account/credits?before=${last}` : null,
      });
    }),
  };
}

export function dataHandlers(app: AppContext, pages: PageSender) {
  const send = (c: RecordsContext, problem: string | null = null) =>
    sendAccountPage(pages, c, ['/account/data', 'Your data', problem === null ? 200 : 400], { problem });
  return {
    page: signedInPage((c) => send(c)),
    export: signedInPage((c, { account }) =>
      c.body(`${JSON.stringify(accountExport(app, account), null, 2)}\n`, 200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Disposition': 'attachment; filename="domain-records-account.json"',
        'Cache-Control': PRIVATE,
        'X-Content-Type-Options': 'nosniff',
      }),
    ),
    delete: signedInForm(app.settings, (c, { account }, form) => {
      if (form.text('confirm').toLowerCase() !== account.email) {
        return send(c, `This is not the address of this account. Type ${account.email} to delete it.`);
      }
      deleteAccount(app, account);
      setSessionCookie(c, app.settings.dataOrigin, null);
      return c.redirect(SIGN_IN, 303);
    }),
  };
}

/** The usage of an account over some days. Throws `not_found` when the account was deleted meanwhile. */
function requireUsage(app: AppContext, account: string, days: number): Usage {
  const usage = usageNow(app, account, days);
  if (usage === null) throw new Fault('not_found', 'this account was deleted');
  return usage;
}

/** The bars of a chart, with heights in percent, and the number of requests at its top: 1, 2 or 5 times a power of ten. */
export function usageBars(days: Usage['days']) {
  const most = Math.max(1, ...days.map(({ included, on_credits, refused }) => included + on_credits + refused));
  const power = 10 ** Math.floor(Math.log10(most));
  const scale = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= most) ?? most;
  const height = (count: number) => Math.round((count / scale) * 10_000) / 100;
  const bars = days.map(({ day, included, on_credits, refused }) => ({
    day,
    title: `${day}: ${included} included, ${on_credits} on credits, ${refused} refused`,
    included: height(included),
    drawn: height(on_credits),
    refused: height(refused),
  }));
  return { bars, scale };
}
