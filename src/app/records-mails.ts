import type { AccountMailRecord, RecordsLetter } from '../accounts/account-mail.ts';
import { changeMail, fromRecords, mailedToken, signInMail } from '../accounts/account-mail.ts';
import { SIGN_INS_KEPT } from '../accounts/sign-in.ts';
import { mailOf, type RenderMail } from '../outbound/letter.ts';
import type { MailSource } from '../outbound/mail-sender.ts';
import { changeLine } from '../records/wire-rows.ts';
import { DAY, dayOf, isoTime } from '../time.ts';
import type { AppContext } from './context.ts';
import { linkKey } from './context.ts';
import type { MailService } from './jobs/mails.ts';

/** Retention of settled mails, in ms; sign-in mails are retained for a day. */
const MAILS_KEPT = 35 * DAY;
/** Retention of daily counts, in ms. The extra day allows for small differences between clocks. */
const QUOTAS_KEPT = 2 * DAY;

/** The mails of the domain records to accounts. */
export function recordsMails(app: AppContext, render: RenderMail): MailService {
  const { store } = app;
  return {
    job: 'account-mails',
    sources: [
      { source: accountMails(app, render), onBounce: 'the address does not accept mail; its alerts are switched off' },
    ],
    queueNext: () => false,
    cleanUp(at) {
      store.accountMails.forget(at - MAILS_KEPT, at - DAY);
      store.signIns.forget(at - SIGN_INS_KEPT);
      store.sessions.forget(at);
      store.quotas.forget(dayOf(at - QUOTAS_KEPT));
    },
  };
}

function accountMails({ store, settings, now }: AppContext, render: RenderMail): MailSource<AccountMailRecord> {
  const root = settings.dataOrigin;
  const secret = linkKey(settings, 'accounts');

  /** Returns null when the link was used or has expired. */
  const signIn = ({ id, email }: AccountMailRecord): RecordsLetter | null => {
    const request = store.signIns.byId(id);
    if (request === null || request.used_at !== null || request.expires_at <= now()) return null;
    return signInMail(root, email, mailedToken(secret, 'sign-in', id));
  };
  /** Returns null when the account has no mail alert left, or when every host has opted out since. */
  const changes = ({ id, account: holder }: AccountMailRecord, kind: 'changes' | 'digest'): RecordsLetter | null => {
    const account = holder ?? '';
    const isWanted = store.changeAlerts.list(account).some(({ way, off_at }) => way !== 'webhook' && off_at === null);
    const deltas = store.changeQueue.changesIn(id);
    if (!isWanted || deltas.length === 0) return null;
    const token = mailedToken(secret, 'unsubscribe', account);
    const rows = deltas.map((delta) => ({
      hostname: delta.domain,
      line: changeLine(delta),
      at: isoTime(delta.at),
    }));
    return changeMail(kind, rows, {
      root,
      unsubscribe: `${root}/account/unsubscribe?account=${account}&token=${token}`,
    });
  };

  return {
    queue: store.accountMails,
    async compose(mail) {
      const written = mail.kind === 'sign-in' ? signIn(mail) : changes(mail, mail.kind);
      if (written === null) return null;
      const letter = fromRecords(root, written);
      return mailOf(mail, mail.email, letter, await render(letter.content));
    },
    // Sends nothing more to the address until its owner switches the alerts on again.
    bounced: ({ id, account }) =>
      store.transact(() => {
        store.accountMails.fail(id, now(), 'bounced');
        if (account !== null) store.changeAlerts.mailsOff(account, 'bounced', now());
      }),
  };
}
