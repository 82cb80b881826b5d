import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AppContext } from '../../server/context.ts';
import { outboxFolder } from '../files/outbox.ts';
import { CONNECTIONS, type SmtpMailer } from '../net/smtp.ts';
import { requestLease } from '../workers/lease.ts';
import { measurements } from '../workers/measurements.ts';
import { BATCH_PAUSE, hourly, POLL_EVERY, poll } from '../workers/poll.ts';
import type { MailJob } from './mail.ts';
import { type MailEvents, MailSender, type MailSource, MailThrottle } from './mail-sender.ts';

/** How long a stopping job waits for responses of the mail server, in ms. */
const DRAIN = 10_000;

/** The fields of a mail that are logged. */
interface LoggedMail extends MailJob {
  kind: string;
  paper?: string;
}

/** The mails of one service. */
export interface MailService {
  /** The name of the job, and of the lease that its process holds. */
  job: string;
  /** The queues from which it sends. `onBounce` is the log message for an address that does not accept mail. */
  sources: { source: MailSource<LoggedMail>; onBounce: string }[];
  /** Queues the next batch of due mails. Returns false when none are due. */
  queueNext(): boolean;
  /** Deletes old rows; `at` is the current time, in ms. */
  cleanUp(at: number): void;
}

/**
 * Queues and sends the mails of a service, in one process per database; without `smtp` to the outbox folder. Returns a
 * function that stops it after the mails in flight.
 */
export function startMails(
  app: AppContext,
  { job, sources, queueNext, cleanUp }: MailService,
  smtp: SmtpMailer | null,
  logger: Logger,
): () => Promise<void> {
  const { settings, store } = app;
  const { now } = app.clock;
  // No other process sends mail, so any remaining lease belongs to a process that died.
  const lease = requestLease(store.database.leases, job, now, (at) => {
    for (const { source } of sources) source.queue.release(at);
  });
  const transport = {
    mailer: smtp ?? outboxFolder(join(settings.dataDir, 'outbox')),
    throttle: new MailThrottle(smtp === null ? null : settings.mailsPerMinute, now()),
    width: CONNECTIONS,
    now,
    // A mail whose outcome is not recorded is sent again.
    groupCommit: <T>(work: () => T) => store.database.groupCommit(work, Number.POSITIVE_INFINITY),
    mayStart: lease.isHeld,
  };
  const senders = sources.map(
    ({ source, onBounce }) => new MailSender(source, transport, mailLog(logger, job, onBounce)),
  );
  const sweep = hourly(app, cleanUp);

  const round = (): number => {
    if (!lease.isHeld()) return POLL_EVERY;
    sweep(now());
    const isMore = queueNext();
    for (const sender of senders) sender.start();
    return isMore ? BATCH_PAUSE : POLL_EVERY;
  };
  const stop = poll(round, { job, logger, failed: 'the job failed; it is retried' });
  return async () => {
    await stop();
    const patience = setTimeout(() => smtp?.breakOff(), DRAIN);
    await Promise.all(senders.map((sender) => sender.stop()));
    clearTimeout(patience);
    lease.release();
    smtp?.close();
  };
}

/** The names of failures in the metrics. */
const FAILURES = { reader: 'bounced', mail: 'postponed', refused: 'refused', server: 'server_failed' } as const;

function mailLog(logger: Logger, job: string, onBounce: string): MailEvents<LoggedMail> {
  const about = ({ id, paper, kind }: LoggedMail) => ({ job, mail: id, paper, kind });
  return {
    sent(mail) {
      measurements.emit('mail', { queue: job, outcome: 'sent' });
      logger.debug(about(mail), 'sent a mail');
    },
    failed(mail, side, words) {
      measurements.emit('mail', { queue: job, outcome: FAILURES[side] });
      const fields = { ...about(mail), attempts: mail.attempts, ...words };
      if (side === 'reader') logger.warn(fields, onBounce);
      else if (side !== 'server') logger.warn(fields, 'a mail was not accepted; it is retried');
      else logger.error(fields, 'the mail server accepts no mail; every mail waits and is retried');
    },
    gaveUp(mail) {
      measurements.emit('mail', { queue: job, outcome: 'given_up' });
      logger.error(about(mail), 'gave up on a mail');
    },
    unrecorded: (mail, error) =>
      logger.error({ ...about(mail), err: error }, 'a mail’s outcome could not be recorded; it is sent again'),
  };
}
