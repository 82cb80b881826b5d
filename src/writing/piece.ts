import type { Archive } from '../desk/archive.ts';
import { withRecord } from '../desk/door/claims.ts';
import { proseFrom } from '../desk/door/filing.ts';
import type { Filing } from '../desk/door/piece.ts';
import { parseProse } from '../desk/door/prose.ts';
import { ofGiven } from '../desk/door/repair.ts';
import { doorProblems, paperRules } from '../desk/file-story.ts';
import { type FileProblem, readSource } from '../desk/ingest/source-file.ts';
import { storyFrom } from '../desk/ingest/story-file.ts';
import { showableFiling, showableProse } from '../desk/papers/showable.ts';
import type { PlacementBody } from '../desk/placement.ts';

/** The state that a piece would have if its file were filed now. */
export type Outlook = 'refused' | 'draft' | 'scheduled' | 'on_air';

/** A piece's files, in the order of its revisions. */
export interface PieceFiles {
  slug: string;
  files: { path: string; file: string; stamp: string; savedAt: number }[];
}

export interface DeskPiece extends PieceFiles {
  /** Every revision, as far as it can be shown. */
  filings: Filing[];
  /** When it goes on air, in ms; true for immediately, false for a draft. */
  air: number | boolean;
  /** The position on the front that its newest file requests. */
  placement: PlacementBody | null;
  problems: FileProblem[];
  /** Digests of its files by their names, as the ledger would record them. */
  digests: Map<string, string>;
}

/** When the newest of a piece's files was saved, in ms. */
export function savedAt({ files }: PieceFiles): number {
  return Math.max(0, ...files.map((file) => file.savedAt));
}

export function outlookOf({ problems, air }: Pick<DeskPiece, 'problems' | 'air'>, now: number): Outlook {
  if (problems.length > 0) return 'refused';
  if (typeof air === 'number') return air > now ? 'scheduled' : 'on_air';
  return air ? 'on_air' : 'draft';
}

/** Reads and judges a piece by the rules of the filing door. The archive is that of its paper. */
export function readPiece({ slug, files }: PieceFiles, archive: Archive, now: number): DeskPiece {
  const problems: FileProblem[] = [];
  const filings: Filing[] = [];
  const digests = new Map<string, string>();
  let air: number | boolean = true;
  let placement: PlacementBody | null = null;
  const paper = archive.paper();
  const rules = paperRules(archive);
  for (const { path, file } of files) {
    const source = readSource(path, file, 'markdown');
    digests.set(file, source.digest);
    const read = storyFrom(source, slug, paper);
    problems.push(...source.problems, ...source.locate(read.problems));
    if (read.story === undefined) {
      air = source.data?.air !== false;
      const { rest } = read;
      if (rest !== undefined) {
        const options = { now, toAir: rest.data.air !== false };
        problems.push(...source.locate(ofGiven(doorProblems(rest.data.filing, rules, options), rest.fields)));
      }
      filings.push(showable({ ...source.data, prose: source.body }, slug, archive));
      continue;
    }
    const filing = withRecord(read.story.filing, rules.fact);
    air = read.story.air;
    placement = read.story.placement;
    const found = doorProblems(filing, rules, { now, toAir: air !== false });
    problems.push(...source.locate(found));
    filings.push(found.length === 0 ? filing : showable({ ...filing, byline: filing.persona }, slug, archive));
  }
  return { slug, files, filings, air, placement, problems, digests };
}

/** The byline of a piece that names none. */
const NOBODY = 'nobody';

/** The parts of a refused piece that can be shown. */
function showable(body: unknown, slug: string, archive: Archive): Filing {
  const hasMedia = (path: string) => archive.media(path) !== null;
  const filing = showableFiling(body, { slug, paper: archive.paper(), hasMedia });
  const prose = proseFrom(filing.prose);
  // Without a persona, the portrait's address would have no file name.
  return { ...filing, persona: filing.persona || NOBODY, prose: showableProse(prose, parseProse(prose)) };
}
