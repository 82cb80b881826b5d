import { motifOf } from '../../../media/motif.ts';
import { isoTime } from '../../../proof/time.ts';
import type { Row } from '../../archive.ts';
import { NEWEST_MAX } from '../../dependencies.ts';
import { withoutReferences } from '../../door/footnotes.ts';
import { plainText } from '../../door/prose.ts';
import { type Placed, RAIL_MAX } from '../../papers/front.ts';
import { type FrontBlockName, sectionSlug } from '../../papers/paper.ts';
import { DEFAULT_THEME } from '../../papers/themes.ts';
import { PINS_MAX } from '../../placement.ts';
import type { Edition } from '../edition.ts';
import { channelOf } from '../feeds/channel.ts';
import { singleOutput } from '../output.ts';
import { frontJsonLd } from '../structured-data.ts';
import type { FrontBlock, FrontRail, FrontView, RailView, RowView } from '../views.ts';
import { castView } from './day.ts';
import { bylineView, frameOf, rowView } from './frame.ts';
import { logoOf } from './icons.ts';
import { correctionRows, SAMPLE } from './pages.ts';

/** The lead is chosen from this many of the newest pieces. */
const LEAD_OF = 5;
const SECONDS = 4;
/** How many pieces the front of a wire lists, including its lead. */
const RIVER_MAX = 40;

/** Maximum length of an excerpt that fills free space in a list, in UTF-16 units. */
const EXCERPT_MAX = 420;
const LEAD_EXCERPT_MAX = 1_800;
/** While the last paragraph of an excerpt is shorter than this, the next sentence continues it. */
const SHORT_MAX = 120;

/** A blog with fewer pieces than this has no block. */
const BLOG_MIN = 2;
const BLOG_MAX = 4;
const CORRECTIONS_MAX = 3;

/** A section with fewer pieces than this becomes a brief. */
const RAIL_MIN = 3;
/**
 * Maximum number of sections with a rail. The others become briefs, so that forty sections still make a short front.
 */
const RAILS_MAX = 8;
/** A rail's lead is its newest piece with a picture, if that is among this many of its newest pieces. */
const LED_BY = 3;
/** How many pieces a brief lists. */
const BRIEF_MAX = 2;

