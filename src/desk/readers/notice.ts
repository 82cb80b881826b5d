import { MINUTE } from '../../proof/time.ts';
import type { OffReason } from '../../shared/outbound/delivery.ts';
import { AUTO_GENERATED } from '../../shared/outbound/letter.ts';
import type { MailProgress, MailQueue } from '../../shared/outbound/mail.ts';
import type { PaperLetter } from './paper-letter.ts';
import type { WebhookOff } from './webhook.ts';

/** How long a notice waits, in ms, so that receivers that fail together cause one mail. */
export const NOTICE_GATHERS = MINUTE;

/** A mail to the people who run a paper: webhooks were switched off. Times in ms. */
interface Notice {
  /** A lower-case ULID, from which the Message-ID is derived. */
  id: string;
  paper: string;
  email: string;
  /** It reports webhooks that were switched off since this time. */
  since: number;
  due_at: number;
}

/** A queued notice and its outcome. */
export interface NoticeRecord extends Notice, MailProgress {
  kind: 'notice';
}

export interface NoticeTable extends MailQueue<NoticeRecord> {
  /** Queues a notice, unless one to the same person is still waiting, which then reports both. */
  queue(notice: Notice): void;
  /** Deletes notices that were settled at or before a time. */
  forget(until: number): void;
}

/** Who is notified: people with an admin seat, or the paper's contact if there are none. */
export function noticeRecipients(
  seats: readonly { level: string; seat: string | null; revoked_at: number | null }[],
  contact: string | undefined,
): string[] {
  const admins = seats.flatMap(({ level, seat, revoked_at }) =>
    level === 'admin' && seat !== null && revoked_at === null ? [seat] : [],
  );
  return admins.length > 0 || contact === undefined ? [...new Set(admins)] : [contact];
}

const WHY: Record<OffReason, string> = {
  gone: 'it answered 410, which asks for no more deliveries',
  failing: 'it accepted no delivery during a whole schedule of retries, which is three days',
};

/** The notice that webhooks were switched off. It names hosts only: the rest of a URL may be secret. */
export function noticeMail(off: readonly WebhookOff[], nameplate: string, root: string): PaperLetter {
  const lines = off.map(
    ({ id, url, off_reason, of_subscriber }) =>
      `${new URL(url).host} (${of_subscriber ? 'a subscriber’s' : 'the desk’s'}, ${id}): ${WHY[off_reason]}.`,
  );
  const heading = off.length === 1 ? 'A webhook was switched off' : `${off.length} webhooks were switched off`;
  return {
    subject: `${nameplate}: ${heading.toLowerCase()}`,
    headers: AUTO_GENERATED,
    content: {
      preview: 'Its pending deliveries were given up.',
      heading,
      paragraphs: [
        ...lines,
        `Nothing more is sent there, and pending deliveries were given up; ${root}/api/v1/deliveries lists it. A successful test switches a webhook on again: POST ${root}/api/v1/webhooks/{id}/test, with an admin key.`,
      ],
      reason: 'You get this because you have an admin seat of this paper, or are its contact.',
    },
  };
}
