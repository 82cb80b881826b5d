import { CONNECTIONS } from '../net/smtp.ts';
import { mailColors } from '../press/mail-colors.ts';
import type { Render } from '../press/output.ts';
import type { Mail, Mailer } from '../readers/mail.ts';
import type { SendingDesk } from '../readers/mail-sender.ts';
import type { MailThrottle } from '../readers/mail-throttle.ts';
import type { NoticeRecord } from '../readers/notice.ts';
import { NOTICE_GATHERS, noticeContent, noticed, noticeMail } from '../readers/notice.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';
import { mailPaper, mailRoot } from './mail-room.ts';

/** Queues the notice that a paper's webhook was switched off at a time (ms); part of the caller's transaction. */
export function queueNotices({ store }: AppContext, paper: string, at: number): void {
  const keys = store.keys.list(paper).filter((key) => !store.keys.hasExpired(key, at));
  for (const email of noticed(keys, store.paper(paper)?.contact)) {
    store.notices.queue({ id: newId(), paper, email, since: at, due_at: at + NOTICE_GATHERS });
  }
}

/** The rules of sending wired to a workshop's notices; they share the readers' throttle. */
export function openNoticeSending(
  app: AppContext,
  { mailer, render, throttle }: { mailer: Mailer; render: Render; throttle: MailThrottle },
): Omit<SendingDesk<NoticeRecord>, 'mayBegin'> {
  const { store, settings, now } = app;
  return {
    mails: store.notices,
    mailer,
    throttle,
    width: CONNECTIONS,
    now,
    /** Null when all of it is on again, or was taken away. */
    async compose(notice): Promise<Mail | null> {
      const paper = store.paper(notice.paper);
      const off = store.webhooks.offSince(notice.paper, notice.since);
      if (paper === null || off.length === 0) return null;
      const sender = { ...paper, root: mailRoot(paper, settings.origin) };
      const matter = { ...noticeContent(off, sender), ...mailPaper(paper, settings.origin) };
      const html = await render('/paper/mail', { ...matter, colors: mailColors(paper.hue) });
      return noticeMail(notice, sender, matter, html);
    },
    noted() {},
    bounced: ({ id }) => store.notices.fail(id, now(), 'bounced'),
    groupCommit: store.groupCommit,
  };
}
