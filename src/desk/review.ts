import * as z from 'zod';
import { type Review, reviewIn } from '../proof/review-note.ts';
import { isoTime } from '../proof/time.ts';
import type { Problem } from '../shared/shape.ts';
import type { DeskRow, Row } from './archive.ts';
import type { RecordEntry } from './ledger-entry.ts';
import type { PaperBody } from './papers/paper.ts';

/** Reviews (protocol 4.7): a person approves what an agent filed before it goes on air. */

/** The body of a review's line in the ledger. */
export interface ReviewBody {
  /** The signed note (`src/proof/review-note.ts`). */
  note: string;
  /** Who approved: `key:<id>` or `cli`. */
  made_by: string;
}

/** The content of a review. Throws for an invalid note. */
export function reviewOf({ body }: Pick<RecordEntry, 'body'>): Review {
  const said = reviewIn((body as ReviewBody).note);
  if (said === null) throw new Error('a review is not a review/v1 note');
  return said;
}

export const REVIEW_STATES = ['not_required', 'waiting', 'changes_requested', 'approved'] as const;

/** The state of a piece's newest revision, as its desk sees it. */
export const ReviewRow = z
  .object({
    state: z.enum(REVIEW_STATES).meta({
      description:
        'While it is `waiting` or `changes_requested`, the piece stays off the air, even past `scheduled_at`.',
    }),
    by: z.string().nullable().meta({ description: 'Who approved, or asked for changes.' }),
    at: z.iso.datetime().nullable(),
    note: z.string().nullable().meta({ description: 'The changes to make.' }),
  })
  .meta({ id: 'Review', description: 'Whether a person has to approve the newest revision, and did.' });
export type ReviewRow = z.infer<typeof ReviewRow>;

type Reviewable = Pick<DeskRow, 'awaits_review' | 'reviewed_by' | 'change_request'>;

/** The state of a piece's newest revision. */
export function reviewRow({ awaits_review, reviewed_by, change_request }: Reviewable): ReviewRow {
  if (reviewed_by !== null) {
    return { state: 'approved', by: reviewed_by.name, at: isoTime(reviewed_by.at), note: null };
  }
  if (!awaits_review) return { state: 'not_required', by: null, at: null, note: null };
  if (change_request === null) return { state: 'waiting', by: null, at: null, note: null };
  const { by, at, note } = change_request;
  return { state: 'changes_requested', by, at: isoTime(at), note };
}

/** Whether a paper requires a person's approval for what an agent files in this section or under this persona. */
export function requiresReview(
  { review }: Pick<PaperBody, 'review'>,
  { category, persona }: Pick<Row, 'category' | 'persona'>,
): boolean {
  if (review === undefined) return false;
  if (review === 'required') return true;
  const { sections, personas } = review;
  if (sections === undefined && personas === undefined) return true;
  return sections?.includes(category) === true || personas?.includes(persona) === true;
}

/** Whether readers see who approved a piece. */
export function showsReview({ review }: Pick<PaperBody, 'review'>): boolean {
  return typeof review === 'object' && review.shown;
}

/** Who approved a piece, if the paper shows it; null when nobody did. Events queued by older versions lack it. */
export function reviewerShown(
  paper: Pick<PaperBody, 'review'>,
  { reviewed_by = null }: Partial<Pick<Row, 'reviewed_by'>>,
): { name: string; role: string; at: string } | null {
  return showsReview(paper) && reviewed_by !== null ? { ...reviewed_by, at: isoTime(reviewed_by.at) } : null;
}

/** The problem of an agent's revision of a piece that readers have seen: the revision would be visible at once. */
export function reviewProblem(slug: string): Problem {
  const message = `${slug} was on air, and this paper has a person approve what agents write; ask the desk to make the change, or file a new piece`;
  return { field: 'revision', rule: 'review_required', message };
}
