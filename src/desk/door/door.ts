import { normalized } from '../../shared/combining-marks.ts';
import type { Problem } from '../../shared/shape.ts';
import {
  lineProblems,
  paragraphProblems,
  problem,
  quote,
  textProblems,
  unseenProblem,
} from '../../shared/shown-text.ts';
import { type AliasRules, aliasProblems } from './alias.ts';
import { claimKeyProblem, isKeyAlone, type RecordedFact, recordProblems, retractedProblems } from './claims.ts';
import type { NoteFault } from './footnotes.ts';
import { markersIn } from './markers.ts';
import { type Filing, MAX } from './piece.ts';
import { parseProse, UNSAFE_SCHEME } from './prose.ts';

/** The paper's rules and records against which a filing is checked. */
export interface PaperRules extends AliasRules {
  sections: readonly string[];
  /** Slugs of the personas that may sign. */
  personas: readonly string[];
  /** Minimum number of distinct publishers for a piece on air. */
  source_floor: number;
  /** Whether the paper has a media file at this path. */
  hasMedia(path: string): boolean;
  /** The newest version of a recorded fact; null for an unknown key. */
  fact(claim_key: string): RecordedFact | null;
  /** Whether pictures may lack a description, and notes a reference, as for texts imported from elsewhere. */
  takesUndescribed?: boolean;
}

/** The form of the slug of a piece or a persona. */
export const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** The form of a piece's id. A slug must not look like one. */
const ID = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** All rules that a filing breaks, so that a desk can fix everything at once. */
export function filingProblems(filing: Filing, rules: PaperRules): Problem[] {
  return [
    ...slugProblems(filing.slug),
    ...lineProblems('headline', filing.headline, MAX.headline, true),
    ...lineProblems('dek', filing.dek, MAX.dek, false),
    ...memberProblems(filing, rules),
    ...proseProblems(filing.prose, rules),
    ...factProblems(filing),
    ...recordProblems(filing.cited_facts.slice(0, MAX.facts), rules.fact),
    ...unfilledProblems(filing),
    ...markerProblems(filing),
    ...imageProblems(filing, rules),
    ...paragraphProblems('credit', filing.credit, MAX.credit),
    ...authorProblems(filing),
    ...(filing.written_by === null ? [] : lineProblems('written_by', filing.written_by, MAX.writer, false)),
    ...tagProblems(filing),
    ...aliasProblems(filing, rules),
    ...paragraphProblems('correction', filing.correction, MAX.correction),
  ];
}

/**
 * What keeps a filed piece off the air: too few distinct publishers, a section that the paper has dropped, or a fact
 * that was retracted after the piece was filed.
 */
export function airingProblems(
  piece: Pick<Filing, 'category' | 'cited_facts' | 'provenance'>,
  rules: PaperRules,
): Problem[] {
  return [
    ...sectionProblems(piece.category, rules),
    ...sourceFloorProblems(piece, rules),
    ...retractedProblems(piece.cited_facts, rules.fact),
  ];
}

/**
 * The only rule that drafts need not meet: enough distinct publishers, compared in NFKC and folded case. Pieces from an
 * archive cite no facts: they say instead that they come from an archive.
 */
export function sourceFloorProblems(
  filing: Pick<Filing, 'cited_facts' | 'provenance'>,
  rules: Pick<PaperRules, 'source_floor'>,
): Problem[] {
  if (filing.provenance === 'archive') return [];
  const publishers = distinctPublishers(filing.cited_facts);
  if (publishers >= rules.source_floor) return [];
  const message = `the piece rests on ${publishers} distinct publisher${publishers === 1 ? '' : 's'}, and this paper puts nothing on air with fewer than ${rules.source_floor}; cite another publisher (two pages of one publisher are one)`;
  return [problem('cited_facts', 'source_floor', message)];
}

/** How many distinct publishers the facts name. */
export function distinctPublishers(facts: { source: string }[]): number {
  return new Set(facts.map(({ source }) => publisherOf(source))).size;
}

