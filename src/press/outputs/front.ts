import type { Row } from '../../desk/archive.ts';
import { RAIL_MAX } from '../../desk/front.ts';
import { sectionSlug } from '../../desk/paper.ts';
import type { Placed } from '../../desk/placed.ts';
import { PINS_MAX } from '../../desk/placement.ts';
import { isoTime } from '../../time.ts';
import type { Edition } from '../edition.ts';
import { singleOutput } from '../output.ts';
import { frontJsonLd } from '../structured-data.ts';
import type { FrontView } from '../views.ts';
import { castView } from './cast.ts';
import { frameOf } from './frame.ts';
import { bylineView, rowView } from './row-view.ts';

/** The lead is chosen from this many of the newest pieces. */
const LEAD_OF = 5;
const SECONDS = 4;

export const front = singleOutput('front', 'front', async (edition, { render }) => [
  { path: 'index.html', body: await render('/paper/front', frontView(edition)) },
]);

/**
 * The lead and the pieces beside it: those that an editor placed, and the newest ones at the other places. A front page
 * needs a picture: where no lead was placed, the newest piece that has one leads, if it is recent enough.
 */
function topNews(newest: Row[], placement: Placed): { lead: Row | null; seconds: Row[] } {
  const pins = new Map(placement.pins.map(({ pin, row }) => [pin, row]));
  const pinned = new Set([...pins.values()].map(({ id }) => id));
  const free = newest.filter(({ id }) => id !== placement.lead?.row.id && !pinned.has(id));
  const newestLead = free.slice(0, LEAD_OF).find((row) => row.image !== null) ?? free[0] ?? null;
  const lead = placement.lead?.row ?? newestLead;
  const others = free.filter((row) => row !== lead);
  const seconds = Array.from({ length: SECONDS }, (_, index) => pins.get(index + 1) ?? others.shift());
  // With fewer pieces than places, a pinned one moves up.
  return { lead, seconds: seconds.filter((row) => row !== undefined) };
}

function frontView(edition: Edition): FrontView {
  const paper = edition.paper();
  const { lead, seconds } = topNews(edition.newest(LEAD_OF + SECONDS + PINS_MAX), edition.placement());
  const above = new Set([lead, ...seconds].map((row) => row?.id));
  const rail = (section: string): Row[] =>
    edition
      .newest(RAIL_MAX + above.size, { section })
      .filter(({ id }) => !above.has(id))
      .slice(0, RAIL_MAX);
  const cast = edition.casts()[0];
  return {
    frame: frameOf(edition, {
      path: '',
      title: null,
      description: paper.description,
      json_ld: frontJsonLd({ paper, root: edition.site.root }),
    }),
    updated_at: isoTime(edition.number().changed_at),
    lead: lead === null ? null : rowView(edition, lead),
    seconds: seconds.map((row) => rowView(edition, row)),
    rails: paper.sections
      .map((section) => ({
        section,
        url: `${edition.site.base}/sections/${sectionSlug(section)}/`,
        rows: rail(section).map((row) => rowView(edition, row)),
      }))
      .filter(({ rows }) => rows.length > 0),
    cast: cast === undefined ? null : castView(edition, cast),
    masthead: edition.masthead().map((persona) => bylineView(edition, persona.slug, persona)),
  };
}
