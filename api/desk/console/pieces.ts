import { isWithdrawn, STATES, type StateName, type Story } from '../../../src/desk/archive.ts';
import { textDifference } from '../../../src/desk/console/difference.ts';
import { factLines, type NameOf, namesOf, type PieceFilter, pieceLine } from '../../../src/desk/console/piece-lines.ts';
import type { FactLine, HistoryLine } from '../../../src/desk/console/views.ts';
import { ZONES, zonedTime } from '../../../src/desk/console/zoned-time.ts';
import { type FactHint, factHints } from '../../../src/desk/fact-hints.ts';
import { doorProblems, paperRules } from '../../../src/desk/file-story.ts';
import type { Place, Placement } from '../../../src/desk/placement.ts';
import { QUERY_MAX, searchTerms, TERMS_MAX } from '../../../src/desk/search.ts';
import { isoTime } from '../../../src/proof/time.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Form } from '../../middleware/form-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { archiveOf, proofUrl, requirePiece } from '../context.ts';
import { type Action, idempotencyKey, redirect, showAgain, undo } from './action.ts';
import { type ApiRequest, askApi, type ConsoleParts, type Shown } from './page.ts';
import { type ConsoleContext, readOwnForm } from './session.ts';

/** How many pieces a page of the list has. */
const PAGE = 50;

export const slugOf = (c: ConsoleContext): string => c.get('site').slug;

/** Names by the keys of the request's paper. */
export const namesIn = ({ app }: ConsoleParts, c: ConsoleContext): NameOf =>
  namesOf(app.store.desk.keys.list(slugOf(c)));

/** The list of pieces, with its filters. */
export function piecesPage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const { app } = parts;
  const { console: tables, pieces, keys } = app.store.desk;
  const paper = slugOf(c);
  const archive = archiveOf(app, c);
  const query = (name: string) => (c.req.query(name) ?? '').slice(0, QUERY_MAX);
  const state = STATES.find((name) => name === query('state'));
  const filter = {
    state,
    section: query('section') || undefined,
    persona: query('persona') || undefined,
    language: query('language') || undefined,
    filed_by: query('by') ? `key:${query('by')}` : undefined,
    awaits_review: query('review') === 'waiting' ? true : undefined,
  };
  const words = query('q').trim();
  const found =
    words === ''
      ? tables.pieces(paper, filter, { limit: PAGE + 1, after: query('after') || undefined })
      : foundPieces(parts, c, words).filter((row) => fits(row, filter));
  const rows = found.slice(0, PAGE);
  const listed = keys.list(paper);
  const nameOf = namesOf(listed);
  const next = new URL(c.req.url).searchParams;
  next.set('after', rows.at(-1)?.id ?? '');
  next.delete('said');
  const view = {
    rows: rows.map((row) => pieceLine(row, nameOf)),
    counts: pieces.stateCounts(paper),
    asked: {
      ...{
        q: words,
        state: state ?? '',
        review: query('review') === 'waiting' ? 'waiting' : '',
        section: query('section'),
        persona: query('persona'),
      },
      ...{ by: query('by'), language: query('language') },
    },
    sections: c.get('site').paper.sections,
    personas: archive.masthead().map(({ slug, name }) => ({ slug, name })),
    keys: listed
      .filter(({ level }) => level !== 'read')
      .map(({ id, name, seat }) => ({ id, name: name || seat || id })),
    older: words === '' && found.length > PAGE ? `pieces?${next}` : null,
  };
  return ['/console/pieces', 'Pieces', view];
}

/** Pieces by words: on air by the search of the paper, others by a part of their headline, and any by id or slug. */
function foundPieces({ app }: ConsoleParts, c: ConsoleContext, words: string) {
  const { console: tables } = app.store.desk;
  const ids = archiveOf(app, c).search(searchTerms(words.split(/\s+/).slice(0, TERMS_MAX).join(' ')), PAGE);
  const byId = new Map(tables.byIds(ids).map((row) => [row.id, row]));
  const onAir = ids.flatMap((id) => byId.get(id) ?? []);
  const named = tables.named(slugOf(c), words, PAGE);
  return [...named, ...onAir.filter(({ id }) => !named.some((one) => one.id === id))].slice(0, PAGE);
}

