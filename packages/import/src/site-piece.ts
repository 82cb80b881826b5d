import { dirname } from 'node:path';
import type { Fields } from './front-matter.ts';
import { DATED, type Generator, stem, textIn } from './generators.ts';
import { renderMarkdown } from './markdown-html.ts';
import { membersIn } from './members.ts';
import type { MarkdownProblem, SourcePiece } from './source.ts';
import { plainTemplates } from './templates.ts';

/** The parts of a site that its pieces share. */
interface Site {
  generator: Generator;
  settings: Fields;
  /** The names of its people, by key. */
  authors: Fields;
  problemOf: MarkdownProblem;
}

/** A piece from its file: the fields at its head, and the text below. Throws `ArchiveError`. */
export function pieceOf(
  path: string,
  fields: Fields,
  body: string,
  { generator, settings, authors, problemOf }: Site,
): SourcePiece {
  const notes: string[] = [];
  const [, dated = '', name = stem(path)] = DATED.exec(stem(path)) ?? [];
  const date = timeOf(fields.date) ?? (dated === '' ? null : dated.replace(/-(\d)(?=-|$)/g, '-0$1'));
  const slug = textIn(fields.slug) || name;
  const isLiquid = generator.templates === 'liquid';
  const categories = namesIn(fields.categories ?? fields.category, isLiquid);
  const folderName = path.startsWith('content/') ? path.split('/').slice(1, -1)[0] : undefined;
  const day = date?.slice(0, 10) ?? '';
  const own = textIn(fields.permalink ?? fields.url);
  const address =
    own !== '' && !/[{}]/.test(own) ? own : generator.address({ path, fields, slug, day, categories }, settings);
  const isDraft = fields.draft === true || fields.published === false || /(?:^|\/)_drafts\//.test(path);
  return {
    slug,
    headline: textIn(fields.title) || slug.replaceAll('-', ' '),
    dek: textIn(fields.description ?? fields.summary ?? fields.excerpt ?? fields.subtitle),
    categories: categories.length > 0 || folderName === undefined ? categories : [folderName],
    tags: namesIn(fields.tags, isLiquid),
    authors: authorsIn(fields.authors ?? fields.author ?? membersIn(fields.params).author, authors),
    published_at: date,
    draft: isDraft ? 'it is a draft' : null,
    body: { html: htmlOf(path, plainTemplates(body, generator.templates, notes), problemOf) },
    image: imageIn(fields),
    origin: address.startsWith('/') ? address : `/${address}`,
    aliases: namesIn(fields.aliases ?? fields.redirect_from, false),
    language: textIn(fields.lang ?? fields.language) || null,
    folder: dirname(path),
    notes,
  };
}

/** Throws `ArchiveError` for a text that takes too long to parse. */
function htmlOf(path: string, body: string, problemOf: MarkdownProblem): string {
  if (/\.html?$/i.test(path)) return body;
  return renderMarkdown(body, problemOf);
}

/** The piece's picture, under the names that themes have for it. */
function imageIn(fields: Fields): SourcePiece['image'] {
  const given =
    [fields.image, fields.cover, fields.featured_image, fields.thumbnail, fields.hero].find(Boolean) ??
    first(fields.images);
  const { path, src = path, image = src, url = image, alt, caption } = membersIn(given);
  const found = typeof given === 'string' ? given : textIn(url);
  return found === '' ? null : { src: found, alt: textIn(alt ?? fields.image_alt), credit: textIn(caption) || null };
}

/** Names in a list or in one text, which Jekyll splits at spaces. */
function namesIn(value: unknown, dividesText: boolean): string[] {
  const names = Array.isArray(value) ? value.map(textIn) : dividesText ? textIn(value).split(/\s+/) : [textIn(value)];
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** The names of people: texts, objects with a name, or keys of the site's file of authors. */
function authorsIn(value: unknown, known: Fields): string[] {
  const all = Array.isArray(value) ? value : [value];
  return all
    .map((one) => textIn(membersIn(known[textIn(one)]).name) || textIn(membersIn(one).name) || textIn(one))
    .filter((name) => name !== '');
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined);

function timeOf(value: unknown): string | null {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  return textIn(value) || null;
}
