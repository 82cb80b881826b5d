import canonicalize from 'canonicalize';
import { isoTime } from '../proof/time.ts';
import { Fault, refusalOf } from '../shared/fault.ts';
import type { Problem } from '../shared/shape.ts';
import { append } from './append.ts';
import type { Archive, Story } from './archive.ts';
import type { Desk } from './file-story.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { FrontChange, Place, Placement, PlacementBody } from './placement.ts';

type Places = Pick<Placement, 'lead' | 'pins'>;

/** Changes a front. Throws `refused_by_door` with every problem, `conflict` when `revision` is not the newest. */
export function placeFront(
  { store, now: clock }: Pick<Desk, 'store' | 'now'>,
  paper: string,
  change: FrontChange,
  by: string,
): Placement {
  return store.transact(() => {
    const now = clock();
    const archive = store.archive(paper);
    const before = archive.placement();
    if (change.revision !== undefined && change.revision !== before.revision) {
      const message = `this placement was made from revision ${change.revision}, but the newest is ${before.revision}; read the front again and make the change to that`;
      throw new Fault('conflict', message);
    }
    const next = placesAfter(archive, change, { now, by });
    return keep(store, paper, before, next, now);
  });
}

/** The places that a front would have after a change; changes nothing. Throws `refused_by_door` with every problem. */
export function placesAfter(archive: Archive, change: FrontChange, { now, by }: { now: number; by: string }): Places {
  const current = unexpired(archive.placement(), now);
  const asked = asks(change);
  const problems = asked.flatMap((ask) => askProblems(archive, ask, now));
  if (problems.length === 0) problems.push(...clashes(archive, current, change, asked));
  if (problems.length > 0) throw refusalOf(problems);
  const placeOf = ({ story, until }: Ask): Place => ({
    piece: storyNamed(archive, story)?.id ?? '',
    until: until === undefined ? null : Date.parse(until),
    made_by: by,
  });
  const lead = asked.find(({ pin }) => pin === 0);
  return {
    lead: change.lead === undefined ? current.lead : lead === undefined ? null : placeOf(lead),
    pins:
      change.pins === undefined
        ? current.pins
        : asked.filter(({ pin }) => pin > 0).map((ask) => ({ ...placeOf(ask), pin: ask.pin })),
  };
}

/**
 * Places one piece, which takes the place from the piece that has it; null frees the piece's own place. Throws
 * `refused_by_door` for a time that has passed and for a piece that cannot be placed.
 */
export function placeStory(
  { store, now: clock }: Pick<Desk, 'store' | 'now'>,
  paper: string,
  { slug, id }: Pick<Story, 'slug' | 'id'>,
  body: PlacementBody | null,
  by: string,
): Placement {
  return store.transact(() => {
    const now = clock();
    const archive = store.archive(paper);
    const before = archive.placement();
    const current = without(unexpired(before, now), id);
    if (body === null) return keep(store, paper, before, current, now);
    const problems = askProblems(archive, { field: 'placement', story: slug, pin: 0, until: body.until }, now);
    if (problems.length > 0) throw refusalOf(problems);
    const place: Place = { piece: id, until: body.until === undefined ? null : Date.parse(body.until), made_by: by };
    const { pin } = body;
    const next =
      pin === undefined
        ? { ...current, lead: place }
        : { ...current, pins: [...current.pins.filter((one) => one.pin !== pin), { ...place, pin }] };
    return keep(store, paper, before, next, now);
  });
}

/** Frees the place of a piece that is withdrawn, as of `at`. */
export function freePlace(store: LedgerStore, paper: string, piece: string, at: number): void {
  const before = store.archive(paper).placement();
  keep(store, paper, before, without(before, piece), at);
}

/** Frees every place whose time is over at `now`. It does so by a ledger entry, because the press reads no clock. */
export function expirePlaces(store: LedgerStore, now: number): void {
  for (const paper of store.paperSlugs()) {
    const before = store.archive(paper).placement();
    keep(store, paper, before, unexpired(before, now), now);
  }
}

