import { isoTime } from '../../proof/time.ts';
import { Fault, problemsIn } from '../../shared/fault.ts';
import type { Problem } from '../../shared/shape.ts';
import { changedBy, orderCited, renumbering } from '../door/markers.ts';
import type { Piece } from '../door/piece.ts';
import { isTimeZone } from '../papers/paper.ts';
import { zonedTime } from './zoned-time.ts';

/** The labels of the editor's fields with one value each, by their names in the form. Messages use them too. */
export const LABELS = {
  headline: 'Headline',
  dek: 'Dek',
  category: 'Section',
  byline: 'Byline',
  prose: 'Text',
  kind: 'Kind',
  language: 'Language',
  tags: 'Tags',
  slug: 'Slug',
  aliases: 'Earlier addresses',
  image_src: 'Picture',
  image_alt: 'What the picture shows',
  image_credit: 'Credit of the picture',
  credit: 'Credit',
  authors: 'Authors',
  written_by: 'Written by',
  correction: 'Correction',
  air: 'On air',
  air_at: 'Time',
  air_zone: 'Time zone',
} as const;
type Name = keyof typeof LABELS;
const NAMES = Object.keys(LABELS) as Name[];

/** The labels of a source's columns. In the form they are named `fact_statement` and so on, once for each source. */
export const FACT_LABELS = {
  statement: 'Statement',
  source: 'Publisher',
  instrument: 'Document',
  claim_key: 'Fact record',
} as const;
type FactName = keyof typeof FACT_LABELS;
const FACT_NAMES = Object.keys(FACT_LABELS) as FactName[];
export type FactFields = Record<FactName, string>;

/** What a person has typed into the editor. `air` is `keep`, `now` or `at`. */
export type EditorFields = Record<Name, string> & { facts: FactFields[] };

/** A problem and its field. `input` is the id of the form element that has the problem, null if there is none. */
export interface EditorProblem {
  input: string | null;
  label: string;
  message: string;
  /** Offset into the filed text, in UTF-16 units. */
  offset?: number;
}

/** The fields for a new piece. */
export function newFields(given: Pick<EditorFields, 'category' | 'byline' | 'kind' | 'air_zone'>): EditorFields {
  const empty = Object.fromEntries(NAMES.map((name) => [name, '']));
  return { ...(empty as Record<Name, string>), air: 'keep', ...given, facts: [] };
}

/** The fields of an existing piece. */
export function fieldsOf(story: Omit<Piece, 'correction' | 'revised_at'>, air_zone: string): EditorFields {
  return {
    ...newFields({ category: story.category, byline: story.persona, kind: story.kind, air_zone }),
    ...{ headline: story.headline, dek: story.dek, prose: story.prose, language: story.language, slug: story.slug },
    tags: story.tags.join(', '),
    aliases: story.aliases.join('\n'),
    image_src: story.image?.src ?? '',
    image_alt: story.image?.alt ?? '',
    image_credit: story.image?.credit ?? '',
    credit: story.credit ?? '',
    authors: story.authors.map(({ name, url }) => (url === undefined ? name : `${name} ${url}`)).join('\n'),
    written_by: story.written_by ?? '',
    facts: story.cited_facts.map(({ statement, source, instrument, claim_key }) => ({
      ...{ statement, source, instrument, claim_key: claim_key ?? '' },
    })),
  };
}

/** The fields of a submitted form. Drops empty sources at the end of the list. */
export function fieldsFrom(form: { getAll(name: string): unknown[] }): EditorFields {
  const all = (name: string): string[] => form.getAll(name).filter((value) => typeof value === 'string');
  const fields = Object.fromEntries(NAMES.map((name) => [name, (all(name)[0] ?? '').replaceAll('\r\n', '\n')]));
  const columns = FACT_NAMES.map((name) => [name, all(`fact_${name}`)] as const);
  const count = Math.max(...columns.map(([, values]) => values.length));
  const facts = Array.from(
    { length: count },
    (_, index) => Object.fromEntries(columns.map(([name, values]) => [name, values[index] ?? ''])) as FactFields,
  );
  while (facts.length > 0 && isBlank(facts.at(-1))) facts.pop();
  return { ...(fields as Record<Name, string>), facts };
}

const isBlank = (fact: FactFields | undefined): boolean =>
  fact === undefined || Object.values(fact).every((text) => text.trim() === '');

const ADDRESS = /^<?(https?:\/\/[^\s<>]+)>?$/;