/** A publisher in the form used for comparison: NFKC, in folded case. */
export function publisherOf(source: string): string {
  return foldCase(normalized(source, 'NFKC'));
}

/** Upper-casing first folds ß, ﬁ and final sigma, as Unicode's full case folding does. Drops invisible characters. */
function foldCase(text: string): string {
  const visible = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return normalized(visible.toUpperCase().toLowerCase(), 'NFKC').replace(/\s+/g, ' ').trim();
}

function slugProblems(slug: string): Problem[] {
  if (SLUG.test(slug) && slug.length <= MAX.slug && !ID.test(slug)) return [];
  const message = `${quote(slug)} is not a slug; use 1 to ${MAX.slug} of a–z and 0–9 in words joined by single hyphens, and nothing that looks like a piece's id`;
  return [problem('slug', 'slug_form', message)];
}

function sectionProblems(category: string, { sections }: PaperRules): Problem[] {
  if (sections.includes(category)) return [];
  const message = `${quote(category)} is not a section of this paper; use one of ${sections.join(', ')}, or add it to paper.yaml`;
  return [problem('category', 'unknown_section', message)];
}

function memberProblems(filing: Filing, rules: PaperRules): Problem[] {
  const problems = sectionProblems(filing.category, rules);
  if (!rules.personas.includes(filing.persona)) {
    const message = `${quote(filing.persona)} is not an active persona of this desk; use one of ${rules.personas.join(', ')}, or add masthead/${SLUG.test(filing.persona) ? filing.persona : '<slug>'}.yaml`;
    problems.push(problem('byline', 'unknown_persona', message));
  }
  if (!isLanguageTag(filing.language)) {
    const message = `${quote(filing.language)} is not a language tag; write it as in BCP 47, such as en, pt-BR or ja`;
    problems.push(problem('language', 'language_form', message));
  }
  return problems;
}

/** Whether a text is a language tag (BCP 47) that Intl accepts. */
export function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** The problems in the Markdown of a piece or of one of the paper's own pages. */
export function proseProblems(prose: string, rules: Pick<PaperRules, 'hasMedia' | 'takesUndescribed'>): Problem[] {
  const problems = textProblems('prose', prose, MAX.prose);
  const unseen = unseenProblem('prose', prose);
  if (unseen !== null) problems.push(unseen);
  // Prose that is too long is not parsed.
  if (prose.length > MAX.prose) return problems;
  const { excess, rawHtml, unsafeLinks, pictures, undescribed, hiddenMarkers, notes } = parseProse(prose);
  if (excess.length > 0) return [...problems, ...excess];
  for (const { text, offset } of rawHtml) {
    const message = `raw HTML ${quote(text)} is not allowed; write Markdown, or put it in backticks to show it`;
    problems.push(problem('prose', 'raw_html', message, offset));
  }
  for (const { text, offset } of unsafeLinks) {
    const message = `the link ${quote(text)} is not allowed; link to an http, https or mailto address`;
    problems.push(problem('prose', 'unsafe_link', message, offset));
  }
  const exists = new Map<string, boolean>();
  for (const { text, offset } of pictures) {
    if (!exists.has(text)) exists.set(text, rules.hasMedia(text));
    if (exists.get(text)) continue;
    const message = `the picture ${quote(text)} is not a media file of this paper; put it under media/ and name it from there`;
    problems.push(problem('prose', 'unknown_media', message, offset));
  }
  for (const { text, offset } of rules.takesUndescribed ? [] : undescribed) {
    const message = `the picture ${quote(text)} has no description; say what it shows in the square brackets before it, as in ![Two ferries at the quay](${text})`;
    problems.push(problem('prose', 'no_description', message, offset));
  }
  for (const { text, offset } of hiddenMarkers) {
    const message = `${text} is where no reader sees it: in a picture's description, in a link's target or title, or after a code fence; move it into the text`;
    problems.push(problem('prose', 'hidden_marker', message, offset));
  }
  const told = new Set<string>();
  for (const { fault, text, offset } of rules.takesUndescribed ? [] : notes) {
    if (told.has(`${fault} ${text}`)) continue;
    told.add(`${fault} ${text}`);
    problems.push(problem('prose', `${fault}_note`, NOTE_FAULTS[fault](text), offset));
  }
  return problems;
}