/** The start of a Markdown block that is not a paragraph: heading, quote, list, code, table, picture, rule. */
const NO_PARAGRAPH = /^(?:#|>|[-*+] |\d+[.)] |```|~~~|\||!\[| {4}|\[\^|-{3}|\*{3})/;

/** The blocks of a front whose paper.yaml lists none. The edition then follows the first section. */
export const DEFAULT_BLOCKS: readonly FrontBlockName[] = ['sections', 'subscribe', 'blog', 'corrections', 'masthead'];

export const front = singleOutput('front', 'front', async (edition, { render }) => [
  { path: 'index.html', body: await render('/paper/front', frontView(edition)) },
]);

/**
 * The lead and the pieces beside it: the pieces that an editor placed, and the newest pieces in the other places. A
 * front needs a picture: if no lead was placed, the newest piece with a picture leads, if it is among the newest
 * `LEAD_OF`. With `areCards`, pieces with pictures come first.
 */
function topNews(newest: Row[], placement: Placed, areCards = false): { lead: Row | null; seconds: Row[] } {
  const pins = new Map(placement.pins.map(({ pin, row }) => [pin, row]));
  const pinned = new Set([...pins.values()].map(({ id }) => id));
  const free = newest.filter(({ id }) => id !== placement.lead?.row.id && !pinned.has(id));
  const newestLead = free.slice(0, LEAD_OF).find((row) => row.image !== null) ?? free[0] ?? null;
  const lead = placement.lead?.row ?? newestLead;
  const others = free.filter((row) => row !== lead);
  if (areCards) others.sort((a, b) => Number(b.image !== null) - Number(a.image !== null));
  const seconds = Array.from({ length: SECONDS }, (_, index) => pins.get(index + 1) ?? others.shift());
  // With fewer pieces than places, pinned pieces move up.
  return { lead, seconds: seconds.filter((row) => row !== undefined) };
}

/** The top of a wire: the lead, and the pieces that an editor placed beside it. All others follow in order of time. */
function wireTop(edition: Edition): { lead: Row | null; seconds: Row[] } {
  const { lead, pins } = edition.placement();
  const { lead: newest } = topOf(edition);
  const pinned = pins.map(({ row }) => row);
  return { lead: lead?.row ?? newest, seconds: pinned.filter(({ id }) => id !== (lead?.row ?? newest)?.id) };
}

/** Groups rows by the day on which they went on air. Both days and rows are newest first. */
function byDay(rows: RowView[]): FrontView['river'] {
  const days: FrontView['river'] = [];
  for (const row of rows) {
    const last = days.at(-1);
    if (last?.url === row.day_url) last.rows.push(row);
    else days.push({ day: row.published_at, url: row.day_url, rows: [row] });
  }
  return days;
}

/** The pieces at the top of a paper's front. */
export function topOf(edition: Edition) {
  const areCards = edition.paper().theme === 'magazine';
  return topNews(edition.newest(LEAD_OF + SECONDS + PINS_MAX), edition.placement(), areCards);
}

export function frontView(edition: Edition): FrontView {
  const paper = edition.paper();
  const { theme = DEFAULT_THEME } = paper;
  const { lead, seconds } = theme === 'wire' ? wireTop(edition) : topOf(edition);
  const shown = new Set([lead, ...seconds].map((row) => row?.id));
  const river = theme === 'wire' ? edition.newest(RIVER_MAX).filter(({ id }) => !shown.has(id)) : [];
  for (const { id } of river) shown.add(id);
  const blog = paper.front?.blocks.includes('blog') === false ? [] : blogRows(edition, shown);
  for (const { id } of blog) shown.add(id);
  const withExcerpt = (row: Row, max = EXCERPT_MAX): RowView => {
    if (theme === 'wire') return rowView(edition, row);
    const excerpt = excerptOf(edition.story(row.slug)?.prose ?? '', max, row.dek);
    return { ...rowView(edition, row), excerpt };
  };
  const blocks: Record<FrontBlockName, () => FrontBlock[]> = {
    sections: () => sectionBlocks(edition, shown, withExcerpt),
    cast: () => castBlock(edition),
    subscribe: () => (lead === null ? [] : subscribeBlock(edition)),
    blog: () => (blog.length === 0 ? [] : [{ kind: 'blog', rows: blog.map((row) => withExcerpt(row)) }]),
    corrections: () => correctionBlock(edition),
    masthead: () => mastheadBlock(edition),
  };
  return {
    frame: frameOf(edition, {
      path: '',
      title: null,
      description: paper.description,
      json_ld: frontJsonLd(channelOf(edition), logoOf(edition)),
    }),
    updated_at: isoTime(edition.number().changed_at),
    lead: lead === null ? null : withExcerpt(lead, LEAD_EXCERPT_MAX),
    lead_motif: lead === null || lead.image !== null ? null : motifOf(lead.category),
    // The fewer pieces stand beside the lead, the more space each has.
    seconds: seconds.map((row) => withExcerpt(row, Math.max(EXCERPT_MAX, LEAD_EXCERPT_MAX / seconds.length))),
    river: byDay(river.map((row) => rowView(edition, row))),
    blocks: (paper.front?.blocks ?? DEFAULT_BLOCKS).flatMap((name) => blocks[name]()),
  };
}

/** The rails of the sections with most pieces, then the others as briefs. Without `blocks` the edition is second. */
function sectionBlocks(
  edition: Edition,
  shown: ReadonlySet<string | undefined>,
  view: (row: Row) => RowView,
): FrontBlock[] {
  const paper = edition.paper();
  const sections = paper.sections.map((section) => ({
    section,
    url: `${edition.site.base}/sections/${sectionSlug(section)}/`,
    rows: edition
      .newest(RAIL_MAX + shown.size, { section })
      .filter(({ id }) => !shown.has(id))
      .slice(0, RAIL_MAX)
      .map((row) => view(row)),
  }));
  const { rails, briefs } = composeSections(sections, paper.theme === 'wire' ? 0 : RAILS_MAX);
  const blocks: FrontBlock[] = rails.map((rail) => ({ kind: 'rail', rail }));
  if (briefs.length > 0) blocks.push({ kind: 'briefs', sections: briefs });
  if (paper.front === undefined) blocks.splice(1, 0, ...castBlock(edition));
  return blocks;
}

function castBlock(edition: Edition): FrontBlock[] {
  const cast = edition.casts()[0];
  return cast === undefined ? [] : [{ kind: 'cast', cast: castView(edition, cast) }];
}

/** The subscribe form, if the paper has readers by mail. */
function subscribeBlock(edition: Edition): FrontBlock[] {
  const { subscribe_box, paper_public } = edition.paper();
  if (subscribe_box === undefined || !paper_public) return [];
  const { base } = edition.site;
  return [{ kind: 'subscribe', api: `${base}/api/v1`, sample_url: `${base}/${SAMPLE}` }];
}

/** The newest pieces of the blog, if a news paper has one. */
function blogRows(edition: Edition, shown: ReadonlySet<string | undefined>): Row[] {
  const newest = edition.newest(NEWEST_MAX);
  const blog = newest.filter(({ kind }) => kind === 'blog');
  const free = blog.filter(({ id }) => !shown.has(id)).slice(0, BLOG_MAX);
  return blog.length * 2 > newest.length || free.length < BLOG_MIN ? [] : free;
}

function correctionBlock(edition: Edition): FrontBlock[] {
  const rows = correctionRows(edition, CORRECTIONS_MAX);
  return rows.length === 0 ? [] : [{ kind: 'corrections', url: `${edition.site.base}/corrections/`, rows }];
}

function mastheadBlock(edition: Edition): FrontBlock[] {
  const personas = edition.masthead().map((persona) => bylineView(edition, persona.slug, persona));
  return personas.length === 0 ? [] : [{ kind: 'masthead', personas }];
}

/** Chooses the form of each section by its pieces, with at most `most` rails. */
export function composeSections(
  sections: readonly RailView[],
  most = RAILS_MAX,
): { rails: FrontRail[]; briefs: RailView[] } {
  const rails: FrontRail[] = [];
  const briefs: RailView[] = [];
  let texts = 0;
  for (const one of sections) {
    if (one.rows.length === 0) continue;
    if (one.rows.length < RAIL_MIN || rails.length === most) {
      briefs.push({ ...one, rows: one.rows.slice(0, BRIEF_MAX) });
      continue;
    }
    const isPictured = one.rows.slice(0, LED_BY).some(({ image }) => image !== null);
    rails.push(isPictured ? pictureRail(one) : textRail(one, texts++));
  }
  return { rails, briefs };
}

/** The piece with the picture gets the wide column. */
function pictureRail({ section, url, rows }: RailView): FrontRail {
  const lead = rows.slice(0, LED_BY).find(({ image }) => image !== null);
  const others = rows.filter((row) => row !== lead);
  // A second piece with a picture heads its column.
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

/** Rails without pictures alternate between a long excerpt of the lead, the section's shapes, and equal columns. */
function textRail({ section, url, rows }: RailView, turn: number): FrontRail {
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

/** Splits rows into two columns, with more in the second; up to two rows stay in one column. */
function halves(rows: RowView[]): RowView[][] {
  if (rows.length < 3) return [rows];
  const first = Math.floor(rows.length / 2);
  return [rows.slice(0, first), rows.slice(first)];
}

/**
 * The first sentences of a prose as plain text without the dek, at most `max` UTF-16 units. Each line is a paragraph of
 * one sentence, or of a few short ones, so that a list can drop those for which it has no space. Empty if the prose has
 * no paragraph.
 */
export function excerptOf(prose: string, max: number, dek = ''): string {
  const blocks: string[] = [];
  let length = 0;
  // Four times the length leaves room for markup and markers, and bounds the work for long prose.
  for (const block of prose.slice(0, max * 4).split(/\n{2,}/)) {
    if (block === '' || NO_PARAGRAPH.test(block)) continue;
    const text = withoutReferences(plainText(block), prose).replace(/\s+/g, ' ').trim();
    if (text === '') continue;
    blocks.push(text);
    length += text.length;
    if (length > max) break;
  }
  const whole = blocks.join(' ');
  const text = dek !== '' && whole.startsWith(dek) ? whole.slice(dek.length).trimStart() : whole;
  const paragraphs: string[] = [];
  let end = 0;
  for (const { segment, index } of segments(text, 'sentence')) {
    if (index + segment.trimEnd().length > max) break;
    const last = paragraphs.at(-1);
    if (last === undefined || last.length >= SHORT_MAX) paragraphs.push(segment.trim());
    else paragraphs[paragraphs.length - 1] = `${last} ${segment.trim()}`;
    end = index + segment.length;
  }
  if (end > 0 || text === '') return paragraphs.join('\n');
  const word = segments(text.slice(0, max), 'word').at(-1);
  return `${text.slice(0, word?.index ?? max).trimEnd()}…`;
}

function segments(text: string, granularity: 'sentence' | 'word'): Intl.SegmentData[] {
  return [...new Intl.Segmenter(undefined, { granularity }).segment(text)];
}
