import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import { accountMailRow } from '../../../src/records/accounts/account-mail.ts';
import { ALERT_FORMATS, FORMAT_NAMES } from '../../../src/records/accounts/alert-body.ts';
import { answer } from '../../../src/records/accounts/answer.ts';
import {
  ALERT_WAYS,
  type AlertState,
  alertDeliveryRow,
  type ChangeAlert,
  makeAlert,
  renewSecret,
  requireAlert,
  sendAgain,
  toUnsubscribe,
} from '../../../src/records/accounts/change-alert.ts';
import { queueAlertTest } from '../../../src/records/accounts/change-queue.ts';
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
import { answered, problemAt, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

const LOG = 50;
const MAILS = 20;
const MAIL_KINDS: ReadonlySet<string> = new Set(['changes', 'digest', 'test']);

type Alert = ChangeAlert & AlertState;
type ListView = Pick<AccountPages['/account/alerts'], 'problem' | 'given' | 'answer'>;
type AlertView = Pick<AccountPages['/account/alert'], 'secret' | 'answer'>;

export function alertHandlers(app: AppContext, pages: PageSender) {
  const { store, settings, clock } = app;
  const { changeAlerts, watchGroups, accountMails } = store.records;
  const rowsOf = (account: string, alerts: Alert[]): AlertRow[] => {
    const names = new Map(watchGroups.list(account).map(({ id, name }) => [id, name]));
    return alerts.map(({ id, watch_group, hostname, way, url, format, ...alert }) => ({
      id,
      of: hostname ?? names.get(watch_group ?? '') ?? '',
      is_group: watch_group !== null,
      way,
      host: url === null ? null : hostOf(url),
      format,
      made_at: isoTime(alert.made_at),
      paused_at: isoOrNull(alert.paused_at),
      off_at: isoOrNull(alert.off_at),
      off_reason: alert.off_reason,
      failing_since: isoOrNull(alert.failing_since),
    }));
  };
  const sendList = (c: RecordsContext, { account }: SignedIn, result: Partial<ListView> = {}) => {
    const asked = c.req.query('group') ?? '';
    return sendAccountPage(pages, c, ['/account/alerts', 'Alerts', result.problem == null ? 200 : 400], {
      alerts: rowsOf(account.id, changeAlerts.list(account.id)),
      groups: watchGroups.list(account.id).map(({ id, name }) => ({ id, name })),
      problem: null,
      given: { group: asked, hostname: '', way: 'instant', url: '', format: '', routing_key: '' },
      ...result,
    });
  };
  const sendAlert = (c: RecordsContext, alert: Alert, result: Partial<AlertView> = {}, status: 200 | 201 = 200) => {
    const [row] = rowsOf(alert.account, [alert]) as [AlertRow];
    const isWebhook = alert.way === 'webhook';
    return sendAccountPage(pages, c, ['/account/alert', 'Alert', status], {
      alert: { ...row, url: alert.url },
      secret: null,
      deliveries: isWebhook ? changeAlerts.deliveries(alert.id, LOG).map(alertDeliveryRow) : [],
      mails: isWebhook
        ? []
        : accountMails
            .ofAccount(alert.account)
            .filter(({ kind }) => MAIL_KINDS.has(kind))
            .slice(-MAILS)
            .reverse()
            .map(accountMailRow),
      ...result,
    });
  };
  const alertOf = (c: RecordsContext, { account }: SignedIn) =>
    requireAlert(changeAlerts, account.id, c.req.param('id') ?? '');
  const nameOf = (alert: Alert) => {
    const [row] = rowsOf(alert.account, [alert]) as [AlertRow];
    return row.is_group ? `the group “${row.of}”` : row.of;
  };
  const pathOf = ({ id }: { id: string }) => `/account/alerts/${id}`;

  return {
    list: signedInPage((c, signed) => sendList(c, signed)),
    create: signedInForm(settings, (c, signed, form) => {
      const given = {
        group: form.text('group'),
        hostname: form.text('hostname'),
        way: form.text('way'),
        url: form.text('url'),
        format: form.text('format'),
        routing_key: form.text('routing_key').trim(),
      };
      try {
        const wish = {
          ...given,
          way: form.oneOf('way', ALERT_WAYS),
          format: given.format === '' ? ('' as const) : form.oneOf('format', ALERT_FORMATS),
        };
        const { id, secret } = makeAlert(store.records, signed.account.id, wish, {
          now: clock.now(),
          newId,
          allowsPrivate: settings.webhookPrivate,
          requireHost: (text) => requireWatched(app, text),
        });
        const alert = requireAlert(changeAlerts, signed.account.id, id);
        const undo = { action: `${pathOf(alert)}/remove`, label: 'Remove it', fields: {} };
        if (secret !== null && alert.format !== 'standard') {
          const text = `Changes of ${nameOf(alert)} go to ${hostOf(alert.url ?? '')} from now on, as messages for ${FORMAT_NAMES[alert.format]}. Send a test to see that they arrive.`;
          return answered(c, signed, pathOf(alert), answer(text, undo));
        }
        if (secret !== null) {
          setHeader(c, 'Location', pathOf(alert));
          const text = `Changes of ${nameOf(alert)} go to ${hostOf(alert.url ?? '')} from now on. Send a test to see that they arrive.`;
          return sendAlert(c, alert, { secret, answer: answer(text, undo) }, 201);
        }
        const when = alert.way === 'daily' ? 'once a day' : 'as they happen';
        const text = `Changes of ${nameOf(alert)} are mailed to ${signed.account.email} from now on, ${when}.`;
        return answered(c, signed, '/account/alerts', answer(text, undo));
      } catch (error) {
        return sendList(c, signed, { problem: problemAt(error), given });
      }
    }),
    show: signedInPage((c, signed) => sendAlert(c, alertOf(c, signed))),
    test: signedInForm(settings, (c, signed) => {
      const alert = alertOf(c, signed);
      try {
        queueAlertTest(store.records, alert, { now: clock.now(), newId, root: settings.dataOrigin });
      } catch (error) {
        return answered(c, signed, pathOf(alert), answer(problemOf(error), null, 'warn'));
      }
      const text =
        alert.url === null
          ? `A test is on its way to ${signed.account.email}.`
          : `A test is on its way to ${hostOf(alert.url)}. Its outcome is in the log below; reload the page to see it.`;
      return answered(c, signed, pathOf(alert), answer(text));
    }),
    switchOn: signedInForm(settings, (c, signed) => {
      const alert = alertOf(c, signed);
      changeAlerts.switchOn(signed.account.id, alert.id, clock.now());
      const text = `The alert of ${nameOf(alert)} is on again. Changes of the time in between are not sent.`;
      const undo = { action: `${pathOf(alert)}/pause`, label: 'Pause it', fields: {} };
      return answered(c, signed, pathOf(alert), answer(text, undo));
    }),
    pause: signedInForm(settings, (c, signed) => {
      const alert = alertOf(c, signed);
      changeAlerts.pause(signed.account.id, alert.id, clock.now());
      const text = `The alert of ${nameOf(alert)} is paused: changes from now on are not sent, later neither. What was queued before still is.`;
      const undo = { action: `${pathOf(alert)}/on`, label: 'Switch it on again', fields: {} };
      return answered(c, signed, pathOf(alert), answer(text, undo));
    }),
    renewSecret: signedInForm(settings, (c, signed) => {
      const { id } = alertOf(c, signed);
      const secret = renewSecret(changeAlerts, signed.account.id, id);
      const text =
        'The webhook has a new secret. Every request is signed with it from now on, those that wait too; the old one does not come back.';
      return sendAlert(c, requireAlert(changeAlerts, signed.account.id, id), { secret, answer: answer(text) });
    }),
    sendAgain: signedInForm(settings, (c, signed) => {
      const alert = alertOf(c, signed);
      sendAgain(changeAlerts, alert.id, c.req.param('delivery') ?? '', clock.now());
      const text =
        'It is sent again now, with the same bytes and the same webhook-id, so a receiver that had it before can tell. Reload the page to see the outcome.';
      return answered(c, signed, pathOf(alert), answer(text));
    }),
    remove: signedInForm(settings, (c, signed) => {
      const alert = changeAlerts.get(signed.account.id, c.req.param('id') ?? '');
      if (alert === null) return c.redirect('/account/alerts', 303);
      const { watch_group, hostname, way, url, format } = alert;
      const name = nameOf(alert);
      changeAlerts.remove(signed.account.id, alert.id);
      const secret = url === null ? '' : ' Made again, it has a new secret and an empty log.';
      const fields = { group: watch_group ?? '', hostname: hostname ?? '', way, url: url ?? '', format };
      // The integration key of PagerDuty is shown to nobody, so it cannot be in a form.
      const undo = format === 'pagerduty' ? null : { action: '/account/alerts', label: 'Make it again', fields };
      return sendList(c, signed, { answer: answer(`The alert of ${name} is removed.${secret}`, undo) });
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
