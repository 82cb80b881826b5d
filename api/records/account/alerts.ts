import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import {
  ALERT_WAYS,
  type AlertState,
  alertDeliveryRow,
  type ChangeAlert,
  makeAlert,
  requireAlert,
  toUnsubscribe,
} from '../../../src/records/accounts/change-alert.ts';
import { queueChangeTest } from '../../../src/records/accounts/change-queue.ts';
import type { AccountPages, AlertRow } from '../../../src/records/accounts/views.ts';
import { requireWatched } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { hostOf } from '../../../src/shared/outbound/webhook-url.ts';
import type { SignedIn } from '../../env.ts';
import { needPart, problemOf } from '../../middleware/form-body.ts';
import { limitBody } from '../../middleware/json-body.ts';
import { setHeader } from '../../responses/headers.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { sendAccountPage, signedInForm, signedInPage } from './pages.ts';

const LOG = 50;

export function alertHandlers(app: AppContext, pages: PageSender) {
  const { store, settings, clock } = app;
  const rowOf = (alert: ChangeAlert & AlertState): AlertRow => {
    const { id, account, watch_group, hostname, way, url } = alert;
    return {
      id,
      of: hostname ?? store.records.watchGroups.get(account, watch_group ?? '')?.name ?? '',
      is_group: watch_group !== null,
      way,
      host: url === null ? null : hostOf(url),
      made_at: isoTime(alert.made_at),
      off_at: isoOrNull(alert.off_at),
      off_reason: alert.off_reason,
      failing_since: isoOrNull(alert.failing_since),
    };
  };
  const sendList = (
    c: RecordsContext,
    { account }: SignedIn,
    rejected?: Pick<AccountPages['/account/alerts'], 'problem' | 'given'>,
  ) =>
    sendAccountPage(pages, c, ['/account/alerts', 'Alerts', rejected === undefined ? 200 : 400], {
      alerts: store.records.changeAlerts.list(account.id).map(rowOf),
      groups: store.records.watchGroups.list(account.id).map(({ id, name }) => ({ id, name })),
      problem: null,
      given: { group: '', hostname: '', way: 'instant', url: '' },
      ...rejected,
    });
  const sendAlert = (c: RecordsContext, alert: ChangeAlert & AlertState, secret: string | null) =>
    sendAccountPage(pages, c, ['/account/alert', 'Alert', secret === null ? 200 : 201], {
      alert: { ...rowOf(alert), url: alert.url },
      secret,
      deliveries: store.records.changeAlerts.deliveries(alert.id, LOG).map(alertDeliveryRow),
    });
  const alertOf = (c: RecordsContext, { account }: SignedIn) =>
    requireAlert(store.records.changeAlerts, account.id, c.req.param('id') ?? '');

  return {
    list: signedInPage((c, signed) => sendList(c, signed)),
    create: signedInForm(settings, (c, signed, form) => {
      const way = form.oneOf('way', ALERT_WAYS);
      const given = { group: form.text('group'), hostname: form.text('hostname'), way, url: form.text('url') };
      try {
        const alert = makeAlert(store.records, signed.account.id, given, {
          now: clock.now(),
          newId,
          allowsPrivate: settings.webhookPrivate,
          requireHost: (text) => requireWatched(app, text),
        });
        if (alert.secret === null) return c.redirect('/account/alerts', 303);
        setHeader(c, 'Location', `/account/alerts/${alert.id}`);
        return sendAlert(c, requireAlert(store.records.changeAlerts, signed.account.id, alert.id), alert.secret);
      } catch (error) {
        return sendList(c, signed, { problem: problemOf(error), given });
      }
    }),
    show: signedInPage((c, signed) => sendAlert(c, alertOf(c, signed), null)),
    test: signedInForm(settings, (c, signed) => {
      const { id, way, url } = alertOf(c, signed);
      if (way === 'webhook' && url !== null) {
        queueChangeTest(store.records, { id, url }, { now: clock.now(), newId });
      }
      return c.redirect(`/account/alerts/${id}`, 303);
    }),
    switchOn: signedInForm(settings, (c, signed) => {
      store.records.changeAlerts.switchOn(signed.account.id, alertOf(c, signed).id);
      return c.redirect('/account/alerts', 303);
    }),
    remove: signedInForm(settings, (c, { account }) => {
      store.records.changeAlerts.remove(account.id, c.req.param('id') ?? '');
      return c.redirect('/account/alerts', 303);
    }),
  };
}

/**
 * Stops mails of changes by the link at their foot. Mail clients send its form without an origin (RFC 8058, section
 * 3.1), so the token authorizes it and no cookie does. `secret` is the key of mailed links.
 */
export function unsubscribeHandlers({ store, clock }: AppContext, secret: Uint8Array, pages: PageSender) {
  const linkOf = (c: RecordsContext) => ({
    account: needPart('account', c.req.query('account')),
    token: needPart('token', c.req.query('token')),
  });
  const accountOf = (c: RecordsContext) => {
    const { account, token } = linkOf(c);
    return toUnsubscribe(store.records.accounts, secret, account, token);
  };
  const send = (c: RecordsContext, address: string, done: boolean) =>
    sendAccountPage(pages, c, ['/account/unsubscribe', 'Stop mails of changes'], { ...linkOf(c), address, done });
  return {
    page: (c: RecordsContext) => send(c, accountOf(c).email, false),
    stop: {
      before: [limitBody],
      handle: (c: RecordsContext) => {
        const { id, email } = accountOf(c);
        // Repeating it has no effect, and webhooks go on.
        store.records.changeAlerts.mailsOff(id, 'unsubscribed', clock.now());
        return send(c, email, true);
      },
    },
  };
}
