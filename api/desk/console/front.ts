import type { Archive, Row } from '../../../src/desk/archive.ts';
import type { FrontLine, FrontSlot, PlaceablePiece } from '../../../src/desk/console/paper-views.ts';
import { FRONT_BLOCKS, type PaperBody } from '../../../src/desk/papers/paper.ts';
import { FrontChange, PINS_MAX, type Placement, placeOf } from '../../../src/desk/placement.ts';
import { placesAfter } from '../../../src/desk/placing.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { DEFAULT_BLOCKS, frontView } from '../../../src/desk/press/outputs/front.ts';
import { QUERY_MAX, searchTerms, TERMS_MAX } from '../../../src/desk/search.ts';
import { shownToDesk } from '../../../src/desk/withdrawal.ts';
import { isoTime } from '../../../src/proof/time.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Problem } from '../../../src/shared/shape.ts';
import { shapeProblems } from '../../../src/shared/shape.ts';
import type { Form } from '../../middleware/form-body.ts';
import { archiveOf } from '../context.ts';
import { type Action, undo } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import { namesIn, slugOf } from './pieces.ts';
import { seenEdition, seenPage } from './see.ts';
import type { ConsoleContext } from './session.ts';

/** How many pieces can be chosen from without a search. */
const CHOICE = 24;
/** The lead and the pins: the names of their fields are `place0` to `place4`, with `until0` to `until4`. */
const PLACES = Array.from({ length: PINS_MAX + 1 }, (_, place) => place);

/** The places that a form of the front asks for: each with the id of a piece, or nothing, and until when, in UTC. */
type Asked = { piece: string; until: string }[];

/** The front: the pieces at its places, and a preview of a change. */
export function frontPage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const archive = archiveOf(parts.app, c);
  const { paper } = c.get('site');
  const placement = archive.placement();
  const asked = askedIn(c, placement);
  const arrangement = arrangedIn(c, paper);
  const proposed = proposal(parts, c, { archive, asked, arrangement });
  const nameOf = namesIn(parts, c);
  const now = frontLines(archive, c);
  const isChanged = JSON.stringify(asked) !== JSON.stringify(fieldsOf(placement));
  const problems = new Map(proposed.problems.map(({ field, message }) => [slotOf(field, asked), message]));
  const after =
    proposed.archive === null || (!isChanged && !arrangement.isChanged) ? null : frontLines(proposed.archive, c);
  const top = (after ?? now).map(({ pieces }) => pieces[0] ?? null);
  const q = (c.req.query('q') ?? '').slice(0, QUERY_MAX).trim();
  const view = {
    slots: PLACES.map((place): FrontSlot => {
      const { piece = '', until = '' } = asked[place] ?? {};
      const found = piece === '' ? null : shownPiece(archive, piece);
      const held = found === null ? null : placeOf(placement, piece);
      const by = held === null ? null : nameOf(held.made_by);
      return { ...{ place, piece: found, until, by }, free: top[place] ?? null, problem: problems.get(place) ?? null };
    }),
    revision: placement.revision,
    change: isChanged ? { problems: proposed.problems } : null,
    now,
    after: proposed.archive === null || (!isChanged && !arrangement.isChanged) ? null : frontLines(proposed.archive, c),
    page: `see/?${queryOf(asked, arrangement)}`,
    q,
    candidates: candidates(parts, c, archive, q),
    rails: arrangement.sections,
    blocks: arrangement.blocks,
    is_rearranged: arrangement.isChanged,
  };
  return ['/console/front', 'Front', view];
}

/** The page of the front after a change, for the frame. */
export function frontFrame({ app }: ConsoleParts, build: Build) {
  return (c: ConsoleContext): Promise<Response> => {
    const archive = archiveOf(app, c);
    const asked = askedIn(c, archive.placement());
    const arrangement = arrangedIn(c, c.get('site').paper);
    const proposed = proposal({ app }, c, { archive, asked, arrangement });
    return seenPage(app, build, c, { edition: seenEdition(proposed.archive ?? archive, c), path: 'index.html' });
  };
}

const fieldsOf = ({ lead, pins }: Placement): Asked =>
  PLACES.map((place) => {
    const found = place === 0 ? lead : pins.find(({ pin }) => pin === place);
    return { piece: found?.piece ?? '', until: found?.until ? isoTime(found.until).slice(0, 16) : '' };
  });

/** The places that a request asks for: those of its fields, after the move of one of its buttons. */
function askedIn(c: ConsoleContext, placement: Placement): Asked {
  const query = new URL(c.req.url).searchParams;
  if (!PLACES.some((place) => query.has(`place${place}`)) && !query.has('put')) return fieldsOf(placement);
  const given = query.has('place0')
    ? PLACES.map((place) => ({
        piece: (query.get(`place${place}`) ?? '').slice(0, 200),
        until: (query.get(`until${place}`) ?? '').slice(0, 40),
      }))
    : fieldsOf(placement);
  return moved(given, query.get('put') ?? '');
}