function fits(row: ReturnType<typeof foundPieces>[number], filter: PieceFilter): boolean {
  const { state, category: section, persona, language, filed_by, awaits_review } = row;
  const members = { state, section, persona, language, filed_by, awaits_review };
  return Object.entries(filter).every(
    ([name, value]) => value === undefined || members[name as keyof PieceFilter] === value,
  );
}

export const pieceOf = ({ app }: ConsoleParts, c: ConsoleContext): Story =>
  requirePiece(archiveOf(app, c), c.req.param('id') ?? '');

/** One piece: its text and sources, its history, and the actions on it. */
export function piecePage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const { app } = parts;
  const archive = archiveOf(app, c);
  const story = pieceOf(parts, c);
  const nameOf = namesIn(parts, c);
  const { id, slug, revision, dek, reason, state } = story;
  const filings = app.store.desk.console.filings(id);
  const generations = story.headline_withheld ? [] : archive.generations(id);
  const newest = generations.at(-1);
  const proof = newest === undefined ? null : archive.logProof(newest.receipt);
  const line = pieceLine({ ...story, filed_by: filings.at(-1)?.filed_by ?? '' }, nameOf);
  const problems =
    state === 'on_air' || story.headline_withheld
      ? []
      : doorProblems({ ...story, correction: null, revised_at: null }, paperRules(archive), {
          now: app.clock.now(),
          toAir: true,
        });
  // Only before the piece is on air, while it can be changed without a correction.
  const hints = state === 'draft' || state === 'scheduled' ? factHints(archive, story.cited_facts) : [];
  const view = {
    piece: {
      ...line,
      ...{ slug, revision, reason, dek: story.headline_withheld ? '' : dek },
      url: story.published_at === 0 ? null : `${c.get('site').root}/stories/${slug}/`,
    },
    facts: story.headline_withheld ? [] : factLines(story).map(withHint(hints)),
    problems,
    history: historyOf(parts, story, nameOf),
    receipts: generations.map(({ revision, seq, kid, filed_at, receipt }) => ({
      revision,
      seq,
      kid,
      filed_at,
      receipt,
    })),
    log:
      proof === null
        ? 'No cosigned head of the log covers the newest receipt yet.'
        : `The newest receipt is entry ${proof.index} of ${proof.origin}, covered by a cosigned head.`,
    proof_url: proofUrl(c, story),
    zones: ZONES,
  };
  return ['/console/piece', line.headline, view];
}

/** Adds the fact of the record that an entry nearly repeats. */
const withHint =
  (hints: readonly FactHint[]) =>
  (line: FactLine): FactLine => {
    const hint = hints.find(({ field }) => field === `cited_facts[${line.number - 1}]`);
    return hint === undefined ? line : { ...line, like: hint.claim_key };
  };

function historyOf({ app }: ConsoleParts, { id, state, scheduled_at }: Story, nameOf: NameOf): HistoryLine[] {
  const { console: tables } = app.store.desk;
  const filings = tables.filings(id).map(({ n, at, revision, filed_by, correction }) => ({
    n,
    line: {
      at: isoTime(at),
      text:
        revision === 1
          ? 'Filed'
          : correction === null
            ? `Revised (revision ${revision})`
            : `Corrected (revision ${revision})`,
      by: nameOf(filed_by),
      revision,
      note: correction,
    },
  }));
  const events = tables.events(id).map(({ n, at, what, made_by, on_air_at, reason }) => ({
    n,
    line: {
      at: isoTime(at),
      text:
        what === 'withdrawn'
          ? 'Withdrawn'
          : on_air_at !== null && on_air_at > at
            ? `Scheduled for ${isoTime(on_air_at)}${state === 'scheduled' && on_air_at === scheduled_at ? '' : ' (since replaced or done)'}`
            : 'Put on air',
      by: nameOf(made_by),
      revision: null,
      note: reason,
    },
  }));
  return [...filings, ...events].sort((a, b) => b.n - a.n).map(({ line }) => line);
}

