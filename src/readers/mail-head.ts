import type { Mail, MailRecord } from './mail.ts';

/** The paper that a mail is of. */
export interface MailSource {
  nameplate: string;
  /** Absolute root address of the paper, without a slash at its end. */
  root: string;
  /** Where readers write to; a mail without one comes from an address of the host that takes none. */
  contact?: string | undefined;
}

/** Who a mail is from and to, and the name that it keeps however often it is sent. */
export function mailHead(
  { id }: Pick<MailRecord, 'id'>,
  to: string,
  { nameplate, root, contact }: MailSource,
): Pick<Mail, 'from' | 'replyTo' | 'to' | 'messageId'> {
  const host = mailHost(root);
  return {
    from: { name: nameplate, address: contact ?? `no-reply@${host}` },
    ...(contact === undefined ? {} : { replyTo: contact }),
    to,
    messageId: `<${id}@${host}>`,
  };
}

/** The host of a paper's address, as mail addresses name it. */
export function mailHost(root: string): string {
  return new URL(root).hostname;
}
