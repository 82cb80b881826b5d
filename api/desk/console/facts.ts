import type { ReviseLine } from '../../../src/desk/console/fact-views.ts';
import type { FormField } from '../../../src/desk/console/fields.ts';
import { MAX } from '../../../src/desk/door/piece.ts';
import type { EvidenceState } from '../../../src/desk/evidence.ts';
import { type FactRow, factUrl, saidOf } from '../../../src/desk/fact.ts';
import { requireFact } from '../../../src/desk/recording-facts.ts';
import { QUERY_MAX, searchTerms, TERMS_MAX } from '../../../src/desk/search.ts';
import { FACT_STATUSES } from '../../../src/proof/fact-note.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Form } from '../../middleware/form-body.ts';
import { archiveOf } from '../context.ts';
import { type Action, undo } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import type { ConsoleContext } from './session.ts';

/** How many facts a page of the list has, and how many citing pieces the page of a fact. */
const PAGE = 50;
const PIECES_MAX = 200;

/** The fact record, with its filters. */
export function factsPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const query = (name: string) => (c.req.query(name) ?? '').slice(0, QUERY_MAX);
  const asked = { q: query('q').trim(), status: query('status'), source: query('source').trim() };
  const status = FACT_STATUSES.find((name) => name === asked.status);
  const terms = asked.q === '' ? undefined : searchTerms(asked.q.split(/\s+/).slice(0, TERMS_MAX).join(' '));
  const after = Number(query('after')) || undefined;
  const found =
    terms?.length === 0
      ? []
      : archiveOf(app, c).facts({
          ...{ limit: PAGE + 1, isCited: false, after, status, terms },
          source: asked.source || undefined,
        });
  const rows = found.slice(0, PAGE);
  const next = new URLSearchParams(Object.entries({ ...asked, after: String(rows.at(-1)?.id ?? '') }));
  return [
    '/console/facts',
    'Facts',
    { rows: rows.map(lineOf), asked, older: found.length > PAGE ? `facts?${next}` : null },
  ];
}

const lineOf = ({ claim_key, version, statement, source, status, cited }: FactRow) => ({
  ...{ claim_key, version, statement, source, status, cited },
});

const keyIn = (c: ConsoleContext): string => c.req.param('key') ?? '';

function factOf({ app }: ConsoleParts, c: ConsoleContext): FactRow {
  return requireFact(c.get('site').slug, keyIn(c), archiveOf(app, c).fact(keyIn(c)));
}

/** One fact: its versions, and all that rests on it. */
export function factPage(parts: ConsoleParts, c: ConsoleContext): Shown {
  const archive = archiveOf(parts.app, c);
  const fact = factOf(parts, c);
  const { claim_key, instrument, quote, cited } = fact;
  const citing = archive.citedBy(claim_key, 'desk', { limit: PIECES_MAX + 1 });
  const versions = archive.factVersions(claim_key).map((one) => {
    const { version, status, statement, source, note } = one;
    return { version, status, statement, source, note, at: saidOf(one).signed_at };
  });
  return [
    '/console/fact',
    fact.statement,
    {
      fact: { ...lineOf(fact), instrument, quote },
      versions: versions.reverse(),
      pieces: citing.slice(0, PIECES_MAX).map(({ id, headline, state, version }) => ({ id, headline, state, version })),
      has_more: citing.length > PIECES_MAX,
      fields: fieldsOf(fact),
      evidence: archive.factEvidence(claim_key),
      url: cited === 0 ? null : factUrl(c.get('site').root, claim_key),
    },
  ];
}

function fieldsOf({ statement, source, instrument, quote }: FactRow): FormField[] {
  return [
    {
      name: 'statement',
      label: 'Statement',
      value: statement,
      kind: 'text',
      rows: 3,
      max: MAX.statement,
      isRequired: true,
    },
    { name: 'source', label: 'Publisher', value: source, kind: 'line', max: MAX.source, isRequired: true },
    {
      name: 'instrument',
      label: 'Document: its address or name',
      value: instrument,
      kind: 'line',
      max: MAX.instrument,
      isRequired: true,
    },
    { name: 'quote', label: 'Its words, if you quote them', value: quote ?? '', kind: 'text', rows: 2, max: MAX.quote },
    {
      ...{ name: 'status', label: 'What this is', value: 'corrected', kind: 'choice' },
      choices: [
        ['corrected', 'A correction: what was here was wrong'],
        ['standing', 'Not a correction: only its source has moved'],
      ],
    },
    {
      ...{
        name: 'note',
        label: 'What was wrong, which readers will see',
        value: '',
        kind: 'line',
        max: MAX.correction,
      },
      isRequired: true,
    },
  ];
}

