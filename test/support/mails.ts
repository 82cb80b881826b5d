import { join } from 'node:path';
import { readerMails } from '../../src/desk/jobs/paper-mails.ts';
import type { MailRecord } from '../../src/desk/readers/mail.ts';
import type { AppContext } from '../../src/server/context.ts';
import { outboxFolder } from '../../src/shared/files/outbox.ts';
import type { RenderMail } from '../../src/shared/outbound/letter.ts';
import type { Mailer } from '../../src/shared/outbound/mail.ts';
import {
  type FailureSide,
  type FailureWords,
  MailSender,
  MailThrottle,
  type MailTransport,
} from '../../src/shared/outbound/mail-sender.ts';

/** Renders a mail's content as JSON, for tests of other things. */
export const plainRender: RenderMail = async (content) =>
  `<!doctype html><p>${JSON.stringify(content).replaceAll('<', '&lt;')}`;

export interface Sending {
  sender: MailSender<MailRecord>;
  /** The failures, in order. */
  failures: { mail: MailRecord; side: FailureSide; words: FailureWords }[];
  gaveUp: MailRecord[];
  /** Sends until nothing is due at the current time. */
  idle(): Promise<void>;
}

/** Sends with a mailer without a rate limit. */
export function transportOf({ store, clock: { now } }: AppContext, mailer: Mailer): MailTransport {
  const throttle = new MailThrottle(null, now());
  return { mailer, throttle, width: 5, now, groupCommit: store.database.groupCommit, mayStart: () => true };
}

/** Sends mails to readers with a mailer. */
export function senderOf(app: AppContext, mailer: Mailer, render: RenderMail = plainRender): Sending {
  const failures: Sending['failures'] = [];
  const gaveUp: MailRecord[] = [];
  const sender = new MailSender(readerMails(app, render), transportOf(app, mailer), {
    sent: () => {},
    failed: (mail, side, words) => failures.push({ mail, side, words }),
    gaveUp: (mail) => gaveUp.push(mail),
    unrecorded: (_, error) => {
      throw error;
    },
  });
  const idle = async () => {
    sender.start();
    await sender.idle();
  };
  return { sender, failures, gaveUp, idle };
}

/** Sends mails to readers to the outbox folder. */
export function outboxSender(app: AppContext): Sending {
  return senderOf(app, outboxOf(app));
}

export function outboxOf({ settings }: AppContext): Mailer {
  return outboxFolder(join(settings.dataDir, 'outbox'));
}
