import type { Author, CitedFact } from '../../proof/basis.ts';
import { isOneOf, membersIn } from '../../proof/narrow.ts';
import { normalized, tooManyMarksAt } from '../../shared/combining-marks.ts';
import { isAuthorUrl, isLanguageTag } from '../door/door.ts';
import { markersIn } from '../door/markers.ts';
import { type Filing, type Image, KINDS, MAX } from '../door/piece.ts';
import type { ParsedProse } from '../door/prose.ts';
import { tagsFrom } from '../door/tag.ts';
import type { PaperRecord } from './paper.ts';

/**
 * A displayable version of a piece that the door rejects: each missing or invalid field is replaced by the nearest
 * valid value. `data` is a filing's body, of any shape; `slug` is used if the body has no valid one. The result is
 * never filed.
 */
export function showableFiling(
  data: unknown,
  { slug, paper, hasMedia }: { slug: string; paper: PaperRecord; hasMedia(path: string): boolean },
): Filing {
  const body = membersIn(data);
  const headline = lineOf(body.headline, MAX.headline) || slug.replaceAll('-', ' ');
  const authors = authorsOf(body.authors);
  const language = typeof body.language === 'string' && isLanguageTag(body.language) ? body.language : paper.language;
  return {
    slug,
    headline,
    dek: lineOf(body.dek, MAX.dek),
    prose: textOf(body.prose, MAX.prose).trim(),
    cited_facts: factsOf(body.cited_facts),
    category: lineOf(body.category, 60) || (paper.sections[0] ?? ''),
    kind: isOneOf(KINDS, body.kind) ? body.kind : paper.default_kind,
    persona: lineOf(body.byline, 60),
    language,
    image: imageOf(body.image, hasMedia),
    credit: textOf(body.credit, MAX.credit) || null,
    correction: textOf(body.correction, MAX.correction) || null,
    authors,
    written_by: authors.length > 0 ? null : lineOf(body.written_by, MAX.source) || null,
    provenance: null,
    tags: tagsFrom(tagNames(body.tags)),
    aliases: [],
    revised_at: null,
  };
}

/** Prose that is safe to render: a block of code if it has too much markup, cut before the first marker too many. */
export function showableProse(prose: string, { excess }: Pick<ParsedProse, 'excess'>): string {
  const shown = prose.slice(0, markersIn(prose)[MAX.markers]?.offset);
  return excess.length > 0 ? shown.replace(/^/gm, '    ') : shown;
}

/** Removes what no page can show: control characters, halves of surrogate pairs, excessive combining marks. */
function textOf(value: unknown, max: number): string {
  if (typeof value !== 'string') return typeof value === 'number' ? String(value) : '';
  // Cuts first, so that the work is bounded.
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
  return value.slice(0, MAX.facts).map((entry, index) => {
    const fact = membersIn(entry);
    return {
      n: index + 1,
      statement: lineOf(fact.statement, MAX.statement),
      source: lineOf(fact.source, MAX.source) || '?',
      instrument: lineOf(fact.instrument, MAX.instrument),
      claim_key: null,
    };
  });
}

function authorsOf(value: unknown): Author[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX.authors).flatMap((entry) => {
    const { name, url } = typeof entry === 'string' ? { name: entry } : membersIn(entry);
    const shown = lineOf(name, MAX.author);
    if (shown === '') return [];
    return typeof url === 'string' && isAuthorUrl(url) ? { name: shown, url } : { name: shown };
  });
}

function tagNames(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, MAX.tags)
    .map((name) => lineOf(name, MAX.tag))
    .filter((name) => name !== '');
}

function imageOf(value: unknown, hasMedia: (path: string) => boolean): Image | null {
  const { src, alt, credit } = typeof value === 'string' ? { src: value, alt: '', credit: null } : membersIn(value);
  if (typeof src !== 'string' || !hasMedia(src)) return null;
  return { src, alt: lineOf(alt, MAX.dek), credit: lineOf(credit, MAX.source) || null };
}