/** Error messages for footnotes, by kind of fault. */
const NOTE_FAULTS: Record<NoteFault['fault'], (text: string) => string> = {
  unknown: (text) =>
    `${quote(text)} refers to no note; write the note on a line of its own, ${text}: and its text, or write \\${text} for brackets that readers see`,
  hidden: (text) =>
    `${quote(text)} is in a picture's description, where no reader can follow it; put it behind the picture`,
  unused: (text) =>
    `nothing in the prose refers to the note ${quote(text)}; write ${text} where it belongs, or take the note out`,
  twice: (text) => `there are two notes ${quote(text)}; give one of them another name`,
};

/** An unfilled placeholder of the file that `broadsheet new story` writes. */
const TO_FILL_IN = /^⟦[^⟦⟧]*⟧$/;
/** The sample prose of that file. In any other prose, such brackets may be intended. */
export const SAMPLE_SENTENCES = [
  '⟦The first sentence rests on the first source.⟧',
  '⟦The second on the other.⟧',
] as const;

function unfilledProblems({ headline, dek, prose }: Filing): Problem[] {
  const lines = Object.entries({ headline, dek }).filter(([, text]) => TO_FILL_IN.test(text));
  const sentence = SAMPLE_SENTENCES.find((one) => prose.includes(one));
  const message = (text: string) => `${quote(text)} is to be filled in; write what belongs there`;
  return [
    ...lines.map(([field, text]) => problem(field, 'to_fill_in', message(text))),
    ...(sentence ? [problem('prose', 'to_fill_in', message(sentence), prose.indexOf(sentence))] : []),
  ];
}

function factProblems({ cited_facts }: Filing): Problem[] {
  const problems: Problem[] = [];
  if (cited_facts.length > MAX.facts) {
    const message = `${cited_facts.length} entries are more than ${MAX.facts}; split the piece`;
    problems.push(problem('cited_facts', 'too_many', message));
  }
  for (const [index, fact] of cited_facts.entries()) {
    const at = `cited_facts[${index}]`;
    // An entry with only a claim key takes its texts from the record; `recordProblems` reports an unknown key.
    const isWhole = !isKeyAlone(fact);
    problems.push(
      ...lineProblems(`${at}.statement`, fact.statement, MAX.statement, isWhole),
      ...lineProblems(`${at}.source`, fact.source, MAX.source, isWhole),
      ...lineProblems(`${at}.instrument`, fact.instrument, MAX.instrument, isWhole),
      ...(fact.quote === undefined ? [] : lineProblems(`${at}.quote`, fact.quote, MAX.quote, false)),
    );
    const keyless = fact.claim_key === null ? null : claimKeyProblem(`${at}.claim_key`, fact.claim_key);
    if (keyless !== null) problems.push(keyless);
    for (const field of ['statement', 'source', 'instrument'] as const) {
      if (!TO_FILL_IN.test(fact[field])) continue;
      const message = `${quote(fact[field])} is to be filled in; write what belongs there, or remove the entry and its marker`;
      problems.push(problem(`${at}.${field}`, 'to_fill_in', message));
    }
    problems.push(...instrumentProblems(`${at}.instrument`, fact.instrument));
    if (fact.n !== index + 1) {
      const message = `${fact.n} is not the entry's place in the list, ${index + 1}; number the entries 1, 2, 3 …, or leave the numbers out`;
      problems.push(problem(`${at}.n`, 'fact_number', message));
    }
  }
  return problems;
}