/** The members of a piece that two revisions are compared by. */
const COMPARED = ['headline', 'dek', 'category', 'persona', 'prose', 'cited_facts', 'image', 'tags'] as const;

/** The differences between two revisions of a piece, by default the newest two. */
export function changesPage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const story = pieceOf(parts, c);
  const { id, headline, language } = story;
  if (story.headline_withheld) {
    throw new Fault('withdrawn', 'the headline of this piece is withheld, and so is the text of its revisions');
  }
  const revisions = archiveOf(parts.app, c).revisions(id);
  const numbers = revisions.map(({ revision }) => revision);
  const asked = (name: string, otherwise: number) => {
    const number = Number(c.req.query(name));
    return numbers.includes(number) ? number : otherwise;
  };
  const to = asked('to', numbers.at(-1) ?? 1);
  const from = asked('from', numbers[numbers.indexOf(to) - 1] ?? to);
  const [before, after] = [from, to].map((number) => revisions.find(({ revision }) => revision === number));
  const changes = COMPARED.map((name) => ({
    name: NAMES[name],
    segments: textDifference(asText(before?.[name]), asText(after?.[name])),
  })).filter(({ segments }) => segments.some(({ kind }) => kind !== 'same'));
  return [
    '/console/changes',
    `Changes: ${headline}`,
    { piece: { id, headline, language }, revisions: numbers, from, to, changes },
  ];
}

const NAMES: Record<(typeof COMPARED)[number], string> = {
  headline: 'Headline',
  dek: 'Dek',
  category: 'Section',
  persona: 'Byline',
  prose: 'Prose',
  cited_facts: 'Cited facts',
  image: 'Picture',
  tags: 'Tags',
};