/** Appends a placement unless it is the current one. */
function keep(store: LedgerStore, paper: string, before: Placement, next: Places, at: number): Placement {
  const pins = next.pins.toSorted((a, b) => a.pin - b.pin);
  const placement: Placement = { lead: next.lead, pins, revision: before.revision };
  if (canonicalize(placement) === canonicalize(before)) return before;
  placement.revision++;
  append(store, { type: 'record', at, paper, kind: 'front', name: '', body: placement });
  return placement;
}

function unexpired({ lead, pins }: Placement, now: number): Places {
  const holds = ({ until }: Place) => until === null || until > now;
  return { lead: lead !== null && holds(lead) ? lead : null, pins: pins.filter(holds) };
}

function without({ lead, pins }: Places, piece: string): Places {
  return { lead: lead?.piece === piece ? null : lead, pins: pins.filter((place) => place.piece !== piece) };
}

/** One place that a change asks for; 0 is the lead. */
interface Ask {
  field: string;
  story: string;
  pin: number;
  until: string | undefined;
}

function asks({ lead, pins = [] }: FrontChange): Ask[] {
  const ask = (field: string, given: string | { story: string; until?: string | undefined }, place: number): Ask =>
    typeof given === 'string'
      ? { field, story: given, pin: place, until: undefined }
      : { field, story: given.story, pin: place, until: given.until };
  return [
    ...(lead === undefined || lead === null ? [] : [ask('lead', lead, 0)]),
    ...pins.map((one, index) =>
      ask(`pins[${index}]`, one, (typeof one === 'string' ? undefined : one.pin) ?? index + 1),
    ),
  ];
}

function storyNamed(archive: Archive, name: string): Story | null {
  return archive.storyById(name) ?? archive.storyBySlug(name);
}

/** Why a piece cannot be placed; null when it can. */
export function unplaceable(story: Pick<Story, 'slug' | 'state'> | null, name: string): Omit<Problem, 'field'> | null {
  const named = JSON.stringify(name);
  if (story === null)
    return { rule: 'unknown_piece', message: `${named} is not a piece of this paper; give the slug or id of one` };
  if (story.state === 'draft')
    return { rule: 'not_on_air', message: `${named} is a draft; put it on air, or schedule it, and then place it` };
  if (story.state === 'withdrawn')
    return { rule: 'not_on_air', message: `${named} was withdrawn; put it on air again, or place another piece` };
  return null;
}

function askProblems(archive: Archive, { field, story, until }: Ask, now: number): Problem[] {
  const problem = unplaceable(storyNamed(archive, story), story);
  const problems: Problem[] = problem === null ? [] : [{ field, ...problem }];
  if (until !== undefined && Date.parse(until) <= now) {
    const message = `${isoTime(Date.parse(until))} has passed; give a future time, or leave it out`;
    problems.push({ field: `${field}.until`, rule: 'time_past', message });
  }
  return problems;
}

/** Pieces that a change places twice, and places that it fills twice, counting those that it leaves unchanged. */
function clashes(archive: Archive, current: Places, change: FrontChange, asked: readonly Ask[]): Problem[] {
  const pieces = new Map<string, string>();
  if (change.lead === undefined && current.lead !== null) pieces.set(current.lead.piece, 'lead');
  if (change.pins === undefined) for (const { piece, pin } of current.pins) pieces.set(piece, `pin ${pin}`);
  const places = new Map<number, string>();
  return asked.flatMap(({ field, story, pin }) => {
    const problems: Problem[] = [];
    const id = storyNamed(archive, story)?.id ?? '';
    const other = pieces.get(id);
    if (other !== undefined) {
      const message = `${JSON.stringify(story)} is placed already (${other}); place it once, or send that place too`;
      problems.push({ field, rule: 'placed_twice', message });
    }
    const taken = places.get(pin);
    if (taken !== undefined) {
      const message = `place ${pin} is taken by ${taken}; give each pin a place of its own`;
      problems.push({ field, rule: 'place_taken', message });
    }
    pieces.set(id, field);
    places.set(pin, field);
    return problems;
  });
}