/** Parses an author's line: a name, or a name followed by an address, with or without angle brackets. */
function authorOf(line: string): string | { name: string; url: string } {
  const at = line.replaceAll('\t', ' ').lastIndexOf(' ');
  const url = ADDRESS.exec(line.slice(at + 1))?.[1];
  const name = line.slice(0, Math.max(0, at)).trim();
  return url === undefined || name === '' ? line : { name, url };
}

const lines = (text: string): string[] => text.split('\n').flatMap((line) => line.trim() || []);

/**
 * The body of a filing, and problems with values that it cannot hold, such as an invalid time. With `isNew` it includes
 * the slug, which a filed piece cannot change.
 */
export function filingBody(
  fields: EditorFields,
  isNew: boolean,
): { body: Record<string, unknown>; problems: EditorProblem[] } {
  const { headline, dek, category, byline, prose, kind, facts } = fields;
  const { image_src: src, image_alt: alt, image_credit } = fields;
  const { air, problems } = airing(fields);
  const given = (text: string): string | null => text.trim() || null;
  const body = {
    ...{ headline, dek, category, byline, prose, air },
    ...(kind === '' ? {} : { kind }),
    cited_facts: facts.map((fact) => ({ ...fact, claim_key: given(fact.claim_key) })),
    ...(fields.language.trim() === '' ? {} : { language: fields.language.trim() }),
    ...(isNew && fields.slug.trim() !== '' ? { slug: fields.slug.trim() } : {}),
    image: `${src}${alt}${image_credit}`.trim() === '' ? null : { src: src.trim(), alt, credit: given(image_credit) },
    credit: given(fields.credit),
    authors: lines(fields.authors).map(authorOf),
    written_by: given(fields.written_by),
    tags: fields.tags.split(/[,\n]/).flatMap((tag) => tag.trim() || []),
    aliases: lines(fields.aliases),
    correction: given(fields.correction),
  };
  return { body, problems };
}

/** When a piece is to go on air, as the API's `air`. */
function airing({ air, air_at, air_zone }: EditorFields): { air: boolean | string; problems: EditorProblem[] } {
  if (air !== 'at') return { air: air === 'now', problems: [] };
  const zone = air_zone.trim();
  const input = isTimeZone(zone) ? 'air_at' : 'air_zone';
  try {
    return { air: isoTime(zonedTime(input, air_at.trim(), zone)), problems: [] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [{ message = error.message } = {}] = problemsIn(error) ?? [];
    return { air: false, problems: [{ input, label: LABELS[input], message }] };
  }
}

/** Fields of the form for members of a filing's body that have other names there. */
const INPUTS: Record<string, Name> = {
  'image.src': 'image_src',
  'image.alt': 'image_alt',
  'image.credit': 'image_credit',
  image: 'image_src',
  air: 'air_at',
};

/** A problem from the API, assigned to the field that has it. */
export function problemAt({ field, message, offset }: Pick<Problem, 'field' | 'message' | 'offset'>): EditorProblem {
  const [, index, member] = /^cited_facts\[(\d+)\](?:\.(\w+))?/.exec(field) ?? [];
  if (index !== undefined) {
    const n = Number(index) + 1;
    const name = FACT_NAMES.find((one) => one === member);
    const label = `Source ${n}${name === undefined ? '' : `, ${FACT_LABELS[name].toLowerCase()}`}`;
    return { input: `fact-${n}-${name ?? 'statement'}`, label, message };
  }
  if (field.startsWith('cited_facts')) return { input: 'facts', label: 'Sources', message };
  const name = INPUTS[field] ?? NAMES.find((one) => one === /^\w+/.exec(field)?.[0]);
  if (name === undefined) return { input: null, label: field, message };
  return { input: name, label: LABELS[name], message, ...(offset === undefined ? {} : { offset }) };
}

/** Reorders the sources. `order` lists their present numbers. Markers of omitted sources are removed. */
export function withFacts(fields: EditorFields, order: readonly number[]): EditorFields {
  const { prose, facts } = fields;
  const places = new Map(order.map((n, index) => [n, index + 1]));
  // A marker that refers to no source stays, for its author to correct.
  const numberOf = (n: number) => (n >= 1 && n <= facts.length ? (places.get(n) ?? null) : n);
  return {
    ...fields,
    prose: changedBy(prose, renumbering(prose, numberOf)),
    facts: order.flatMap((n) => facts[n - 1] ?? []),
  };
}

/** Removes a source and its markers. */
export const withoutFact = (fields: EditorFields, n: number): EditorFields =>
  withFacts(
    fields,
    fields.facts.flatMap((_, index) => (index + 1 === n ? [] : index + 1)),
  );

/** Orders the sources as the text first cites them. */
export const inOrderCited = (fields: EditorFields): EditorFields =>
  withFacts(fields, orderCited(fields.prose, fields.facts.length));
