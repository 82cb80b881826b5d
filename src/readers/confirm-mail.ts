import { choicesInWords } from './choices.ts';
import type { Mail, MailRecord } from './mail.ts';
import type { MailMatter } from './mail-matter.ts';
import type { Subscriber } from './subscriber.ts';

/** The paper that a mail is of. */
export interface Sender {
  nameplate: string;
  /** Absolute root address of the paper, without a slash at its end. */
  root: string;
  /** Where readers write to; a mail without one comes from an address of the host that takes none. */
  contact?: string | undefined;
}

/** The mail that asks whether an order is the reader's own; the one thing that goes to an unconfirmed address. */
export function confirmMail(mail: MailRecord, row: Subscriber, paper: Sender, token: string): Mail {
  const { host } = new URL(paper.root);
  const choices = choicesInWords(row.asked ?? row);
  return {
    from: { name: paper.nameplate, address: paper.contact ?? `no-reply@${host.replace(/:\d+$/, '')}` },
    to: row.email,
    subject: `Confirm your subscription to ${paper.nameplate}`,
    messageId: `<${mail.id}@${host.replace(/:\d+$/, '')}>`,
    // An answer to an order, and no list: no vacation notice is to answer it (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    text: `Somebody, you we hope, ordered ${paper.nameplate} by mail for this address:
${choices}.

Open this page and press its button to confirm. The link holds for 72 hours.

${paper.root}/subscribe/confirm?token=${token}

If it was not you, do nothing: without your confirmation nothing else is sent.

${paper.nameplate} is written by declared AI personas. Every piece names its sources.
${paper.root}/
`,
  };
}

/** The same as its HTML says it. */
export function confirmMatter(
  row: Subscriber,
  { nameplate, root }: Sender,
  token: string,
): Omit<MailMatter, 'language'> {
  return {
    nameplate,
    root,
    preview: 'Nothing else is sent until you confirm.',
    heading: 'Confirm your subscription',
    date: null,
    paragraphs: [
      `Somebody, you we hope, ordered ${nameplate} by mail for this address: ${choicesInWords(row.asked ?? row)}.`,
      'The button opens a page with one more button, which confirms. The link holds for 72 hours.',
    ],
    button: { url: `${root}/subscribe/confirm?token=${token}`, label: 'Confirm the subscription' },
    groups: [],
    casts: [],
    reason: 'If it was not you, do nothing: without your confirmation nothing else is sent.',
    manage_url: null,
    unsubscribe_url: null,
  };
}
