import { phrasesOf } from '../phrases/tables.ts';
import { isoTime } from '../proof/time.ts';
import { Fault } from '../shared/fault.ts';
import { type DeskRow, isWithdrawn, type Story } from './archive.ts';

type Withdrawable = Pick<Story, 'state' | 'published_at' | 'headline_withheld'>;

/** What a client requests of a piece: its API or oEmbed record, its page or card, its proof, or a preview of it. */
export type View = 'record' | 'page' | 'proof' | 'preview';

/**
 * What the server answers for a piece that left the air: `fault`, the record of the withdrawal, or `notice`, a page with
 * the same content, both with status 410. Null if the piece is served like any other: what was filed can still be
 * proved, and a piece that is scheduled again may be previewed, unless its headline is withheld, because both the proof
 * and the preview would show it.
 */
export function withdrawnAnswer(piece: Withdrawable, view: View): 'fault' | 'notice' | null {
  if (!isWithdrawn(piece)) return null;
  if (view === 'page') return 'notice';
  const isShown = !piece.headline_withheld && (view === 'proof' || (view === 'preview' && piece.state === 'scheduled'));
  return isShown ? null : 'fault';
}

/** Throws `withdrawn` if `withdrawnAnswer` is `fault`. */
export function refuseWithdrawn(piece: Story, view: View): void {
  if (withdrawnAnswer(piece, view) !== 'fault') return;
  const { reason } = piece;
  const at = isoTime(piece.withdrawn_at ?? 0);
  throw new Fault('withdrawn', `this piece was withdrawn on ${dayIn(at)}: ${reason}`, { withdrawn_at: at, reason });
}

/** The fault for every address of a paper that was removed at a time in ms. */
export function paperRemoved(slug: string, removedAt: number): Fault {
  const at = isoTime(removedAt);
  const message = `the paper ${slug} was removed on ${dayIn(at)}; its receipts stay in the transparency log`;
  return new Fault('withdrawn', message, { withdrawn_at: at });
}

const dayIn = (time: string): string => time.slice(0, 10);

/** The names of a withdrawn piece. */
interface Named {
  slug: string;
  headline: string;
  headline_withheld: boolean;
}

/**
 * The headline and the slug of a withdrawn piece, for any mention of it. Null if its desk withholds the headline,
 * because the slug often says the same; the mention then says only that a piece was withdrawn. The piece keeps its
 * address, but nothing links to it.
 */
export function noticeOf({ slug, headline, headline_withheld }: Named): { slug: string; headline: string } | null {
  return headline_withheld ? null : { slug, headline };
}

/**
 * A piece as its own desk sees it. If the headline is withheld, the texts are emptied, since a lede repeats what the
 * headline says; the slug stays, because the desk needs it to identify the piece.
 */
export function shownToDesk<Piece extends DeskRow | Story>(piece: Piece): Piece {
  if (noticeOf(piece) !== null) return piece;
  const row = {
    headline: phrasesOf(piece.language).withdrawn.withheld,
    dek: '',
    image: null,
    writers: [],
    writer: null,
    tags: [],
    word_count: 0,
  };
  if (!('prose' in piece)) return { ...piece, ...row };
  const text = { prose: '', cited_facts: [], credit: null, authors: [], written_by: null, corrections: [] };
  return { ...piece, ...row, ...text };
}
