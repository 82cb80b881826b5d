import { type Segment, textDifference } from './difference.ts';
import { type EditorFields, LABELS } from './editor-fields.ts';

/** The difference of one field between two versions, as segments from theirs to mine. */
export interface FieldDifference {
  /** The field's name. The form sends it as `take` to choose theirs. */
  field: string;
  label: string;
  parts: DifferencePart[];
}

/** Part of a difference. In the prose, each change can be chosen separately and has a name. */
export interface DifferencePart {
  segments: Segment[];
  /** The value of `take` that chooses theirs here; null for shared text. */
  take: string | null;
  /** Whether theirs is preselected, because only they changed it since the common base version. */
  isTheirs: boolean;
}

/** Fields that are compared. The others only say when and where the piece goes on air. */
const COMPARED = [
  ...(['headline', 'dek', 'category', 'byline', 'prose', 'kind', 'language', 'tags', 'aliases'] as const),
  ...(['image_src', 'image_alt', 'image_credit', 'credit', 'authors', 'written_by'] as const),
];

/** How many characters around a change locate it in the common base version. */
const AROUND = 40;
/** Above this product of changes and characters, locating the changes would take too long. */
const SEARCH_MAX = 50_000_000;

/** The differences between my version and theirs, by field. `base` is the version from which mine was made. */
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

/** My version, with the parts of theirs that were chosen. */
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

/** Splits a difference where both texts agree, and names each change. */
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

/** The sources as text, one line each. */
const factLines = ({ facts }: EditorFields): string =>
  facts
    .map(({ statement, source, instrument, claim_key }, index) =>
      [`${index + 1}. ${statement}`, source, instrument, claim_key].filter((text) => text !== '').join(' · '),
    )
    .join('\n');