/** The problem of a document's address that is unsafe to link to. */
export function instrumentProblems(field: string, instrument: string): Problem[] {
  if (!UNSAFE_SCHEME.test(instrument)) return [];
  const message = `${quote(instrument)} is not the address of a document; give an http or https address, or the document's name`;
  return [problem(field, 'unsafe_link', message)];
}

function markerProblems({ prose, cited_facts }: Filing): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<number>();
  const markers = markersIn(prose);
  if (markers.length > MAX.markers) {
    const message = `${markers.length} markers are more than ${MAX.markers}; split the piece`;
    problems.push(problem('prose', 'too_many', message));
  }
  for (const { n, offset } of markers) {
    if (n >= 1 && n <= cited_facts.length) {
      seen.add(n);
    } else if (!seen.has(-n)) {
      seen.add(-n);
      const message = `[^${n}] points at no entry: cited_facts has ${cited_facts.length}; add the entry or correct the number`;
      problems.push(problem('prose', 'marker_without_entry', message, offset));
    }
  }
  for (let n = 1; n <= cited_facts.length; n++) {
    if (seen.has(n)) continue;
    const message = `no [^${n}] in the prose points at this entry; add the marker or take the entry out`;
    problems.push(problem(`cited_facts[${n - 1}]`, 'entry_without_marker', message));
  }
  return problems;
}

function imageProblems({ image }: Filing, rules: PaperRules): Problem[] {
  if (image === null) return [];
  const problems = lineProblems('image.alt', image.alt, MAX.dek, false);
  if (image.credit !== null) problems.push(...lineProblems('image.credit', image.credit, MAX.source, false));
  if (!rules.hasMedia(image.src)) {
    const message = `${quote(image.src)} is not a media file of this paper; put the picture under media/ and name it from there, as in media/art/bridge.jpg`;
    problems.push(problem('image.src', 'unknown_media', message));
  }
  if (image.alt.trim() === '' && !rules.takesUndescribed) {
    const message = `the picture ${quote(image.src)} has no description; say what it shows in alt, as in image: {src: ${image.src}, alt: Two ferries at the quay}`;
    problems.push(problem('image.alt', 'no_description', message));
  }
  return problems;
}

function authorProblems({ authors, written_by }: Filing): Problem[] {
  if (authors.length > 0 && written_by !== null) {
    const message = `authors names ${authors.length === 1 ? 'one person' : `${authors.length} people`} and written_by says ${quote(written_by)}; keep the list, and leave written_by out`;
    return [problem('written_by', 'authors_twice', message)];
  }
  if (authors.length > MAX.authors) {
    const message = `${authors.length} authors are more than ${MAX.authors}; name those who wrote most of it, and all of them in credit`;
    return [problem('authors', 'too_many', message)];
  }
  return authors.flatMap(({ name, url }, index) => [
    ...lineProblems(`authors[${index}].name`, name, MAX.author, true),
    ...(url === undefined ? [] : authorUrlProblems(`authors[${index}].url`, url)),
  ]);
}

/** Whether a text can be an author's address: https, as browsers normalize it. */
export function isAuthorUrl(url: string): boolean {
  const parsed = /^https:\/\/\S+$/i.test(url) && url.length <= MAX.instrument ? URL.parse(url) : null;
  return parsed !== null && parsed.username === '' && parsed.password === '';
}

function authorUrlProblems(field: string, url: string): Problem[] {
  const problems = lineProblems(field, url, MAX.instrument, false);
  if (problems.length > 0 || isAuthorUrl(url)) return problems;
  const message = `${quote(url)} is not the https address of an author; write one such as https://example.org/ann-lee, or leave it out`;
  return [problem(field, 'unsafe_link', message)];
}

function tagProblems({ tags }: Filing): Problem[] {
  if (tags.length > MAX.tags) {
    const message = `${tags.length} tags are more than ${MAX.tags}; keep those by which readers look for the piece`;
    return [problem('tags', 'too_many', message)];
  }
  return tags.flatMap((tag, index) => lineProblems(`tags[${index}]`, tag, MAX.tag, true));
}
