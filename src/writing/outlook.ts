import type { FileProblem } from '../desk/ingest/source-file.ts';
import { piecesWithoutFile, type WithoutFile } from '../desk/ingest/story-files.ts';
import type { FiledContent } from '../store/desk/filed-content.ts';
import type { DeskPaper, WritingDesk } from './desk.ts';
import { type DeskPiece, type Outlook, outlookOf } from './piece.ts';

/** How the newest text of a piece's files compares with the ledger; null when unknown. */
type Filed = 'never' | 'changed' | 'as_it_is' | null;

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

export function pieceLine(paper: string, piece: DeskPiece, filed: FiledContent, now: number): PieceLine {
  const { slug, air, problems, filings } = piece;
  const headline = filings.at(-1)?.headline ?? slug;
  const url = `/${paper}/stories/${slug}/`;
  return { paper, slug, headline, url, air, problems, outlook: outlookOf(piece, now), filed: filedState(piece, filed) };
}

/** The pieces that are not on air in their present form: refused, drafts, scheduled, not filed, or changed since. */
export function openPieces({ slug, pieces }: DeskPaper, filed: FiledContent, now: number): PieceLine[] {
  return [...pieces.values()]
    .map((piece) => pieceLine(slug, piece, filed, now))
    .filter((line) => line.outlook !== 'on_air' || line.filed === 'never' || line.filed === 'changed');
}

/** Every problem of a paper, those of its records first. */
export function problemsOf({ problems, pieces }: DeskPaper): FileProblem[] {
  return [...problems, ...[...pieces.values()].flatMap((piece) => piece.problems)];
}

/** The pieces of a paper that the ledger has on air, or will have, although their files are gone. */
export function lostPieces({ slug }: DeskPaper, desk: WritingDesk, filed: FiledContent): WithoutFile[] {
  if (filed === null) return [];
  const folder = `${slug}/stories/`;
  const stories = new Map([...filed.digests].filter(([file]) => file.startsWith(folder)));
  return piecesWithoutFile(
    slug,
    stories,
    desk.storyNames(slug),
    (piece) => filed.states.get(`${slug}/${piece}`) ?? null,
  );
}

export function allLostPieces(desk: WritingDesk, filed: FiledContent): WithoutFile[] {
  return [...desk.papers.values()].flatMap((paper) => lostPieces(paper, desk, filed));
}

export function allProblems({ papers }: WritingDesk): FileProblem[] {
  return [...papers.values()].flatMap(problemsOf);
}

function filedState({ digests }: DeskPiece, filed: FiledContent): Filed {
  if (filed === null) return null;
  const known = filed.digests;
  const states = [...digests].map(([file, digest]) => (known.has(file) ? known.get(file) === digest : null));
  if (states.every((state) => state === null)) return 'never';
  return states.every((state) => state === true) ? 'as_it_is' : 'changed';
}
