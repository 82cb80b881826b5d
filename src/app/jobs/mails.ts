import { join } from 'node:path';
import type { Logger } from 'pino';
import { outboxFolder } from '../../files/outbox.ts';
import type { SmtpMailer } from '../../net/smtp.ts';
import type { Render } from '../../press/output.ts';
import { queueAlerts } from '../../readers/alert-queue.ts';
import { DigestQueue } from '../../readers/digest-queue.ts';
import type { MailRecord } from '../../readers/mail.ts';
import type { SendingNews } from '../../readers/mail-sender.ts';
import { MailSender } from '../../readers/mail-sender.ts';
import type { NoticeRecord } from '../../readers/notice.ts';
import { sweep } from '../../readers/order.ts';
import { DAY } from '../../time.ts';
import { openAlertDesk } from '../alert-desk.ts';
import type { AppContext } from '../context.ts';
import { digestTimes } from '../digest-times.ts';
import { openNoticeSending } from '../notice-desk.ts';
import { openReaderDesk } from '../reader-desk.ts';
import { openSendingDesk } from '../sending-desk.ts';
import { requestLease } from './lease.ts';
import { hourly, poll } from './poll.ts';

/** How often the job looks for what happened and for what fell due, in ms. */
const LOOK_EVERY = 250;
/** How long the job rests between two batches of readers, in ms: who asks the server is answered meanwhile. */
const BREATH = 2;
/** How long a job that ends waits for a mail server's answers, in ms. */
const DRAIN = 10_000;
/** For how long mails that were settled are kept, in ms. */
const MAILS_KEPT = 35 * DAY;

/** What mails are printed and sent with. */
export interface MailTools {
  render: Render;
  /** Null where no mail server is set. */
  smtp: SmtpMailer | null;
}

/**
 * Tells readers by mail, and those who run a paper: queues what happened and the
 * digests that are due, and sends. Of several processes over one database one does it at a time. Returns a
 * function that stops it when the mails under way are settled.
 */
export function startMails(app: AppContext, { render, smtp }: MailTools, logger: Logger): () => Promise<void> {
  const { settings, store, now } = app;
  if (smtp === null) logger.warn('SMTP_URL is not set: mails land in the outbox folder of DATA_DIR, and go to nobody');
  const mailer = smtp ?? outboxFolder(join(settings.dataDir, 'outbox'));
  const perMinute = smtp === null ? null : settings.mailsPerMinute;
  const desk = openReaderDesk(app);
  const alerts = openAlertDesk(app);
  const digests = new DigestQueue(alerts, digestTimes());

  // Nobody else sends: what is still claimed was claimed by one who is no more.
  const lease = requestLease(store.leases, 'mails', now, (at) => {
    store.readers.mails.release(at);
    store.notices.release(at);
  });
  const sending = { ...openSendingDesk(app, { mailer, render, perMinute }), mayBegin: lease.isHeld };
  const news = newsTo(logger);
  const sender = new MailSender(sending, news);
  const { throttle } = sending;
  const notices = new MailSender<NoticeRecord>(
    { ...openNoticeSending(app, { mailer, render, throttle }), mayBegin: lease.isHeld },
    news,
  );

  const dropOld = hourly((at) => {
    store.alerts.forget(at - MAILS_KEPT);
    store.notices.forget(at - MAILS_KEPT);
    desk.transact(() => sweep(desk, at));
  });

  const look = (): number => {
    if (!lease.isHeld()) return LOOK_EVERY;
    dropOld(now());
    const queued = queueAlerts(alerts) !== null || digests.next();
    sender.start();
    notices.start();
    return queued ? BREATH : LOOK_EVERY;
  };
  const stop = poll(look, { job: 'mails', logger, failed: 'mails stand still; they are looked after again' });
  return async () => {
    await stop();
    const patience = setTimeout(() => smtp?.breakOff(), DRAIN);
    await Promise.all([sender.stop(), notices.stop()]);
    clearTimeout(patience);
    lease.release();
    smtp?.close();
  };
}

function newsTo(logger: Logger): SendingNews<MailRecord | NoticeRecord> {
  return {
    sent: ({ id, paper, kind }) => logger.debug({ mail: id, paper, kind }, 'sent a mail'),
    failed({ id, paper, kind, attempts }, side, words) {
      const about = { mail: id, paper, kind, attempts, ...words };
      if (side === 'reader' && kind === 'notice') logger.warn(about, 'an address takes no mail: see whose seat it is');
      else if (side === 'reader') logger.warn(about, 'an address takes no mail: it is written to no more');
      else if (side !== 'server') logger.warn(about, 'a mail was not taken; it is tried again');
      else logger.error(about, 'the mail server takes no mails; all wait, and are tried again');
    },
    gaveUp: ({ id, paper, kind }) => logger.error({ mail: id, paper, kind }, 'a mail was given up'),
    unnoted: ({ id }, error) => logger.error({ mail: id, err: error }, 'a mail could not be noted; it is sent again'),
  };
}