/** `<piece>@<place>` puts a piece at a place, and swaps it with the piece there; `@<place>` frees the place. */
function moved(asked: Asked, put: string): Asked {
  const [, piece = '', number = ''] = /^([^@]{0,200})@(\d)$/.exec(put) ?? [];
  const to = number === '' ? -1 : Number(number);
  if (asked[to] === undefined) return asked;
  const from = piece === '' ? -1 : asked.findIndex((one) => one.piece === piece);
  const taken = asked[from] ?? { piece, until: '' };
  return asked.map((one, place) => (place === to ? taken : place === from ? (asked[to] ?? one) : one));
}

/** The body of `PUT /api/v1/front` for places. */
function frontChange(asked: Asked): FrontChange {
  const placed = asked.map(({ piece, until }, pin) => ({
    pin,
    story: piece,
    ...(until === '' ? {} : { until: utc(until) }),
  }));
  const [lead, ...pins] = placed;
  const { pin: _pin, ...led } = lead ?? { pin: 0, story: '' };
  return { lead: led.story === '' ? null : led, pins: pins.filter(({ story }) => story !== '') };
}

/** The instant of a form's date and time, as in `2026-11-20T06:30`, in UTC. The API rejects invalid ones. */
const utc = (reading: string): string =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/.test(reading) ? `${reading.padEnd(19, ':00')}Z` : reading;

/** The place that a problem of the API is about. */
function slotOf(field: string, asked: Asked): number {
  const [, index] = /^pins\[(\d+)\]/.exec(field) ?? [];
  if (index === undefined) return 0;
  return PLACES.filter((place) => place > 0 && asked[place]?.piece !== '')[Number(index)] ?? 0;
}

/** The order of the rails and the blocks that a request asks for. */
function arrangedIn(c: ConsoleContext, paper: PaperBody) {
  const query = new URL(c.req.url).searchParams;
  const given = query.getAll('section').slice(0, 1_000);
  const wanted = given.filter((name) => paper.sections.includes(name));
  const sections = shifted([...new Set([...wanted, ...paper.sections])], query.get('rail') ?? '');
  const current = paper.front?.blocks ?? DEFAULT_BLOCKS;
  const isAsked = query.has('block');
  const asked = query.getAll('block').flatMap((name) => FRONT_BLOCKS.find((one) => one === name) ?? []);
  const order = shifted([...new Set([...(isAsked ? asked : current), ...FRONT_BLOCKS])], query.get('part') ?? '');
  const shown = new Set<string>(isAsked ? query.getAll('shown') : current);
  const blocks = order.map((name) => ({ name, is_shown: shown.has(name) }));
  const names = blocks.flatMap(({ name, is_shown }) => (is_shown ? [name] : []));
  const isChanged = sections.join('\n') !== paper.sections.join('\n') || names.join() !== current.join();
  // A paper without `front` has the default blocks, and stays without it until somebody changes their order.
  const front = paper.front === undefined && names.join() === DEFAULT_BLOCKS.join() ? undefined : { blocks: names };
  return { sections, blocks, front, isChanged };
}
type Arrangement = ReturnType<typeof arrangedIn>;

/** `<name>@<position>` moves a name to a position, which counts from 0. */
function shifted<T extends string>(names: T[], move: string): T[] {
  const [, name, position] = /^(.{1,200})@(\d{1,3})$/su.exec(move) ?? [];
  const from = names.indexOf(name as T);
  if (from < 0) return names;
  const to = Math.min(Number(position), names.length - 1);
  return names.toSpliced(from, 1).toSpliced(to, 0, name as T);
}

/** The paper after a change that is not made; null with the problems that keep it from being made. */
function proposal(
  { app }: Pick<ConsoleParts, 'app'>,
  c: ConsoleContext,
  { archive, asked, arrangement }: { archive: Archive; asked: Asked; arrangement: Arrangement },
): { archive: Archive | null; problems: Problem[] } {
  const change = FrontChange.safeParse(frontChange(asked));
  if (!change.success) return { archive: null, problems: shapeProblems(change.error, frontChange(asked)) };
  try {
    const by = `key:${c.get('key').id}`;
    const places = placesAfter(archive, change.data, { now: app.clock.now(), by });
    const paper = archive.paper();
    const { front: _front, ...rest } = paper;
    const { sections, front } = arrangement;
    const record = { ...rest, sections, ...(front === undefined ? {} : { front }) };
    return {
      archive: { ...archive, placement: () => ({ ...places, revision: 0 }), paper: () => record },
      problems: [],
    };
  } catch (error) {
    const problems = error instanceof Fault ? (error.details.problems as Problem[] | undefined) : undefined;
    if (problems === undefined) throw error;
    return { archive: null, problems };
  }
}

