import type { Place, Placement } from '../desk/placement.ts';
import type { FileProblem } from '../ingest/source-file.ts';
import type { DeskPiece } from './piece.ts';
import { savedAt } from './piece.ts';

/** The places on the front for which files ask, and the problems of those that ask for a taken one. */
export interface AskedPlaces {
  lead: DeskPiece | null;
  pins: { pin: number; piece: DeskPiece }[];
  problems: FileProblem[];
}

/** The file that was saved last takes the place; drafts have none, and no place is held after its `until`. */
export function askedPlaces(pieces: Iterable<DeskPiece>, now: number): AskedPlaces {
  const places: AskedPlaces = { lead: null, pins: [], problems: [] };
  const holders = new Map<number, DeskPiece>();
  for (const piece of [...pieces].sort((a, b) => savedAt(b) - savedAt(a))) {
    const { placement, air, files } = piece;
    if (placement === null || air === false) continue;
    if (placement.until !== undefined && Date.parse(placement.until) <= now) continue;
    const pin = placement.pin ?? 0;
    const holder = holders.get(pin)?.files.at(-1)?.file;
    if (holder === undefined) {
      holders.set(pin, piece);
      if (pin === 0) places.lead = piece;
      else places.pins.push({ pin, piece });
      continue;
    }
    const what = pin === 0 ? 'leads the front too' : `has place ${pin} too`;
    const message = `${holder} ${what}; take placement out of one of the two files, or give the other an until that is over`;
    const file = files.at(-1)?.file ?? '';
    places.problems.push({ file, line: 1, field: 'placement', rule: 'place_taken', message });
  }
  return places;
}

/** The placement of a front. `idOf` finds the id of a piece by its slug. */
export function placementOf({ lead, pins }: AskedPlaces, idOf: (slug: string) => string, revision: number): Placement {
  const place = ({ slug }: DeskPiece): Place => ({ piece: idOf(slug), until: null, made_by: 'cli' });
  return {
    lead: lead === null ? null : place(lead),
    pins: pins.map(({ pin, piece }) => ({ ...place(piece), pin })).sort((a, b) => a.pin - b.pin),
    revision,
  };
}
