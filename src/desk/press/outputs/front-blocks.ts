import { motifOf } from '../../../media/motif.ts';
import type { FrontRail, RowView } from '../views.ts';

/** A section with fewer pieces than this is a brief. */
const RAIL_MIN = 3;
/** How many sections get a rail. The others are briefs, so that a paper of forty sections has an end. */
const RAILS_MAX = 8;
/** A rail is led by its newest piece with a picture, if it is among this many of the newest. */
const LED_BY = 3;
/** How many pieces a brief names. */
const BRIEF_MAX = 2;

export interface SectionRows {
  section: string;
  url: string;
  rows: RowView[];
}

/** Composes the sections of a front by what they have. */
export function composeSections(sections: readonly SectionRows[]): { rails: FrontRail[]; briefs: SectionRows[] } {
  const rails: FrontRail[] = [];
  const briefs: SectionRows[] = [];
  let texts = 0;
  for (const one of sections) {
    if (one.rows.length === 0) continue;
    if (one.rows.length < RAIL_MIN || rails.length === RAILS_MAX) {
      briefs.push({ ...one, rows: one.rows.slice(0, BRIEF_MAX) });
      continue;
    }
    const isPictured = one.rows.slice(0, LED_BY).some(({ image }) => image !== null);
    rails.push(isPictured ? pictureRail(one) : textRail(one, texts++));
  }
  return { rails, briefs };
}

/** The pictured piece gets the width. */
function pictureRail({ section, url, rows }: SectionRows): FrontRail {
  const lead = rows.slice(0, LED_BY).find(({ image }) => image !== null);
  const others = rows.filter((row) => row !== lead);
  // A second picture heads its column.
  const art = others.findIndex(({ image }) => image !== null);
  if (art > 0) others.unshift(...others.splice(art, 1));
  return {
    section,
    url,
    form: 'pictured',
    motif: null,
    columns: [lead === undefined ? [] : [lead], ...halves(others)],
  };
}

/** Rails without pictures take turns: the first words of the lead, the section's shapes, or three alike columns. */
function textRail({ section, url, rows }: SectionRows, turn: number): FrontRail {
  const [lead, ...others] = rows;
  const form = (['text', 'motif', 'even'] as const)[turn % 3] ?? 'text';
  if (form === 'even') {
    const deep = Math.floor(rows.length / 3);
    const columns = [0, 1, 2].map((column) => rows.slice(column * deep, (column + 1) * deep));
    return { section, url, form, motif: null, columns };
  }
  const motif = form === 'motif' ? motifOf(section) : null;
  return { section, url, form, motif, columns: [lead === undefined ? [] : [lead], ...halves(others.slice(0, 4))] };
}

/** Two columns, the second one with more pieces; one column for up to two pieces. */
function halves(rows: RowView[]): RowView[][] {
  if (rows.length < 3) return [rows];
  const first = Math.floor(rows.length / 2);
  return [rows.slice(0, first), rows.slice(first)];
}
