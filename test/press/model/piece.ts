/** What a piece must be for readers, as far as its one actor was answered. */
export interface Piece {
  readonly slug: string;
  readonly owner: string;
  /** Null until an answer named it. */
  id: string | null;
  section: string;
  headline: string;
  revision: number;
  state: 'draft' | 'scheduled' | 'on_air' | 'withdrawn';
  /** First time on air, in ms; null before, or where only the press knows. */
  published_at: number | null;
  scheduled_at: number | null;
  withdrawn: boolean;
  reason: string;
  /** When the last write of it was answered, in ms. */
  answered_at: number;
  /** Whether an answer said that it is on disk. */
  promised: boolean;
  /** A write is under way, or ended without an answer: what is so is not known. */
  unsure: boolean;
}

/** A piece as it stands at a time: what was scheduled before then is on air. */
export function standingAt(piece: Piece, at: number): Piece {
  if (piece.state !== 'scheduled' || piece.scheduled_at === null || piece.scheduled_at > at) return piece;
  return {
    ...piece,
    state: 'on_air',
    published_at: piece.published_at ?? piece.scheduled_at,
    scheduled_at: null,
    withdrawn: false,
  };
}

export function newPiece(owner: string, slug: string, section: string): Piece {
  return {
    slug,
    owner,
    id: null,
    section,
    headline: '',
    revision: 0,
    state: 'draft',
    published_at: null,
    scheduled_at: null,
    withdrawn: false,
    reason: '',
    answered_at: 0,
    promised: false,
    unsure: true,
  };
}

/** A headline that no other revision has: what is found in a file tells which one it shows. */
export function headlineOf(slug: string, revision: number): string {
  return `Revision ${revision} of ${slug.replaceAll('-', ' ')} stands`;
}
