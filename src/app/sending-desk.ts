import { CONNECTIONS } from '../net/smtp.ts';
import type { Render } from '../press/output.ts';
import { end } from '../readers/link.ts';
import type { Mailer } from '../readers/mail.ts';
import type { SendingDesk } from '../readers/mail-sender.ts';
import { MailThrottle } from '../readers/mail-throttle.ts';
import type { AppContext } from './context.ts';
import { MailRoom } from './mail-room.ts';
import { openReaderDesk } from './reader-desk.ts';

/** The rules of sending wired to a workshop. `perMinute` null sends as fast as the mailer takes. */
export function openSendingDesk(
  app: AppContext,
  { mailer, render, perMinute }: { mailer: Mailer; render: Render; perMinute: number | null },
): Omit<SendingDesk, 'mayBegin'> {
  const { now } = app;
  const desk = openReaderDesk(app);
  const room = new MailRoom(app, desk, render);
  return {
    mails: desk.mails,
    mailer,
    throttle: new MailThrottle(perMinute, now()),
    width: CONNECTIONS,
    now,
    compose: (mail) => room.compose(mail),
    noted({ kind, subscriber }) {
      if (kind !== 'confirm') desk.subscribers.told(subscriber, now());
    },
    bounced: (mail) =>
      desk.transact(() => {
        const row = desk.subscribers.byId(mail.subscriber);
        if (row !== null) end(desk, row, 'bounced');
      }),
    groupCommit: app.store.groupCommit,
  };
}
