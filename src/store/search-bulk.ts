import { messageOf } from '../fault.ts';
import type { Db } from './open.ts';
import type { DeferredPiece } from './search.ts';
import { searchPlaces } from './search-places.ts';
import { SegmentFault, segmentWriter } from './search-segment.ts';
import type { SearchSegment } from './segment-maker.ts';

/** A piece, and the row id that it will have. */
export interface PlacedPiece extends DeferredPiece {
  place: number;
}

/** Indexes many pieces by segments that another thread makes. */
export interface BulkIndex {
  /** The row ids that pieces will have, if `add` adds all that were planned in the order of their plans. */
  plan(pieces: readonly DeferredPiece[]): PlacedPiece[];
  /**
   * Adds the segment of pieces that were planned, in a transaction of its own. Returns why it added nothing, if a
   * piece changed meanwhile or the index has no room: `fill` indexes them then.
   */
  add(pieces: readonly PlacedPiece[], segment: SearchSegment): string | null;
  close(): void;
}

/** `db` is a connection that nothing else uses (see `segmentWriter`). */
export function bulkIndex(db: Db): BulkIndex {
  const places = searchPlaces(db);
  const writer = segmentWriter(db);
  /** The next row id of each minute that a plan has used, by the first row id of its minute. */
  const planned = new Map<number, number>();
  let inPlan = 0;

  function add(pieces: readonly PlacedPiece[], segment: SearchSegment): void {
    for (const { piece, at, generation, place } of pieces) {
      const now = places.shown(piece);
      const isSame = now?.state === 'on_air' && now.published_at === at && now.generation === generation;
      if (!isSame || now.place !== null) throw new SegmentFault(`the piece ${piece} has changed`);
      if (places.take(piece, at, generation) !== place) throw new SegmentFault(`the place of ${piece} has changed`);
    }
    writer.add(segment);
  }

  return {
    plan(pieces) {
      if (inPlan++ === 0) planned.clear();
      return pieces.map((piece) => {
        const free = places.next(piece.piece, piece.at);
        const start = places.startOf(piece.at);
        const place = Math.min(free, planned.get(start) ?? free);
        planned.set(start, place - 1);
        return { ...piece, place };
      });
    },
    add(pieces, segment) {
      inPlan--;
      db.exec('BEGIN IMMEDIATE');
      try {
        add(pieces, segment);
        db.exec('COMMIT');
        return null;
      } catch (error) {
        if (db.inTransaction) db.exec('ROLLBACK');
        if (!(error instanceof SegmentFault)) throw error;
        return messageOf(error);
      }
    },
    close: () => void db.close(),
  };
}
