import { phrasesOf } from '../phrases/tables.ts';
import { isoTime } from '../proof/time.ts';
import { Fault } from '../shared/fault.ts';
import { type DeskRow, isWithdrawn, type Story } from './archive.ts';

type Withdrawable = Pick<Story, 'state' | 'published_at' | 'headline_withheld'>;

/** What is asked of a piece: its record in the API or as oEmbed, its page or its card, its proof, a preview of it. */
export type View = 'record' | 'page' | 'proof' | 'preview';

/**
 * What a piece that left the air answers, both with 410: `fault` is the record of the withdrawal, `notice` the page that
 * says the same. Null where it answers like any other piece: what was filed stays proved, and a piece that is scheduled
 * again may be previewed, unless its headline is withheld, which both of them would show.
 */
export function withdrawnAnswer(piece: Withdrawable, view: View): 'fault' | 'notice' | null {
  if (!isWithdrawn(piece)) return null;
  if (view === 'page') return 'notice';
  const isShown = !piece.headline_withheld && (view === 'proof' || (view === 'preview' && piece.state === 'scheduled'));
  return isShown ? null : 'fault';
}

/** Throws `withdrawn` where `withdrawnAnswer` is the fault. */
export function refuseWithdrawn(piece: Story, view: View): void {
  if (withdrawnAnswer(piece, view) !== 'fault') return;
  const { reason } = piece;
  const at = isoTime(piece.withdrawn_at ?? 0);
  throw new Fault('withdrawn', `this piece was withdrawn on ${dayIn(at)}: ${reason}`, { withdrawn_at: at, reason });
}

/** The fault at every address of a paper that was removed, at a time in ms. */
export function paperRemoved(slug: string, removedAt: number): Fault {
  const at = isoTime(removedAt);
  const message = `the paper ${slug} was removed on ${dayIn(at)}; its receipts stay in the transparency log`;
  return new Fault('withdrawn', message, { withdrawn_at: at });
}

const dayIn = (time: string): string => time.slice(0, 10);

/** What a withdrawn piece is called by. */
interface Named {
  slug: string;
  headline: string;
  headline_withheld: boolean;
}

/**
 * What may name a withdrawn piece wherever it is mentioned: its headline, and the slug, which often says the same. Null
 * where its desk withholds them; the mention then says that a piece was withdrawn. The address of
 * the piece stays, but nothing leads there.
 */
export function noticeOf({ slug, headline, headline_withheld }: Named): { slug: string; headline: string } | null {
  return headline_withheld ? null : { slug, headline };
}

/**
 * A piece as its own desk sees it. Where the headline is withheld nothing of the text is left, since a lede says what a
 * headline does; the slug stays, by which the desk names the piece.
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