/** A member as text, with one paragraph per entry. */
function asText(member: unknown): string {
  if (member === null || member === undefined) return '';
  if (typeof member === 'string') return member;
  if (Array.isArray(member))
    return member.map(asText).join(Array.isArray(member[0]) || typeof member[0] === 'object' ? '\n\n' : ', ');
  return Object.entries(member as object)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

const idIn = (c: ConsoleContext): string => c.req.param('id') ?? '';

/** `at` and `zone` of a form, as the body of an airing. */
function airingOf(form: Form): { at?: string } {
  if (form.text('when') !== 'later') return {};
  return { at: isoTime(zonedTime('at', form.text('at'), form.text('zone'))) };
}

/** What can be done to a piece, by the last part of its path. */
export const pieceActions = ({ app }: ConsoleParts): Record<string, Action> => ({
  air: {
    level: 'admin',
    request: (form, c) => ({ method: 'POST', path: `stories/${idIn(c)}/airing`, body: airingOf(form) }),
    said: ({ story, pressed }) => ({
      text:
        story.state === 'scheduled'
          ? `Scheduled for ${story.scheduled_at} (UTC).`
          : `On air${pressed ? ', and every page that shows it is written' : '; its pages are being written'}.`,
      ...undo(`pieces/${story.id}/withdraw`, 'Take it off again', { reason: 'Put on air by mistake' }),
    }),
  },
  withdraw: {
    level: 'admin',
    request: (form, c) => ({
      method: 'DELETE',
      path: `stories/${idIn(c)}/airing`,
      body: { reason: form.text('reason'), ...(form.text('withhold') === 'yes' ? { withhold_headline: true } : {}) },
    }),
    said: ({ story }) => ({
      text: isWithdrawnRow(story)
        ? `Withdrawn: its page is a notice with the reason${story.headline_withheld ? ', without its headline' : ''}.`
        : 'Off the schedule; it is a draft again.',
      ...(story.headline_withheld || !isWithdrawnRow(story)
        ? {}
        : undo(`pieces/${story.id}/air`, 'Put it on air again')),
    }),
  },
  place: {
    level: 'admin',
    request: (form, c) => {
      const where = form.oneOf('where', ['lead', '1', '2', '3', '4', 'none']);
      return { method: 'PUT', path: 'front', body: placedAt(archiveOf(app, c).placement(), idIn(c), where) };
    },
    said: (_body, form) => ({
      text:
        form.text('where') === 'none'
          ? 'It has no place of its own on the front any more.'
          : 'It is placed on the front.',
    }),
  },
  review: {
    level: 'admin',
    request: (form, c) => {
      const decision = form.oneOf('decision', ['approve', 'request_changes']);
      const given =
        decision === 'approve' ? { name: form.text('name'), role: form.text('role') } : { note: form.text('note') };
      const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
      const body = { revision: Number(form.text('revision')), decision, ...said };
      return { method: 'POST', path: `stories/${idIn(c)}/review`, body };
    },
    said: ({ story }) => ({
      text:
        story.review.state === 'approved'
          ? `Revision ${story.revision} is approved, signed, and ${story.state === 'on_air' ? 'on air' : story.state === 'scheduled' ? `goes on air at ${story.scheduled_at}` : 'may go on air'}. The signature stays.`
          : 'The agent sees what you asked for; its next revision waits for you again.',
    }),
  },
  preview: {
    level: 'read',
    request: (_form, c) => ({ method: 'GET', path: `stories/${idIn(c)}/preview` }),
    said: ({ url, expires_at }) => ({
      text: `Anyone with this link sees the newest revision until ${expires_at}, or until the piece goes on air.`,
      secret: { label: 'The link.', text: url },
    }),
  },
});

/** The placement with a piece as lead, at a pin or at no place; it takes the place of the piece that is there. */
function placedAt({ lead, pins, revision }: Placement, piece: string, where: 'lead' | 'none' | '1' | '2' | '3' | '4') {
  const sent = ({ piece: story, until }: Place) => ({ story, ...(until === null ? {} : { until: isoTime(until) }) });
  const pin = where === 'lead' || where === 'none' ? null : Number(where);
  const rest = pins.filter((place) => place.piece !== piece && place.pin !== pin);
  const kept = lead?.piece === piece ? null : lead && sent(lead);
  return {
    revision,
    lead: where === 'lead' ? { story: piece } : kept,
    pins: [
      ...rest.map((place) => ({ ...sent(place), pin: place.pin })),
      ...(pin === null ? [] : [{ story: piece, pin }]),
    ],
  };
}

const isWithdrawnRow = ({ state, published_at }: { state: StateName; published_at: string | null }): boolean =>
  isWithdrawn({ state, published_at: published_at === null ? 0 : 1 });

/** The most pieces that one form acts on. */
const BULK_MAX = 100;

/** Withdraws many pieces with one reason, or puts many on air: one request to the API for each, in order. */
export function bulkAction(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const form = await readOwnForm(c);
    const what = form.oneOf('what', ['air', 'approve', 'withdraw']);
    const ids = form.all('piece').slice(0, BULK_MAX + 1);
    const back = form.text('back').startsWith('pieces') ? form.text('back') : 'pieces';
    if (ids.length === 0 || ids.length > BULK_MAX) {
      const text =
        ids.length === 0 ? 'No piece was chosen: tick the pieces first.' : `Choose at most ${BULK_MAX} pieces at once.`;
      return showAgain(parts, c, back, 400, { kind: 'refused', text });
    }
    const problems: { field: string; message: string }[] = [];
    for (const id of ids) {
      const asked = askedOf(what, requirePiece(archiveOf(parts.app, c), id), form.text('reason'));
      const { status, body } = await askApi(parts, c, asked, idempotencyKey(form, asked));
      if (status >= 400) problems.push({ field: body?.field ?? id, message: body?.message ?? `status ${status}` });
    }
    const done = ids.length - problems.length;
    const text = `${{ air: 'Put on air', approve: 'Approved', withdraw: 'Withdrawn' }[what]}: ${done} of ${ids.length}.`;
    if (done === 0) return showAgain(parts, c, back, 422, { kind: 'refused', text, problems });
    return redirect(parts, c, back, { kind: 'done', text, problems });
  };
}

function askedOf(what: 'air' | 'approve' | 'withdraw', { id, revision }: Story, reason: string): ApiRequest {
  const path = `stories/${id}/airing`;
  if (what === 'air') return { method: 'POST', path };
  if (what === 'withdraw') return { method: 'DELETE', path, body: { reason } };
  return { method: 'POST', path: `stories/${id}/review`, body: { revision, decision: 'approve' } };
}
