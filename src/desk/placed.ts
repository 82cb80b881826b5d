import type { Archive, Row } from './archive.ts';
import type { Place, Placement } from './placement.ts';

/** A placement with its pieces. */
export interface Placed {
  lead: { row: Row; until: number | null } | null;
  pins: { row: Row; until: number | null; pin: number }[];
  revision: number;
}

/** The placement as readers see it; with `all`, as the desk does, with the pieces that are still to go on air. */
export function placed(placement: Placement, storyOf: Archive['storyById'], all = false): Placed {
  const shown = <T extends Place>(place: T): (Omit<T, 'piece' | 'made_by'> & { row: Row })[] => {
    const { piece, made_by: _by, ...rest } = place;
    const row = storyOf(piece);
    return row === null || (row.state !== 'on_air' && !all) ? [] : [{ ...rest, row }];
  };
  const { lead, pins, revision } = placement;
  return { lead: lead === null ? null : (shown(lead)[0] ?? null), pins: pins.flatMap(shown), revision };
}
