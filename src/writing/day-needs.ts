import { sectionSlug } from '../desk/papers/paper.ts';
import { DAY, dayOf, isoTime } from '../proof/time.ts';
import { CLI } from '../shared/command-line.ts';
import { plural } from '../shared/plural.ts';
import type { DeskPaper } from './desk.ts';
import type { PieceLine } from './outlook.ts';
import { type DeskPiece, savedAt } from './piece.ts';

/** How long a section may be without a new piece, in days. */
const QUIET_DAYS = 7;
/** How long a draft may stay unchanged, in days. */
const OLD_DAYS = 3;

/** What a paper needs on the day of `now`: sentences, each with the `command` that does it. Days are UTC. */
export function dayNeeds(
  { slug, pieces }: DeskPaper,
  { sections, open, now }: { sections: readonly string[]; open: readonly PieceLine[]; now: number },
): { text: string; url?: string; command?: string }[] {
  const today = dayOf(now);
  const aired = [...pieces.values()].filter(({ air }) => air !== false).map((piece) => ({ piece, at: airTime(piece) }));
  const due = aired.filter(({ at }) => dayOf(at) === today);
  const next = aired.filter(({ at }) => at > now).sort((a, b) => a.at - b.at)[0];
  const quiet = sections.filter(
    (name) => !aired.some(({ piece, at }) => isIn(piece, name) && at > now - QUIET_DAYS * DAY),
  );
  const drafts = open.filter(({ outlook }) => outlook === 'draft');
  const old = drafts.find((line) => savedAt(pieces.get(line.slug) ?? { slug, files: [] }) < now - OLD_DAYS * DAY);
  const unfiled = open.filter(({ outlook, filed }) => outlook === 'on_air' && filed !== null);
  return [
    {
      text:
        due.length === 0
          ? 'Nothing is dated today yet.'
          : `${plural(due.length, 'piece is', 'pieces are')} dated today.`,
    },
    ...(next === undefined ? [] : [{ text: `Next on air: ${minuteOf(next.at)}`, url: urlOf(slug, next.piece) }]),
    ...(quiet.length === 0 ? [] : [{ text: `Without a piece for ${QUIET_DAYS} days: ${quiet.join(', ')}.` }]),
    ...(old === undefined ? [] : [{ text: `Has lain for more than ${OLD_DAYS} days: ${old.headline}`, url: old.url }]),
    ...(unfiled.length === 0
      ? []
      : [{ text: `${plural(unfiled.length, 'piece')} to be filed:`, command: `${CLI} file` }]),
    { text: 'A new piece:', command: `${CLI} new story "HEADLINE" --paper ${slug}` },
  ];
}

/** `2026-12-01 08:00 UTC`. */
export const minuteOf = (at: number): string => `${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`;

/** When a piece goes on air: the time in its file, else when the file was saved. */
const airTime = (piece: DeskPiece): number => (typeof piece.air === 'number' ? piece.air : savedAt(piece));
const urlOf = (paper: string, { slug }: DeskPiece): string => `/${paper}/stories/${slug}/`;
const isIn = ({ filings }: DeskPiece, section: string): boolean =>
  sectionSlug(filings.at(-1)?.category ?? '') === sectionSlug(section);
