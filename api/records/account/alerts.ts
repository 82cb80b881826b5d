import type { AlertState, ChangeAlert } from '../../../src/accounts/change-alert.ts';
import { ALERT_WAYS, makeAlert, requireAlert } from '../../../src/accounts/change-alert.ts';
import { queueChangeTest } from '../../../src/accounts/change-queue.ts';
import type { AlertRow, AlertsView } from '../../../src/accounts/views.ts';
import { newId } from '../../../src/app/context.ts';
import { requireWatched } from '../../../src/app/watched-hosts.ts';
import { hostOf } from '../../../src/outbound/webhook-url.ts';
import { isoOrNull, isoTime } from '../../../src/time.ts';
import type { SignedIn } from '../../env.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../route.ts';
import type { AccountDoors } from './pages.ts';
import { accountForm, accountPage, sendAccountPage } from './pages.ts';
import { problemOf } from './problem.ts';

/** How many deliveries a webhook's log shows. */
const LOG = 50;

/** Alerts of changes: by mail and to webhooks, with the log of each webhook. */
export function alertDoors(doors: AccountDoors): void {
  const { app } = doors;
  const { store, settings, now } = app;

  const rowOf = (alert: ChangeAlert & AlertState): AlertRow => {
    const { id, account, watch_group, hostname, way, url } = alert;
    return {
      id,
      of: hostname ?? store.watchGroups.get(account, watch_group ?? '')?.name ?? '',
      is_group: watch_group !== null,
      way,
      host: url === null ? null : hostOf(url),
      made_at: isoTime(alert.made_at),
      off_at: isoOrNull(alert.off_at),
      off_reason: alert.off_reason,
      failing_since: isoOrNull(alert.failing_since),
    };
  };
  const list = (c: RecordsContext, { account }: SignedIn, refused?: Pick<AlertsView, 'problem' | 'given'>) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/alerts', title: 'Alerts', status: refused === undefined ? 200 : 400 },
      {
        alerts: store.changeAlerts.list(account.id).map(rowOf),
        groups: store.watchGroups.list(account.id).map(({ id, name }) => ({ id, name })),
        problem: null,
        given: { group: '', hostname: '', way: 'instant', url: '' },
        ...refused,
      },
    );
  const page = (c: RecordsContext, alert: ChangeAlert & AlertState, secret: string | null) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/alert', title: 'Alert', status: secret === null ? 200 : 201 },
      {
        alert: { ...rowOf(alert), url: alert.url },
        secret,
        deliveries: store.changeAlerts
          .deliveries(alert.id, LOG)
          .map(({ id, type, state, made_at, due_at, attempts }) => ({
            id,
            type,
            state,
            made_at: isoTime(made_at),
            due_at: isoTime(due_at),
            attempts: attempts.map(({ at, ms, status, error }) => ({
              at: isoTime(at),
              ms,
              outcome: [status, error].filter((part) => part !== null).join(' '),
            })),
          })),
      },
    );
  const named = (c: RecordsContext, { account }: SignedIn) =>
    requireAlert(store.changeAlerts, account.id, c.req.param('id') ?? '');

  accountPage(doors, '/account/alerts', (c, signed) => list(c, signed));
  accountForm(doors, '/account/alerts', (c, signed, form) => {
    const way = form.oneOf('way', ALERT_WAYS);
    const given = { group: form.text('group'), hostname: form.text('hostname'), way, url: form.text('url') };
    try {
      const alert = makeAlert(store, signed.account.id, given, {
        now: now(),
        newId,
        allowsPrivate: settings.webhookPrivate,
        requireHost: (text) => requireWatched(app, text),
      });
      if (alert.secret === null) return c.redirect('/account/alerts', 303);
      setHeader(c, 'Location', `/account/alerts/${alert.id}`);
      return page(c, requireAlert(store.changeAlerts, signed.account.id, alert.id), alert.secret);
    } catch (error) {
      return list(c, signed, { problem: problemOf(error), given });
    }
  });
  accountPage(doors, '/account/alerts/:id', (c, signed) => page(c, named(c, signed), null));
  accountForm(doors, '/account/alerts/:id/test', (c, signed) => {
    const { id, way, url } = named(c, signed);
    if (way === 'webhook' && url !== null) {
      queueChangeTest(store.changeQueue, { id, url }, { now: now(), newId });
    }
    return c.redirect(`/account/alerts/${id}`, 303);
  });
  accountForm(doors, '/account/alerts/:id/on', (c, signed) => {
    store.changeAlerts.switchOn(signed.account.id, named(c, signed).id);
    return c.redirect('/account/alerts', 303);
  });
  accountForm(doors, '/account/alerts/:id/remove', (c, { account }) => {
    store.changeAlerts.remove(account.id, c.req.param('id') ?? '');
    return c.redirect('/account/alerts', 303);
  });
}