/** What can be done to a fact: a new version, which the API signs. */
export function factActions(): Record<string, Action> {
  const put = (c: ConsoleContext, body: Record<string, unknown>) =>
    ({ method: 'PUT', path: `facts/${encodeURIComponent(keyIn(c))}`, body }) as const;
  const made = (form: Form) => ({ version: Number(form.text('version')), note: form.text('note') });
  const page = (_form: Form, c: ConsoleContext) => `facts/${encodeURIComponent(keyIn(c))}`;
  return {
    ':key/correct': {
      level: 'admin',
      request: (form, c) => {
        const texts = Object.fromEntries(['statement', 'source', 'instrument'].map((name) => [name, form.text(name)]));
        const quote = form.text('quote') || null;
        return put(c, { ...texts, quote, status: form.oneOf('status', ['corrected', 'standing']), ...made(form) });
      },
      said: ({ fact, cited_by, unscheduled }) => ({
        text: `Version ${fact.version} is signed, and stays on record beside the others. ${restOn(cited_by.length)}${offSchedule(unscheduled)} Correct it again if this was a mistake.`,
      }),
      page,
    },
    ':key/retract': {
      level: 'admin',
      request: (form, c) => put(c, { status: 'retracted', ...made(form) }),
      said: ({ fact, cited_by, unscheduled }) => ({
        text: `Retracted: nothing can be filed with it any more. ${restOn(cited_by.length)}${offSchedule(unscheduled)}`,
        ...undo(`facts/${fact.claim_key}/return`, 'Take the retraction back', {
          version: String(fact.version),
          note: 'The retraction was a mistake.',
        }),
      }),
      page,
    },
    ':key/return': {
      level: 'admin',
      request: (form, c) => put(c, { status: 'standing', ...made(form) }),
      said: ({ fact }) => ({
        text: `It is valid again, as version ${fact.version}; the retraction stays in its history.`,
      }),
      page,
    },
  };
}

const offSchedule = (slugs: readonly string[]): string =>
  slugs.length === 0 ? '' : ` Taken off the schedule: ${slugs.join(', ')}.`;

const restOn = (pieces: number): string =>
  pieces === 0
    ? 'No piece cites an older one.'
    : `${pieces === 1 ? 'One piece cites' : `${pieces} pieces cite`} an older one: revise those that rest on what was wrong.`;

/** The states of a source that need attention, in words. */
const FOUND: Partial<Record<EvidenceState, string>> = {
  changed: 'Its source no longer says what it said when it was first read.',
  quote_not_found: 'Its source does not contain the quote.',
  unverified: 'Its source claims to be a signed observation, but is not valid.',
  gone: 'Its source is gone.',
};

/** Facts that pieces on air cite and that were corrected since, then those whose sources say otherwise. */
export function factsToRevise(app: AppContext, c: ConsoleContext, limit: number): ReviseLine[] {
  const archive = archiveOf(app, c);
  const corrected = archive.outdatedFacts(limit).map(({ claim_key, status, statement, pieces, changed_note }) => ({
    ...{ path: `facts/${claim_key}`, state: status, statement, note: changed_note ?? '', pieces },
  }));
  const read = archive.factsToRevise(limit).map(({ subject, state, statement, reason, changes }) => {
    const [piece = '', n] = subject.split('/');
    const path = n === undefined ? `facts/${subject}` : `pieces/${piece}`;
    const found = changes.length > 0 && state === 'changed' ? 'Its domain now gives another answer:' : FOUND[state];
    const why = state === 'unverified' ? reason : changes.join('; ');
    return { path, state, statement, note: [found, why].filter(Boolean).join(' '), pieces: null };
  });
  return [...corrected, ...read].slice(0, limit);
}
