import { MINUTE } from '../time.ts';
import type { Mail, MailProgress, MailQueue } from './mail.ts';
import type { MailContent } from './mail-content.ts';
import { mailText } from './mail-content.ts';
import type { MailSource } from './mail-head.ts';
import { mailHead } from './mail-head.ts';
import type { OffReason, WebhookOff } from './webhook-table.ts';

/** How long a notice waits for more of its kind, in ms: receivers that go down together make one mail. */
export const NOTICE_GATHERS = MINUTE;

/** A mail to somebody who runs a paper: webhooks were switched off. Times in ms. */
export interface Notice {
  /** A lower-case ULID; the Message-ID is made of it. */
  id: string;
  paper: string;
  email: string;
  /** It tells of what was switched off from then on. */
  since: number;
  due_at: number;
}

export interface NoticeRecord extends Notice, MailProgress {
  kind: 'notice';
}

export interface NoticeTable extends MailQueue<NoticeRecord> {
  /** Queues one; where one for the same person waits that nobody has begun to send, that one tells it all. */
  queue(notice: Notice): void;
  /** Drops those that were settled at or before a time. */
  forget(until: number): void;
}

/** Who hears of what goes wrong: the people with an admin seat; where there is none, the paper's contact. */
export function noticed(
  seats: readonly { level: string; seat: string | null; revoked_at: number | null }[],
  contact: string | undefined,
): string[] {
  const admins = seats.flatMap(({ level, seat, revoked_at }) =>
    level === 'admin' && seat !== null && revoked_at === null ? [seat] : [],
  );
  return admins.length > 0 || contact === undefined ? [...new Set(admins)] : [contact];
}

const WHY: Record<OffReason, string> = {
  gone: 'it answered 410, which says that it wants no more',
  failing: 'it took nothing for a whole schedule of retries, which is three days',
};

/** What a notice says. Of a receiver it names the host alone: its address may hold a secret. */
export function noticeContent(
  off: readonly WebhookOff[],
  { nameplate, root }: MailSource,
): Omit<MailContent, 'language' | 'home_url'> {
  const lines = off.map(
    ({ id, url, off_reason, of_subscriber }) =>
      `${new URL(url).host} (${of_subscriber ? 'a subscriber’s' : 'the desk’s'}, ${id}): ${WHY[off_reason]}.`,
  );
  return {
    nameplate,
    preview: 'What waited for it was given up.',
    heading: off.length === 1 ? 'A webhook was switched off' : `${off.length} webhooks were switched off`,
    date: null,
    paragraphs: [
      ...lines,
      `Nothing more is sent there, and what waited was given up; ${root}/api/v1/deliveries lists it. A test that is taken switches a webhook on again: POST ${root}/api/v1/webhooks/{id}/test, with an admin key.`,
    ],
    button: null,
    groups: [],
    casts: [],
    reason: 'You get this because you have an admin seat of this paper, or are its contact.',
    manage_url: null,
    unsubscribe_url: null,
  };
}

/** A notice, ready to be sent. */
export function noticeMail(notice: Notice, paper: MailSource, matter: MailContent, html: string): Mail {
  return {
    ...mailHead(notice, notice.email, paper),
    subject: `${paper.nameplate}: ${(matter.heading ?? '').toLowerCase()}`,
    // RFC 3834, section 5: no vacation notice is to answer it.
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: mailText(matter),
    html,
  };
}
