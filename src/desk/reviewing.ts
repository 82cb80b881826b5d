import * as z from 'zod';
import { phrasesOf } from '../phrases/tables.ts';
import { reviewText } from '../proof/review-note.ts';
import { signNote } from '../proof/signing.ts';
import { isoTime } from '../proof/time.ts';
import { normalized } from '../shared/combining-marks.ts';
import { Fault, refusalOf } from '../shared/fault.ts';
import type { Problem } from '../shared/shape.ts';
import { isLine, shownProblems } from '../shared/shown-text.ts';
import { filedAt } from './airing.ts';
import { append } from './append.ts';
import type { Story } from './archive.ts';
import type { Desk } from './file-story.ts';
import { filledLine } from './line.ts';
import type { ReviewBody } from './review.ts';

/** Maximum lengths of a reviewer's name and role, and of a request for changes, in UTF-16 units. */
const NAME_MAX = 100;
const NOTE_MAX = 2_000;

/** The body of `POST /api/v1/stories/{id}/review`. */
export const ReviewOrder = z
  .strictObject({
    revision: z.int().min(1).meta({ description: 'The revision that was reviewed; 409 if a newer one exists.' }),
    decision: z.enum(['approve', 'request_changes'], { error: 'must be approve or request_changes' }),
    note: z
      .string()
      .max(NOTE_MAX)
      .refine((text) => text.split('\n').every(isLine), 'must be text without control characters')
      .transform((text) => normalized(text).trim())
      .optional()
      .meta({ description: 'The changes to make; may have several lines. Approvals have no note.' }),
    name: filledLine(NAME_MAX).optional().meta({
      description: 'The approver’s name, as it is signed and shown to readers; by default the name of the key.',
    }),
    role: filledLine(NAME_MAX)
      .optional()
      .meta({ description: 'The approver’s role; by default `editor` in the paper’s language.' }),
  })
  .meta({
    id: 'ReviewOrder',
    description: 'A decision on the newest revision of a piece.',
    example: { revision: 1, decision: 'approve', role: 'Managing editor' },
  });
export type ReviewOrder = z.infer<typeof ReviewOrder>;

/** Who decides: `made_by` as in the ledger, and the name of the key. */
interface Reviewer {
  made_by: string;
  name: string;
}

/**
 * Decides on the newest revision of a piece. An approval is signed and appended to the ledger; a piece that waited for
 * it goes on air if its time has come. A request for changes is kept beside the piece until its next revision. Throws
 * `conflict` when another revision is the newest, when it was approved before, or when changes are requested for a
 * piece that waits for no review; `refused_by_door` for a name that cannot be published; `invalid_request` for a note
 * where none is allowed.
 */
export function reviewStory(
  desk: Desk,
  paper: string,
  story: Pick<Story, 'id'>,
  order: ReviewOrder & { by: Reviewer },
): Story {
  const { store } = desk;
  return store.transact(() => {
    const archive = store.archive(paper);
    const found = archive.storyById(story.id);
    if (found === null) throw new Fault('not_found', `the paper ${paper} has no piece ${story.id}`);
    requireUndecided(found, order.revision);
    if (order.decision === 'approve') approve(desk, paper, found, order);
    else askForChanges(desk, found, order);
    return archive.storyById(story.id) ?? found;
  });
}

function requireUndecided({ slug, revision, reviewed_by }: Story, asked: number): void {
  if (asked !== revision) {
    const message = `revision ${asked} of ${slug} is not the newest, which is ${revision}; read that one and decide on it`;
    throw new Fault('conflict', message, { field: 'revision' });
  }
  if (reviewed_by === null) return;
  const { name, at } = reviewed_by;
  throw new Fault(
    'conflict',
    `${name} approved revision ${revision} of ${slug} at ${isoTime(at)}, which stays signed; revise the piece, or withdraw it`,
  );
}

function approve(desk: Desk, paper: string, story: Story, order: Parameters<typeof reviewStory>[3]): void {
  if (order.note !== undefined) {
    throw new Fault('invalid_request', 'an approval has no note; leave note out, or request changes', {
      field: 'note',
    });
  }
  const { store } = desk;
  const { language } = store.archive(paper).paper();
  const { name = order.by.name, role = phrasesOf(language).byline.editor, by } = order;
  const problems = [...nameProblems(name), ...shownProblems('role', role)];
  if (problems.length > 0) throw refusalOf(problems);
  const { signer, kid, nbf } = desk.signingKey;
  const now = desk.now();
  // A review is never dated before the revision or the first use of the key, even when the clock was set back.
  const at = Math.max(now, filedAt(store.archive(paper), story.id), nbf);
  const note = signNote(
    reviewText({
      ...{ paper, piece: story.id, revision: story.revision, reviewed_by: name, role },
      ...{ reviewed_at: isoTime(at), seq: store.nextReviewSeq(paper), kid },
    }),
    signer,
  );
  const body: ReviewBody = { note, made_by: by.made_by };
  append(store, { type: 'record', at, paper, kind: 'review', name: story.id, body }, now);
}

/** A signed name stays in the ledger forever, so an email address of a seat is not accepted as a name. */
function nameProblems(name: string): Problem[] {
  if (!name.includes('@')) return shownProblems('name', name);
  const message = `${JSON.stringify(name)} has the form of a mail address, and the review would publish it for good; give the name that readers may see`;
  return [{ field: 'name', rule: 'public_name', message }];
}

function askForChanges(
  { store, now }: Desk,
  story: Story,
  { note, by, name, role }: Parameters<typeof reviewStory>[3],
) {
  for (const [field, value] of Object.entries({ name, role })) {
    if (value === undefined) continue;
    throw new Fault('invalid_request', `a request for changes is not signed; leave ${field} out`, { field });
  }
  if (!story.awaits_review) {
    throw new Fault(
      'conflict',
      `${story.slug} waits for no review; revise it, or withdraw it if it must not be on air as it is`,
    );
  }
  store.setChangeRequest(story.id, { by: by.name, at: now(), note: note || null });
}
