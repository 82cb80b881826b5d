import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AccountMailRecord } from '../../accounts/account-mail.ts';
import { ASKS_KEPT } from '../../accounts/sign-in.ts';
import { outboxFolder } from '../../files/outbox.ts';
import type { SmtpMailer } from '../../net/smtp.ts';
import { CONNECTIONS } from '../../net/smtp.ts';
import type { SendingNews } from '../../readers/mail-sender.ts';
import { MailSender } from '../../readers/mail-sender.ts';
import { MailThrottle } from '../../readers/mail-throttle.ts';
import { DAY, dayOf } from '../../time.ts';
import { openAccountDesk } from '../account-desk.ts';
import { AccountMailRoom } from '../account-mail-room.ts';
import type { Build } from '../build.ts';
import type { AppContext } from '../context.ts';
import { requestLease } from './lease.ts';
import { hourly, poll } from './poll.ts';

/** How often the job looks for what fell due, in ms. */
const LOOK_EVERY = 250;
/** How long a job that ends waits for a mail server's answers, in ms. */
const DRAIN = 10_000;
/** For how long mails that were settled are kept, in ms; those to sign in for a day. */
const MAILS_KEPT = 35 * DAY;
/** For how long what was counted by day is kept, in ms: clocks may differ by a little. */
const QUOTAS_KEPT = 2 * DAY;

/** What mails are printed and sent with. */
export interface AccountMailTools {
  render: Build['render'];
  /** Null where no mail server is set. */
  smtp: SmtpMailer | null;
}

/**
 * Sends the mails of the domain records, through the readers' own sender. Of
 * several processes over one database one does it at a time. Returns a function
 * that stops it when the mails under way are settled.
 */
export function startAccountMails(
  app: AppContext,
  { render, smtp }: AccountMailTools,
  logger: Logger,
): () => Promise<void> {
  const { settings, store, now } = app;
  const desk = openAccountDesk(app);
  // Where the desk runs as well, it has said so.
  if (smtp === null && !settings.services.desk) {
    logger.warn('SMTP_URL is not set: mails land in the outbox folder of DATA_DIR, and go to nobody');
  }
  const room = new AccountMailRoom(desk, render, settings.dataOrigin);
  // Nobody else sends: what is still claimed was claimed by one who is no more.
  const lease = requestLease(store.leases, 'account-mails', now, (at) => desk.mails.release(at));
  const sender = new MailSender<AccountMailRecord>(
    {
      mails: desk.mails,
      mailer: smtp ?? outboxFolder(join(settings.dataDir, 'outbox')),
      throttle: new MailThrottle(smtp === null ? null : settings.mailsPerMinute, now()),
      width: CONNECTIONS,
      now,
      compose: (mail) => room.compose(mail),
      noted: () => {},
      // The address takes no mail: nothing more goes there until its owner switches it on.
      bounced: (mail) =>
        store.transact(() => {
          desk.mails.fail(mail.id, now(), 'bounced');
          if (mail.account !== null) desk.alerts.mailsOff(mail.account, 'bounced', now());
        }),
      groupCommit: store.groupCommit,
      mayBegin: lease.isHeld,
    },
    newsTo(logger),
  );
  const dropOld = hourly((at) => {
    desk.mails.forget(at - MAILS_KEPT, at - DAY);
    desk.signIns.forget(at - ASKS_KEPT);
    desk.sessions.forget(at);
    store.quotas.forget(dayOf(at - QUOTAS_KEPT));
  });

  const look = (): number => {
    if (!lease.isHeld()) return LOOK_EVERY;
    dropOld(now());
    sender.start();
    return LOOK_EVERY;
  };
  const stop = poll(look, {
    job: 'mails of accounts',
    logger,
    failed: 'mails of accounts stand still; they are looked after again',
  });
  return async () => {
    await stop();
    const patience = setTimeout(() => smtp?.breakOff(), DRAIN);
    await sender.stop();
    clearTimeout(patience);
    lease.release();
    smtp?.close();
  };
}

function newsTo(logger: Logger): SendingNews<AccountMailRecord> {
  return {
    sent: ({ id, kind }) => logger.debug({ mail: id, kind }, 'sent a mail of the records'),
    failed({ id, kind, attempts }, side, words) {
      const about = { mail: id, kind, attempts, ...words };
      if (side === 'reader') logger.warn(about, 'an address takes no mail: no more alerts go to it');
      else if (side !== 'server') logger.warn(about, 'a mail was not taken; it is tried again');
      else logger.error(about, 'the mail server takes no mails; all wait, and are tried again');
    },
    gaveUp: ({ id, kind }) => logger.error({ mail: id, kind }, 'a mail was given up'),
    unnoted: ({ id }, error) => logger.error({ mail: id, err: error }, 'a mail could not be noted; it is sent again'),
  };
}
