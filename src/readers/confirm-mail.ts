import { choicesInWords } from './choices.ts';
import type { Mail, MailRecord } from './mail.ts';
import type { MailContent } from './mail-content.ts';
import { mailText } from './mail-content.ts';
import type { MailSource } from './mail-head.ts';
import { mailHead } from './mail-head.ts';
import type { Subscriber } from './subscriber.ts';

/** The mail that asks whether an order is the reader's own; the one thing that goes to an unconfirmed address. */
export function confirmMail(mail: MailRecord, to: string, paper: MailSource, matter: MailContent, html: string): Mail {
  return {
    ...mailHead(mail, to, paper),
    subject: `Confirm your subscription to ${paper.nameplate}`,
    // An answer to an order, and no list: no vacation notice is to answer it (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    text: mailText(matter),
    html,
  };
}

/** What that mail says. */
export function confirmContent(
  row: Subscriber,
  { nameplate, root }: MailSource,
  token: string,
): Omit<MailContent, 'language' | 'home_url'> {
  return {
    nameplate,
    preview: 'Nothing else is sent until you confirm.',
    heading: 'Confirm your subscription',
    date: null,
    paragraphs: [
      `Somebody, you we hope, ordered ${nameplate} by mail for this address: ${choicesInWords(row.asked ?? row)}.`,
      'The link opens a page with one button, which confirms. It holds for 72 hours.',
    ],
    button: { url: `${root}/subscribe/confirm?token=${token}`, label: 'Confirm the subscription' },
    groups: [],
    casts: [],
    reason: 'If it was not you, do nothing: without your confirmation nothing else is sent.',
    manage_url: null,
    unsubscribe_url: null,
  };
}
