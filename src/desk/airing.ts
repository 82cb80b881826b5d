import { correctionsIn, trueIso } from '../proof/clock-note.ts';
import { HOUR, isoTime } from '../proof/time.ts';
import { normalized } from '../shared/combining-marks.ts';
import { Fault, refusalOf } from '../shared/fault.ts';
import type { Problem } from '../shared/shape.ts';
import { isLine, shownProblems } from '../shared/shown-text.ts';
import { append } from './append.ts';
import type { Archive, Story } from './archive.ts';
import { statementOf } from './clock-correction.ts';
import { airingProblems, type PaperRules } from './door/door.ts';
import { isAwaited, quoteProblems, requiresQuotes } from './evidence.ts';
import { type Desk, paperRules } from './file-story.ts';
import { freePlace } from './placing.ts';

/** Maximum length of a withdrawal reason, in UTF-16 units. */
const REASON_MAX = 1_000;

/**
 * Publishes a piece now or at `at` (ms). A time in the past becomes the piece's date, for desks that import an archive.
 * A piece that is already on air does not change. A piece that waits for a review or for evidence stays scheduled until
 * it is approved and its sources were read. Throws `not_found`, `refused_by_door`.
 */
export function airStory(
  desk: Pick<Desk, 'store' | 'now'>,
  paper: string,
  slug: string,
  options: { by: string; at?: number },
): { story: Story; changed: boolean } {
  const { store } = desk;
  return store.transact(() => {
    const archive = store.archive(paper);
    const story = requireStory(archive, paper, slug);
    if (!airFound(desk, paper, story, options)) return { story, changed: false };
    return { story: requireStory(archive, paper, slug), changed: true };
  });
}

/**
 * Like `airStory`, for a story that this transaction has already read. Pass `rules` if the paper's rules were read too.
 * Returns whether anything changed. Throws `refused_by_door`.
 */
export function airFound(
  { store, now: clock }: Pick<Desk, 'store' | 'now'>,
  paper: string,
  story: Story,
  options: { by: string; at?: number; rules?: PaperRules },
): boolean {
  if (story.state === 'on_air') return false;
  const archive = store.archive(paper);
  const now = clock();
  // No piece airs before it was filed, even if the clock was set back afterwards.
  const filed = filedAt(archive, story.id);
  const on_air_at = options.at ?? Math.max(now, filed);
  if (story.state === 'scheduled' && story.scheduled_at === on_air_at) return false;
  const quoted = requiresQuotes(archive.paper(), story.persona) ? archive.quotedFacts(story.id) : [];
  const waits = isAwaited(quoted) ? { awaits_evidence: true as const } : {};
  // It still waits to be approved, or for its sources to be read.
  const isDue = story.state === 'scheduled' && (story.scheduled_at ?? 0) <= now;
  if (isDue && (story.awaits_review || isAwaited(quoted)) && options.at === undefined) return false;
  const problems = [
    ...airingProblems(story, options.rules ?? paperRules(archive)),
    ...archiveTimeProblems(story, on_air_at, filed),
    ...quoteProblems(quoted),
  ];
  if (problems.length > 0) throw refusalOf(problems);
  // A future airing is scheduled as of the current time.
  const at = on_air_at > now && options.at !== undefined ? now : Math.max(now, filed);
  append(store, { type: 'airing', at, paper, piece: story.id, on_air_at, ...waits, made_by: options.by }, now);
  return true;
}

/** The problem of an archived piece that would air with the current date. A piece that returns keeps its date. */
function archiveTimeProblems({ provenance, published_at }: Story, on_air_at: number, filed: number): Problem[] {
  if (provenance !== 'archive' || published_at !== 0 || on_air_at < filed) return [];
  const message =
    'a piece from an archive goes on air at the time at which it was first published; import it with --air, or file it with cited facts as a piece of this desk';
  return [{ field: 'air', rule: 'archive_time', message }];
}

/**
 * Takes a piece off the air or cancels its schedule. The piece leaves lists and feeds, its place on the front becomes
 * free, and its page becomes a notice. `withholdHeadline` keeps the headline off the notice and out of everything else
 * that readers and programs see; it also works on a piece that is already withdrawn. Throws `not_found`; `conflict`
 * when there is nothing to withdraw or withhold; `invalid_request` without a reason, or for a reason that contains the
 * headline.
 */
