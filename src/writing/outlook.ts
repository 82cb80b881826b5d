import type { FileProblem } from '../ingest/source-file.ts';
import type { FiledDigests } from '../store/filed-digests.ts';
import type { DeskPaper, WritingDesk } from './desk.ts';
import type { DeskPiece, Outlook } from './piece.ts';
import { outlookOf } from './piece.ts';

/** How the newest text of a piece's files stands to the ledger: null when that is not known. */
export type Filed = 'never' | 'changed' | 'as_it_is' | null;

/** A piece in the desk's lists. */
export interface PieceLine {
  paper: string;
  slug: string;
  headline: string;
  url: string;
  outlook: Outlook;
  air: number | boolean;
  filed: Filed;
  problems: FileProblem[];
}

export function pieceLine(paper: string, piece: DeskPiece, filed: FiledDigests, now: number): PieceLine {
  const { slug, air, problems, filings } = piece;
  const headline = filings.at(-1)?.headline ?? slug;
  const url = `/${paper}/stories/${slug}/`;
  return { paper, slug, headline, url, air, problems, outlook: outlookOf(piece, now), filed: filedState(piece, filed) };
}

/** The pieces that are not on air as they are: refused, drafts, scheduled, not filed, or changed since. */
export function openPieces({ slug, pieces }: DeskPaper, filed: FiledDigests, now: number): PieceLine[] {
  return [...pieces.values()]
    .map((piece) => pieceLine(slug, piece, filed, now))
    .filter((line) => line.outlook !== 'on_air' || line.filed === 'never' || line.filed === 'changed');
}

/** Every problem of a paper, those of its records first. */
export function problemsOf({ problems, pieces }: DeskPaper): FileProblem[] {
  return [...problems, ...[...pieces.values()].flatMap((piece) => piece.problems)];
}

/** Every problem of the content folder. */
export function allProblems({ papers }: WritingDesk): FileProblem[] {
  return [...papers.values()].flatMap(problemsOf);
}

function filedState({ digests }: DeskPiece, filed: FiledDigests): Filed {
  if (filed === null) return null;
  const states = [...digests].map(([file, digest]) => (filed.has(file) ? filed.get(file) === digest : null));
  if (states.every((state) => state === null)) return 'never';
  return states.every((state) => state === true) ? 'as_it_is' : 'changed';
}
