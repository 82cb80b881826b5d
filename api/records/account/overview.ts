import type { AppContext } from '../../../src/app/context.ts';
import { isoTime } from '../../../src/time.ts';
import type { PageSender } from '../pages/page.ts';
import { sendAccountPage, signedInPage } from './pages.ts';
import { requireUsage } from './require-usage.ts';

/** The account at a glance. */
export const overviewPage = (app: AppContext, pages: PageSender) => {
  const { store, settings, now } = app;
  return signedInPage((c, { account, session }) =>
    sendAccountPage(
      pages,
      c,
      { route: '/account/overview', title: 'Account' },
      {
        made_at: isoTime(account.made_at),
        usage: requireUsage(app, account.id, 1),
        keys: store.serviceKeys
          .list(account.id)
          .filter((key) => key.revoked_at === null && !store.serviceKeys.hasExpired(key, now())).length,
        groups: store.watchGroups.list(account.id).length,
        watched: store.watchGroups.hostsOf(account.id).length,
        cap: settings.watchCaps[account.plan],
        alerts: store.changeAlerts.list(account.id).filter(({ off_at }) => off_at === null).length,
        sessions: store.sessions.list(account.id, now()).map(({ id, made_at, seen_at }) => ({
          id,
          made_at: isoTime(made_at),
          seen_at: isoTime(seen_at),
          is_this: id === session.id,
        })),
      },
    ),
  );
};