/** What the front shows, part by part. */
function frontLines(archive: Archive, c: ConsoleContext): FrontLine[] {
  const view = frontView(seenEdition(archive, c));
  const { lead, pins } = archive.placement();
  const placed = new Set([lead, ...pins].map((place) => place?.piece));
  const pieces = (rows: Pick<Row, 'headline' | 'language'>[]) =>
    rows.map(({ headline, language }) => ({ headline, language }));
  const top = [view.lead, ...view.seconds].flatMap((row, place) =>
    row === null ? [] : [{ name: placeName(place), pieces: pieces([row]), is_placed: placed.has(row.id) }],
  );
  const blocks = view.blocks.flatMap((block): [string, Pick<Row, 'headline' | 'language'>[]][] => {
    if (block.kind === 'rail') return [[block.rail.section, block.rail.columns.flat()]];
    if (block.kind === 'briefs') return [['In brief', block.sections.flatMap(({ rows }) => rows)]];
    if (block.kind === 'blog') return [['Blog', block.rows]];
    if (block.kind === 'cast') return [['Edition', [{ headline: block.cast.title, language: view.frame.language }]]];
    return [[block.kind === 'masthead' ? 'Masthead' : 'Corrections', []]];
  });
  return [...top, ...blocks.map(([name, rows]) => ({ name, pieces: pieces(rows), is_placed: false }))];
}

export const placeName = (place: number): string => (place === 0 ? 'Lead' : `Beside the lead, ${place}`);

function shownPiece(archive: Archive, name: string): FrontSlot['piece'] {
  const story = archive.storyById(name);
  if (story === null)
    return { id: name, headline: `Unknown piece ${name}`, language: 'en', section: '', state: 'draft' };
  const { id, headline, language, category, state } = shownToDesk(story);
  return { id, headline, language, section: category, state };
}

/** Pieces that can be placed: by words, or the newest on air after those that are scheduled. */
function candidates({ app }: ConsoleParts, c: ConsoleContext, archive: Archive, q: string): PlaceablePiece[] {
  const tables = app.store.desk.console;
  const terms = () => searchTerms(q.split(/\s+/).slice(0, TERMS_MAX).join(' '));
  const onAir =
    q === ''
      ? archive.latest({ limit: CHOICE })
      : archive.search(terms(), CHOICE).flatMap((id) => archive.row(id) ?? []);
  const scheduled = q === '' ? tables.scheduled(slugOf(c), CHOICE) : [];
  return [
    ...scheduled.map((row) => ({ ...row, state: 'scheduled' as const, at: row.scheduled_at ?? 0 })),
    ...onAir.map((row) => ({ ...row, state: 'on_air' as const, at: row.published_at })),
  ].map(({ id, headline, language, category, state, at }) => ({
    ...{ id, headline, language, section: category, state },
    at: isoTime(at),
  }));
}

/** A change as the address of the page that shows it. */
function queryOf(asked: Asked, { sections, blocks }: Arrangement): URLSearchParams {
  const query = new URLSearchParams();
  for (const [place, { piece, until }] of asked.entries()) {
    query.set(`place${place}`, piece);
    if (until !== '') query.set(`until${place}`, until);
  }
  for (const name of sections) query.append('section', name);
  for (const { name, is_shown } of blocks) {
    query.append('block', name);
    if (is_shown) query.append('shown', name);
  }
  return query;
}

const askedOf = (form: Form): Asked =>
  PLACES.map((place) => ({ piece: form.text(`place${place}`), until: form.text(`until${place}`) }));

/** The fields of a placement, for the button that restores it. */
const placeFields = (asked: Asked): Record<string, string> =>
  Object.fromEntries(
    asked.flatMap(({ piece, until }, place) => [
      [`place${place}`, piece],
      [`until${place}`, until],
    ]),
  );

/** What can be done to the front. */
export const frontActions = ({ app }: ConsoleParts): Record<string, Action> => ({
  place: {
    level: 'admin',
    before: (c): Asked => fieldsOf(archiveOf(app, c).placement()),
    request: (form) => ({
      method: 'PUT',
      path: 'front',
      body: {
        ...frontChange(askedOf(form)),
        ...(form.text('revision') === '' ? {} : { revision: Number(form.text('revision')) }),
      },
    }),
    said: ({ placement, pressed }, _form, before: Asked) => ({
      text: `Placed${pressed ? ', and the front is written' : '; the front is being written'}.`,
      ...undo('front/place', 'Place as it was', { ...placeFields(before), revision: String(placement.revision) }),
    }),
    next: () => 'front',
    page: (form) => `front?${new URLSearchParams(placeFields(askedOf(form)))}`,
  } satisfies Action<Asked>,
  arrange: {
    level: 'admin',
    before: (c): PaperBody => c.get('site').paper,
    request: (form) => ({
      method: 'PUT',
      path: 'config',
      body: { sections: lines(form.text('sections')), front: blocksOf(form.text('blocks')) },
    }),
    said: ({ pressed }, _form, { sections, front }: PaperBody) => ({
      text: `The rails and blocks stand in their new order${pressed ? '' : '; the pages are being written'}.`,
      ...undo('front/arrange', 'Order them as they were', {
        sections: sections.join('\n'),
        blocks: front?.blocks.join('\n') ?? 'default',
      }),
    }),
    page: () => 'front',
  } satisfies Action<PaperBody>,
});

const lines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `default` leaves the blocks to Broadsheet. */
const blocksOf = (text: string): { blocks: string[] } | null => (text === 'default' ? null : { blocks: lines(text) });
