import * as z from 'zod';

/** How many places beside the lead an editor can fill. */
export const PINS_MAX = 4;

/** A placed piece. */
export interface Place {
  /** The piece's id. */
  piece: string;
  /** When the place becomes free, in ms; null for a place that is held until an editor changes it. */
  until: number | null;
  /** Who placed it: `key:<id>`, or `cli` for front matter. */
  made_by: string;
}

/** A piece beside the lead; `pin` counts from 1. */
interface Pin extends Place {
  pin: number;
}

/** The editor's placement of a front: a record of the ledger, of the kind `front`. */
export interface Placement {
  lead: Place | null;
  /** Sorted by `pin`. */
  pins: Pin[];
  /** Increases by one with every change. */
  revision: number;
}

/** The placement of a paper whose front nobody has edited. */
export const UNPLACED: Placement = { lead: null, pins: [], revision: 0 };

const until = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-20T06:30:00Z' })
  .optional()
  .meta({ description: 'When the place becomes free again; omitted, when an editor frees it.' });
const pin = z.int().min(1).max(PINS_MAX);

/** `placement` in front matter or in the body of a filing. It is not stored with the piece. */
export const PlacementBody = z
  .strictObject({ lead: z.literal(true).optional(), pin: pin.optional(), until })
  .refine(({ lead, pin }) => (lead === undefined) !== (pin === undefined), {
    error: `must have either lead: true or pin: 1 to ${PINS_MAX}`,
  })
  .meta({
    id: 'StoryPlacement',
    description: `The piece leads the front, or has place 1 to ${PINS_MAX} beside the lead.`,
  });
export type PlacementBody = z.infer<typeof PlacementBody>;

const story = z.string().max(200).meta({ description: 'The id or the slug of a piece on air or scheduled.' });

/** The body of `PUT /api/v1/front`. Omitted places stay as they are. */
export const FrontChange = z
  .strictObject({
    lead: z
      .union([story, z.strictObject({ story, until })])
      .nullish()
      .meta({ description: 'null frees the place: the newest piece leads.' }),
    pins: z
      .array(z.union([story, z.strictObject({ story, pin: pin.optional(), until })]))
      .max(PINS_MAX)
      .optional()
      .meta({ description: 'All pins. One without `pin` gets the place of its position in the list.' }),
    revision: z.int().min(0).optional().meta({
      description: 'The revision of the placement that this change was made from. A stale one is refused.',
    }),
  })
  .meta({ id: 'FrontChange', description: 'An editor’s placement. Omitted members keep their values.' });
export type FrontChange = z.infer<typeof FrontChange>;

/** The place of a piece; null when it has none. */
export function placeOf({ lead, pins }: Placement, piece: string): (Place & { pin?: number }) | null {
  return lead?.piece === piece ? lead : (pins.find((place) => place.piece === piece) ?? null);
}