export function withdrawStory(
  { store, now: clock }: Pick<Desk, 'store' | 'now'>,
  paper: string,
  slug: string,
  options: { by: string; reason: string; withholdHeadline?: boolean },
): Story {
  const reason = normalized(options.reason).trim();
  if (reason === '' || reason.length > REASON_MAX || !isLine(reason)) {
    const message = `a withdrawal needs a reason of one line, 1 to ${REASON_MAX} characters; readers will see it`;
    throw new Fault('invalid_request', message, { field: 'reason' });
  }
  const unshown = shownProblems('reason', reason);
  if (unshown.length > 0) throw refusalOf(unshown);
  return store.transact(() => {
    const archive = store.archive(paper);
    const story = requireStory(archive, paper, slug);
    const { withholdHeadline = false } = options;
    requireWithdrawable(story, withholdHeadline);
    if (withholdHeadline) requireDiscreet(reason, story);
    const now = clock();
    // The withdrawal must not precede the last change that readers saw.
    const at = story.state === 'on_air' ? Math.max(now, story.updated_at) : now;
    const withhold = withholdHeadline ? { withhold_headline: true as const } : {};
    append(store, { type: 'withdrawal', at, paper, piece: story.id, reason, ...withhold, made_by: options.by }, now);
    freePlace(store, paper, story.id, at);
    return requireStory(archive, paper, slug);
  });
}

/** How long a withdrawal can be undone. After that, the piece must be aired again. */
const UNDO = HOUR;

/**
 * Puts a piece that was withdrawn less than an hour ago back on air, with its original date; its place on the front
 * stays free. The ledger keeps both entries. Throws `not_found`, `refused_by_door`; `conflict` for a piece that is not
 * withdrawn, was withdrawn earlier than that, or has its headline withheld: air such a piece instead.
 */
export function undoWithdrawal(
  desk: Pick<Desk, 'store' | 'now'>,
  paper: string,
  slug: string,
  options: { by: string },
): Story {
  const { store, now } = desk;
  return store.transact(() => {
    const story = requireStory(store.archive(paper), paper, slug);
    const { state, withdrawn_at } = story;
    if (state !== 'withdrawn' || withdrawn_at === null) {
      throw new Fault(
        'conflict',
        `${slug} is ${state === 'on_air' ? 'on air' : state}; there is no withdrawal to undo`,
      );
    }
    const why = story.headline_withheld
      ? 'its headline is withheld'
      : now() - withdrawn_at >= UNDO
        ? `it was withdrawn at ${isoTime(withdrawn_at)}, more than an hour ago`
        : null;
    if (why !== null) throw new Fault('conflict', `${slug} cannot be restored: ${why}; put it on air again instead`);
    return airStory(desk, paper, slug, options).story;
  });
}

/** `filed_at` of a piece's newest revision, after corrections of the clock, in ms; 0 before the first. */
export function filedAt(archive: Archive, piece: string): number {
  const last = archive.generations(piece).at(-1);
  if (last === undefined) return 0;
  return Date.parse(trueIso(last.filed_at, last.seq, correctionsIn(archive.clockNotes().map(statementOf))));
}

/** Throws `conflict` when there is nothing left to withdraw or to withhold. */
function requireWithdrawable(story: Story, withholdHeadline: boolean): void {
  const { slug, state } = story;
  if (withholdHeadline && story.published_at === 0) {
    const message = `${slug} was never on air, so readers have not seen its headline; leave withhold_headline out`;
    throw new Fault('conflict', message, { field: 'withhold_headline' });
  }
  if (state === 'on_air' || state === 'scheduled' || (withholdHeadline && !story.headline_withheld)) return;
  const why = withholdHeadline ? 'its headline is withheld already' : `it is ${state}`;
  throw new Fault('conflict', `${slug} is not on air (${why}); there is nothing to withdraw`);
}

/** Throws `invalid_request` for a reason that contains the withheld headline. */
function requireDiscreet(reason: string, { headline }: Story): void {
  if (!plain(reason).includes(plain(headline))) return;
  const message = 'the reason contains the headline to withhold, and readers will see the reason; reword it';
  throw new Fault('invalid_request', message, { field: 'reason' });
}

const plain = (text: string): string => normalized(text, 'NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

function requireStory(archive: Archive, paper: string, slug: string): Story {
  const story = archive.storyBySlug(slug);
  if (story === null) {
    throw new Fault('not_found', `the paper ${paper} has no piece with the slug ${JSON.stringify(slug)}`);
  }
  return story;
}
