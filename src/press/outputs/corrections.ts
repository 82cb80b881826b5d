import { isoTime } from '../../time.ts';
import type { Edition } from '../edition.ts';
import type { CorrectionsView } from '../views.ts';

/** The newest corrections and withdrawals. */
export function correctionRows(edition: Edition, limit: number): CorrectionsView['rows'] {
  return edition.corrections(limit).map(({ at, kind, note, headline, slug }) => ({
    at: isoTime(at),
    kind,
    note,
    headline,
    url: `${edition.site.base}/stories/${slug}/`,
  }));
}
