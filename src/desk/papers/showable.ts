import type { Author, CitedFact } from '../../proof/basis.ts';
import { isOneOf, membersIn } from '../../proof/narrow.ts';
import { normalized, tooManyMarksAt } from '../../shared/combining-marks.ts';
import { isAuthorUrl, isLanguageTag } from '../door/door.ts';
import {
  AUTHOR_MAX,
  AUTHORS_MAX,
  CORRECTION_MAX,
  CREDIT_MAX,
  DEK_MAX,
  FACTS_MAX,
  type Filing,
  HEADLINE_MAX,
  type Image,
  INSTRUMENT_MAX,
  KINDS,
  MARKERS_MAX,
  PROSE_MAX,
  SOURCE_MAX,
  STATEMENT_MAX,
  TAG_MAX,
  TAGS_MAX,
} from '../door/piece.ts';
import { markersIn, type ParsedProse } from '../door/prose.ts';
import { tagsFrom } from '../door/tag.ts';
import type { PaperRecord } from './paper.ts';

/**
 * What can be shown of a piece that the door refuses: each field that is missing or broken is replaced by the nearest
 * thing that a page can show. `data` is a filing's body, of any shape; `slug` is used when it has none that can be in an
 * address. The result is never filed.
 */
export function showableFiling(
  data: unknown,
  { slug, paper, hasMedia }: { slug: string; paper: PaperRecord; hasMedia(path: string): boolean },
): Filing {
  const body = membersIn(data);
  const headline = lineOf(body.headline, HEADLINE_MAX) || slug.replaceAll('-', ' ');
  const authors = authorsOf(body.authors);
  const language = typeof body.language === 'string' && isLanguageTag(body.language) ? body.language : paper.language;
  return {
    slug,
    headline,
    dek: lineOf(body.dek, DEK_MAX),
    prose: textOf(body.prose, PROSE_MAX).trim(),
    cited_facts: factsOf(body.cited_facts),
    category: lineOf(body.category, 60) || (paper.sections[0] ?? ''),
    kind: isOneOf(KINDS, body.kind) ? body.kind : paper.default_kind,
    persona: lineOf(body.byline, 60),
    language,
    image: imageOf(body.image, hasMedia),
    credit: textOf(body.credit, CREDIT_MAX) || null,
    correction: textOf(body.correction, CORRECTION_MAX) || null,
    authors,
    written_by: authors.length > 0 ? null : lineOf(body.written_by, SOURCE_MAX) || null,
    tags: tagsFrom(tagNames(body.tags)),
    revised_at: null,
  };
}

/** Prose that is safe to render: with too much mark-up a block of code, with too many markers what precedes them. */
export function showableProse(prose: string, { excess }: Pick<ParsedProse, 'excess'>): string {
  const shown = prose.slice(0, markersIn(prose)[MARKERS_MAX]?.offset);
  return excess.length > 0 ? shown.replace(/^/gm, '    ') : shown;
}

/** A text without what no page can show: control characters, halves of surrogate pairs, heaps of combining marks. */
function textOf(value: unknown, max: number): string {
  if (typeof value !== 'string') return typeof value === 'number' ? String(value) : '';
  // Cut first, so that the work is bounded.
  const text = value
    .slice(0, max)
    .toWellFormed()
    .replace(/\r\n?|\u0085/g, '\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are taken out
  const plain = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  const marks = tooManyMarksAt(plain);
  return normalized(marks === null ? plain : plain.slice(0, marks));
}

function lineOf(value: unknown, max: number): string {
  return textOf(value, max)
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .trim();
}

function factsOf(value: unknown): CitedFact[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, FACTS_MAX).map((entry, index) => {
    const fact = membersIn(entry);
    return {
      n: index + 1,
      statement: lineOf(fact.statement, STATEMENT_MAX),
      source: lineOf(fact.source, SOURCE_MAX) || '?',
      instrument: lineOf(fact.instrument, INSTRUMENT_MAX),
      claim_key: null,
    };
  });
}

function authorsOf(value: unknown): Author[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, AUTHORS_MAX).flatMap((entry) => {
    const { name, url } = typeof entry === 'string' ? { name: entry } : membersIn(entry);
    const shown = lineOf(name, AUTHOR_MAX);
    if (shown === '') return [];
    return typeof url === 'string' && isAuthorUrl(url) ? { name: shown, url } : { name: shown };
  });
}

function tagNames(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, TAGS_MAX)
    .map((name) => lineOf(name, TAG_MAX))
    .filter((name) => name !== '');
}

function imageOf(value: unknown, hasMedia: (path: string) => boolean): Image | null {
  const { src, alt, credit } = typeof value === 'string' ? { src: value, alt: '', credit: null } : membersIn(value);
  if (typeof src !== 'string' || !hasMedia(src)) return null;
  return { src, alt: lineOf(alt, DEK_MAX), credit: lineOf(credit, SOURCE_MAX) || null };
}
