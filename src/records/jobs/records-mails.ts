import { DAY, dayOf, isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { linkToken } from '../../shared/access-key.ts';
import { linkKey } from '../../shared/files/data-folder.ts';
import { mailOf, type RenderMail } from '../../shared/outbound/letter.ts';
import type { MailService } from '../../shared/outbound/mail-job.ts';
import type { MailSource } from '../../shared/outbound/mail-sender.ts';
import {
  type AccountMailRecord,
  changeMail,
  fromRecords,
  ownershipMail,
  type RecordsLetter,
  signInMail,
  testMail,
} from '../accounts/account-mail.ts';
import { MISSING_FOR } from '../accounts/owner.ts';
import { planMail } from '../accounts/plan-mail.ts';
import { SIGN_INS_KEPT } from '../accounts/sign-in.ts';
import { eventLine } from '../expectations.ts';
import { freeLimits, queuePlanMails } from '../plans.ts';
import { changeLine } from '../wire-rows.ts';

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
    queueNext() {
      queuePlanMails(app);
      return false;
    },
    cleanUp(at) {
      store.records.accountMails.forget(at - MAILS_KEPT, at - DAY);
      store.records.signIns.forget(at - SIGN_INS_KEPT);
      store.records.sessions.forget(at);
      store.records.quotas.forget(dayOf(at - QUOTAS_KEPT));
    },
  };
}

function accountMails(
  { store, settings, clock: { now } }: AppContext,
  render: RenderMail,
): MailSource<AccountMailRecord> {
  const root = settings.dataOrigin;
  const secret = linkKey(settings, 'accounts');

  /** Returns null when the link was used or has expired. */
  const signIn = ({ id, email }: AccountMailRecord): RecordsLetter | null => {
    const request = store.records.signIns.byId(id);
    if (request === null || request.used_at !== null || request.expires_at <= now()) return null;
    return signInMail(root, email, linkToken(secret, 'sign-in', id));
  };
  /** Returns null when the account has no mail alert left, or when every host has opted out since. */
  const changes = ({ id, account: holder }: AccountMailRecord, kind: 'changes' | 'digest'): RecordsLetter | null => {
    const account = holder ?? '';
    const isWanted = store.records.changeAlerts
      .list(account)
      .some(({ way, off_at }) => way !== 'webhook' && off_at === null);
    const deltas = store.records.changeQueue.changesIn(id);
    const events = store.records.expectations.eventsIn(id);
    if (!isWanted || deltas.length + events.length === 0) return null;
    const token = linkToken(secret, 'unsubscribe', account);
    const rows = [
      ...events.map((event) => ({
        hostname: event.hostname,
        line: eventLine(event),
        at: isoTime(event.at),
        kind: event.kind,
      })),
      ...deltas.map((delta) => ({ hostname: delta.domain, line: changeLine(delta), at: isoTime(delta.at) })),
    ];
    return changeMail(kind, rows, {
      root,
      unsubscribe: `${root}/account/unsubscribe?account=${account}&token=${token}`,
    });
  };

  /** Returns null when the account has no mail alert left. */
  const test = ({ account: holder }: AccountMailRecord): RecordsLetter | null => {
    const account = holder ?? '';
    const names = new Map(store.records.watchGroups.list(account).map(({ id, name }) => [id, name]));
    const covered = store.records.changeAlerts
      .list(account)
      .filter(({ way }) => way !== 'webhook')
      .map(({ hostname, watch_group }) => hostname ?? `the group ${names.get(watch_group ?? '') ?? ''}`);
    return covered.length === 0 ? null : testMail(root, [...new Set(covered)]);
  };
  /**
   * Returns null when the account was deleted, and for the reminder of an end that has passed or of a plan that was
   * renewed.
   */
  const plan = ({ id, account: holder }: AccountMailRecord): RecordsLetter | null => {
    const about = store.records.plans.ofMail(id);
    const account = store.records.accounts.find(holder ?? '');
    if (about === null || account === null) return null;
    const { kind, paid } = about;
    const isOver = paid.ends_at <= now() || store.records.plans.last(account.id)?.id !== paid.id;
    if (kind !== 'receipt' && isOver) return null;
    return planMail(root, kind, paid, freeLimits(settings, account.plan));
  };
  /** Returns null when the proof was found again, given up or restarted before the mail was sent. */
  const ownership = ({ id }: AccountMailRecord): RecordsLetter | null => {
    const happened = store.records.owners.eventOfMail(id);
    const proof = happened && store.records.owners.get(happened.account, happened.name);
    if (!happened || !proof) return null;
    const { event, name } = happened;
    if (event === 'missing') {
      if (proof.missing_at === null) return null;
      const ends_at = `${isoTime(proof.missing_at + MISSING_FOR)
        .slice(0, 16)
        .replace('T', ' ')} UTC`;
      return ownershipMail(root, name, { event, ends_at });
    }
    if (event === 'revoked' && proof.revoked_for !== null) {
      return ownershipMail(root, name, { event, reason: proof.revoked_for });
    }
    return event === 'ended' && proof.proven_at === null ? ownershipMail(root, name, { event }) : null;
  };
  const written = (mail: AccountMailRecord): RecordsLetter | null => {
    if (mail.kind === 'sign-in') return signIn(mail);
    if (mail.kind === 'plan') return plan(mail);
    if (mail.kind === 'ownership') return ownership(mail);
    return mail.kind === 'test' ? test(mail) : changes(mail, mail.kind);
  };

  return {
    queue: store.records.accountMails,
    async compose(mail) {
      const content = written(mail);
      if (content === null) return null;
      const letter = fromRecords(root, content);
      return mailOf(mail, mail.email, letter, await render(letter.content));
    },
    // Switches the address's mail alerts off until its owner switches them on again.
    bounced: ({ id, account }) =>
      store.database.transact(() => {
        store.records.accountMails.fail(id, now(), 'bounced');
        if (account !== null) store.records.changeAlerts.mailsOff(account, 'bounced', now());
      }),
  };
}
