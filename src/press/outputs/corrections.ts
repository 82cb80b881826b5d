import { noticeOf } from '../../desk/withdrawal.ts';
import { isoTime } from '../../time.ts';
import type { Edition } from '../edition.ts';
import type { CorrectionsView } from '../views.ts';

/** The newest corrections and withdrawals. */
export function correctionRows(edition: Edition, limit: number): CorrectionsView['rows'] {
  return edition.corrections(limit).map((row) => {
    const { at, kind, note } = row;
    const named = noticeOf(row);
    const piece =
      named === null ? null : { headline: named.headline, url: `${edition.site.base}/stories/${named.slug}/` };
    return { at: isoTime(at), kind, note, piece };
  });
}
