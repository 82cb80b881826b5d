import { isoTime } from '../../../src/time.ts';
import { needUsage } from './need-usage.ts';
import type { AccountDoors } from './pages.ts';
import { accountPage, sendAccountPage } from './pages.ts';

/** The account at a glance. */
export function overviewDoor(doors: AccountDoors): void {
  const { desk } = doors;
  accountPage(doors, '/account', (c, { account, session }) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/overview', title: 'Account' },
      {
        made_at: isoTime(account.made_at),
        usage: needUsage(doors, account.id, 1),
        keys: desk.keys
          .list(account.id)
          .filter((key) => key.revoked_at === null && !desk.keys.hasExpired(key, desk.now())).length,
        groups: desk.groups.list(account.id).length,
        watched: desk.groups.hostsOf(account.id).length,
        cap: desk.caps[account.plan],
        alerts: desk.alerts.list(account.id).filter(({ off_at }) => off_at === null).length,
        sessions: desk.sessions.list(account.id, desk.now()).map(({ id, made_at, seen_at }) => ({
          id,
          made_at: isoTime(made_at),
          seen_at: isoTime(seen_at),
          is_this: id === session.id,
        })),
      },
    ),
  );
}
