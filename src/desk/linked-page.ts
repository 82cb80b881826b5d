import { normalized, tooManyMarksAt } from '../shared/combining-marks.ts';
import { unseenProblem } from '../shared/shown-text.ts';
import type { LinkedPage } from './archive.ts';

/** Maximum lengths of the texts of a card, in UTF-16 units. */
const MAX = { title: 160, description: 240, site: 60 };

/** Characters that reverse text or are invisible. Joiners stay: emoji and some scripts need them. */
const HIDDEN =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\p{Cs}\p{Co}\p{Cn}]/gu;

/** The texts of a card, from a page's own metadata; null without a title. */
export function linkedPage(
  said: Record<'title' | 'description' | 'site', string | null>,
): Omit<LinkedPage, 'picture'> | null {
  const title = shownLine(said.title, MAX.title);
  const description = shownLine(said.description, MAX.description);
  if (title === '') return null;
  return {
    title,
    description: description === title ? '' : description,
    site: shownLine(said.site, MAX.site),
  };
}

/** An untrusted text as one line, cut at a word; empty if nothing in it is visible. */
function shownLine(text: string | null, max: number): string {
  // Four times the length leaves room for white space, and bounds the work.
  const start = (text ?? '').slice(0, max * 4).toWellFormed();
  const line = normalized(start.replace(HIDDEN, '').replace(/[\s\p{Cc}\p{Z}]+/gu, ' ')).trim();
  if (tooManyMarksAt(line) !== null || unseenProblem('', line) !== null) return '';
  if (line.length <= max) return line;
  const end = line.lastIndexOf(' ', max);
  // A text without spaces may be cut within a pair of surrogates.
  return `${line.slice(0, end > 0 ? end : max).replace(/[\ud800-\udbff]$/, '')}…`;
}
