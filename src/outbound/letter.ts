import type { Mail, MailJob } from './mail.ts';
import type { MailContent } from './mail-content.ts';
import { mailText } from './mail-text.ts';

/** Who mails are from: a paper, or the domain records. */
export interface Sender {
  name: string;
  /** Absolute root address, without a slash at its end. */
  root: string;
  /** Where readers write to; without one, mails come from an address of the host that accepts none. */
  contact?: string | undefined;
}

/** A mail of a template, before it is rendered and addressed. */
export interface Letter {
  from: Sender;
  subject: string;
  headers: Record<string, string>;
  content: MailContent;
}

/** Renders a mail's HTML. */
export type RenderMail = (content: MailContent) => Promise<string>;

/** A letter whose HTML was rendered, as a mail to one address. */
export function mailOf({ id }: MailJob, to: string, { from, subject, headers, content }: Letter, html: string): Mail {
  const { name, root, contact } = from;
  const host = new URL(root).hostname;
  return {
    from: { name, address: contact ?? `no-reply@${host}` },
    ...(contact === undefined ? {} : { replyTo: contact }),
    to,
    messageId: `<${id}@${host}>`,
    subject,
    headers,
    text: mailText(content),
    html,
  };
}

/** No vacation notice is to answer an automatic mail (RFC 3834, section 5). */
export const AUTO_GENERATED = { 'Auto-Submitted': 'auto-generated' };

/** The headers of a mail that a list sends. `list` names the list for good (RFC 2919). */
export function listHeaders(list: string, unsubscribeUrl: string): Record<string, string> {
  return {
    'List-Id': `<${list}>`,
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    // RFC 8058, section 2: a POST of this to the address above unsubscribes, with no page between.
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}
