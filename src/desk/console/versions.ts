import { type Segment, textDifference } from './difference.ts';
import { type EditorFields, LABELS } from './editor-fields.ts';

/** How one field differs between two versions, as segments from theirs to mine. */
export interface FieldDifference {
  /** The field's name, which a form sends as `take` to have theirs. */
  field: string;
  label: string;
  parts: DifferencePart[];
}

/** A run of a difference. What differs has a name of its own where each change of the text may be chosen. */
export interface DifferencePart {
  segments: Segment[];
  /** The value of `take` that chooses theirs here; null for what both have, and in fields that are taken as a whole. */
  take: string | null;
  /** Whether theirs is proposed: only they changed it since the version that both began with. */
  isTheirs: boolean;
}

/** Fields that a person compares. The others say when and where to, which a later version does not. */
const COMPARED = [
  ...(['headline', 'dek', 'category', 'byline', 'prose', 'kind', 'language', 'tags', 'aliases'] as const),
  ...(['image_src', 'image_alt', 'image_credit', 'credit', 'authors', 'written_by'] as const),
];

/** How many characters around a change tell its place in the version that both began with. */
const AROUND = 40;
/** Above this product of changes and characters the search for their places would take too long. */
const SEARCH_MAX = 50_000_000;

/** What differs between my version and theirs, by field; `base` is the version that mine was made from. */
export function differences(base: EditorFields, theirs: EditorFields, mine: EditorFields): FieldDifference[] {
  const fields: FieldDifference[] = COMPARED.filter((name) => theirs[name] !== mine[name]).map((field) => {
    const segments = textDifference(theirs[field], mine[field]);
    const parts =
      field === 'prose'
        ? proseParts(segments, base.prose)
        : [{ segments, take: field, isTheirs: mine[field] === base[field] }];
    return { field, label: LABELS[field], parts };
  });
  const [before, first, second] = [base, theirs, mine].map(factLines);
  if (first === second) return fields;
  const segments = textDifference(first ?? '', second ?? '');
  return [
    ...fields,
    { field: 'facts', label: 'Sources', parts: [{ segments, take: 'facts', isTheirs: second === before }] },
  ];
}

/** My version, with what was chosen of theirs. */
export function merged(theirs: EditorFields, mine: EditorFields, takes: ReadonlySet<string>): EditorFields {
  const chosen = Object.fromEntries(
    COMPARED.map((name) => [name, takes.has(name) && name !== 'prose' ? theirs[name] : mine[name]]),
  );
  const prose = proseParts(textDifference(theirs.prose, mine.prose), '')
    .flatMap(({ segments, take }) => {
      const left = take !== null && takes.has(take) ? 'added' : 'removed';
      return segments.flatMap(({ kind, text }) => (kind === left ? [] : text));
    })
    .join('');
  return { ...mine, ...chosen, prose, facts: takes.has('facts') ? theirs.facts : mine.facts };
}

/** Divides a difference at what both texts have, and names each change. */
function proseParts(segments: Segment[], base: string): DifferencePart[] {
  const parts: DifferencePart[] = [];
  for (const segment of segments) {
    const last = parts.at(-1);
    if (segment.kind === 'same') parts.push({ segments: [segment], take: null, isTheirs: false });
    else if (last !== undefined && last.take !== null) last.segments.push(segment);
    else parts.push({ segments: [segment], take: `prose-${parts.length}`, isTheirs: false });
  }
  if (parts.length * base.length > SEARCH_MAX) return parts;
  return parts.map((part, index) => {
    if (part.take === null) return part;
    const mine = part.segments.find(({ kind }) => kind === 'added')?.text ?? '';
    const before = parts[index - 1]?.segments[0]?.text.slice(-AROUND) ?? '';
    const after = parts[index + 1]?.segments[0]?.text.slice(0, AROUND) ?? '';
    return { ...part, isTheirs: base.includes(before + mine + after) };
  });
}

/** Sources as text, a line for each. */
const factLines = ({ facts }: EditorFields): string =>
  facts
    .map(({ statement, source, instrument, claim_key }, index) =>
      [`${index + 1}. ${statement}`, source, instrument, claim_key].filter((text) => text !== '').join(' · '),
    )
    .join('\n');
