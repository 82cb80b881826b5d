import type { Mail, MailJob } from './mail.ts';
import type { MailContent } from './mail-content.ts';
import { mailText } from './mail-text.ts';

/** The sender of a mail: a paper, or the domain records. */
export interface Sender {
  name: string;
  /** Absolute root URL, without a trailing slash. */
  root: string;
  /** The address for replies. Without one, mails come from a no-reply address of the host. */
  contact?: string | undefined;
}

/** A mail with its template, before it is rendered and addressed. */
export interface Letter {
  from: Sender;
  subject: string;
  headers: Record<string, string>;
  content: MailContent;
}

/** Renders a mail's HTML. */
export type RenderMail = (content: MailContent) => Promise<string>;

/** Makes a mail to one address from a letter and its HTML. */
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

/** Prevents vacation replies to an automatic mail (RFC 3834, section 5). */
export const AUTO_GENERATED = { 'Auto-Submitted': 'auto-generated' };

/** The headers of a mailing list. `list` is its permanent name (RFC 2919). */
export function listHeaders(list: string, unsubscribeUrl: string): Record<string, string> {
  return {
    'List-Id': `<${list}>`,
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    // RFC 8058, section 2: a POST of this to the URL above unsubscribes, without a page in between.
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}
