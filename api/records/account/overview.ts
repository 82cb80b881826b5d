import { isoTime } from '../../../src/time.ts';
import { needUsage } from './need-usage.ts';
import type { AccountDoors } from './pages.ts';
import { accountPage, sendAccountPage } from './pages.ts';

/** The account at a glance. */
export function overviewDoor(doors: AccountDoors): void {
  const { store, settings, now } = doors.app;
  accountPage(doors, '/account', (c, { account, session }) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/overview', title: 'Account' },
      {
        made_at: isoTime(account.made_at),
        usage: needUsage(doors, account.id, 1),
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
}
