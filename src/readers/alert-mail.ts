import type { Mail, MailRecord } from './mail.ts';
import type { MailContent } from './mail-content.ts';
import { mailText } from './mail-content.ts';
import type { MailSource } from './mail-head.ts';
import { mailHead, mailHost } from './mail-head.ts';

/** An alert or a digest, ready to be sent. */
export function alertMail(
  mail: MailRecord,
  to: string,
  paper: MailSource & { slug: string },
  matter: MailContent,
  html: string,
): Mail {
  return {
    ...mailHead(mail, to, paper),
    subject: subjectOf(matter),
    text: mailText(matter),
    html,
    headers: {
      // RFC 2919: a name of the list that stays.
      'List-Id': `<${paper.slug}.${mailHost(paper.root)}>`,
      ...(matter.unsubscribe_url === null
        ? {}
        : {
            'List-Unsubscribe': `<${matter.unsubscribe_url}>`,
            // RFC 8058, section 2: a POST of this to the address above ends it, with no page between.
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
      // RFC 3834, section 5: no vacation notice is to answer it.
      'Auto-Submitted': 'auto-generated',
    },
  };
}

/** The headline of the first piece, or the title of the video edition; and how many more there are. */
export function subjectOf({ groups, casts, nameplate }: Pick<MailContent, 'groups' | 'casts' | 'nameplate'>): string {
  const titles = [
    ...groups.flatMap(({ stories }) => stories.map(({ headline }) => headline)),
    ...casts.map(({ title }) => title),
  ];
  const [first = nameplate] = titles;
  const line = first.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return titles.length < 2 ? line : `${line}, and ${titles.length - 1} more`;
}
