import { join } from 'node:path';
import type { AppContext } from '../../src/app/context.ts';
import { openSendingDesk } from '../../src/app/sending-desk.ts';
import { outboxFolder } from '../../src/files/outbox.ts';
import type { Render } from '../../src/press/output.ts';
import type { Mailer, MailRecord } from '../../src/readers/mail.ts';
import type { FailureSide, FailureWords } from '../../src/readers/mail-failure.ts';
import type { SendingDesk } from '../../src/readers/mail-sender.ts';
import { MailSender } from '../../src/readers/mail-sender.ts';

/** A page that says what it was given: for tests that look at something else. */
export const plainRender: Render = async (_, view) =>
  `<!doctype html><p>${JSON.stringify(view).replaceAll('<', '&lt;')}`;

export interface Sending {
  sender: MailSender;
  /** What failed, in order. */
  failures: { mail: MailRecord; side: FailureSide; words: FailureWords }[];
  gaveUp: MailRecord[];
  /** Sends until nothing is due at the present time. */
  idle(): Promise<void>;
}

/** Sends a workshop's mails with a mailer. */
export function senderOf(
  app: AppContext,
  mailer: Mailer,
  more: Partial<SendingDesk> & { render?: Render } = {},
): Sending {
  const { render = plainRender, ...rest } = more;
  const failures: Sending['failures'] = [];
  const gaveUp: MailRecord[] = [];
  const desk: SendingDesk = {
    ...openSendingDesk(app, { mailer, render, perMinute: null }),
    mayBegin: () => true,
    ...rest,
  };
  const sender = new MailSender(desk, {
    sent: () => {},
    failed: (mail, side, words) => failures.push({ mail, side, words }),
    gaveUp: (mail) => gaveUp.push(mail),
    unnoted: (_, error) => {
      throw error;
    },
  });
  const idle = async () => {
    sender.start();
    await sender.idle();
  };
  return { sender, failures, gaveUp, idle };
}

/** Sends a workshop's mails into its outbox folder. */
export function outboxSender(app: AppContext): Sending {
  return senderOf(app, outboxOf(app));
}

export function outboxOf({ settings }: AppContext): Mailer {
  return outboxFolder(join(settings.dataDir, 'outbox'));
}
