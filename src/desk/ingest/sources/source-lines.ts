import { setImmediate as nextTurn } from 'node:timers/promises';
import { aliasesFrom, aliasFormProblem } from '../../door/alias.ts';
import { SLUG } from '../../door/door.ts';
import { MAX } from '../../door/piece.ts';
import { tagsFrom } from '../../door/tag.ts';
import type { Media } from '../../papers/media.ts';
import { latinWords } from '../../papers/slug.ts';
import { type ArchiveLines, lineProblems, type NumberedLine, parsedValue } from '../import-lines.ts';
import { markdownOf } from './html-markdown.ts';
import { type Mapping, namedAuthors, placed } from './mapping.ts';
import type { FoundPicture, Pictures } from './pictures.ts';
import type { Source, SourceItem, SourcePiece } from './source.ts';
import { textOfHtml, tidyHtml } from './tidy-html.ts';

const BATCH = 50;
/** A batch ends where its texts have so many UTF-16 units. */
const BATCH_LENGTH = 2_000_000;
/** How many pictures of a piece are fetched at a time. */
const FETCHES = 4;
/** The longest headline, in UTF-16 units, that is made of a text. */
const HEADLINE_CUT = 80;

/**
 * The pieces of another system as lines of an archive, which the import reads as it reads JSON Lines: HTML becomes
 * Markdown, pictures become media files, names go through the mapping.
 */
export function sourceLines(
  source: Source,
  mapping: Mapping,
  pictures: Pictures,
  siteUrl: string | null,
): ArchiveLines {
  return {
    noSection:
      'no published piece or draft of the archive has a category, or there is none; look with --dry-run, and name a section for all with --section',
    async sections() {
      const sections = new Set<string>();
      for await (const item of source.items()) {
        const section = 'piece' in item ? placed(mapping, plain(item.piece.categories)).section : null;
        if (section !== null) sections.add(section);
      }
      return [...sections].sort((a, b) => a.localeCompare(b, 'en'));
    },
    async *batches() {
      const site = await source.site();
      const converter = new Converter(mapping, pictures, { title: site.title, url: siteUrl ?? site.url });
      let batch: NumberedLine[] = [];
      let length = 0;
      for await (const item of source.items()) {
        const line = await converter.line(item);
        batch.push(line);
        length += 'piece' in item ? item.piece.body.html.length : 0;
        if (batch.length < BATCH && length < BATCH_LENGTH) continue;
        yield batch;
        [batch, length] = [[], 0];
        await nextTurn();
      }
      yield batch;
    },
  };
}

/** Makes lines of items, in the order of the archive, so that the same archive always makes the same lines. */
class Converter {
  readonly #mapping: Mapping;
  readonly #pictures: Pictures;
  readonly #site: { title: string; url: string | null };
  /** How many pieces have had each slug. */
  readonly #slugs = new Map<string, number>();
  readonly #aliases = new Set<string>();

  constructor(mapping: Mapping, pictures: Pictures, site: { title: string; url: string | null }) {
    this.#mapping = mapping;
    this.#pictures = pictures;
    this.#site = site;
  }

  async line(item: SourceItem): Promise<NumberedLine> {
    const of = { line: item.line, where: item.where, title: textOfHtml(item.title), notes: [], media: [], shows: [] };
    if ('skipped' in item) return { ...of, parsed: null, skipped: item.skipped };
    if ('problem' in item) {
      return { ...of, parsed: { problems: [{ ...item.problem, rule: 'refused' }], rest: null } };
    }
    try {
      return { ...of, ...(await this.#converted(item.piece)) };
    } catch (error) {
      return {
        ...of,
        parsed: { problems: lineProblems(error).map((one) => ({ ...one, field: 'prose' })), rest: null },
      };
    }
  }

  async #converted(piece: SourcePiece): Promise<Pick<NumberedLine, 'parsed' | 'notes' | 'media' | 'shows'>> {
    if (piece.draft === null && piece.published_at === null) {
      const message = 'the archive has no date of it; set one where it was published, or make it a draft there';
      return {
        parsed: { problems: [{ field: 'published_at', rule: 'refused', message }], rest: null },
        notes: [],
        media: [],
        shows: [],
      };
    }
    const base = piece.origin !== null && /^https?:/.test(piece.origin) ? piece.origin : this.#site.url;
    const resolved = URL.parse(piece.origin ?? '', this.#site.url ?? undefined)?.href ?? base;
    const original = piece.original === undefined ? {} : { original: piece.original };
    const hasFiles = piece.folder !== undefined;
    const options = { base: resolved, hasFiles, ...original };
    const tidy = tidyHtml(piece.body.html, { ...options, ...(piece.body.isAutop ? { isAutop: true } : {}) });
    const notes = [...(piece.notes ?? []), ...tidy.notes];
    const own =
      piece.image === null
        ? []
        : [URL.parse(piece.image.src, hasFiles ? undefined : (resolved ?? undefined))?.href ?? piece.image.src];
    const found = await this.#found([...own, ...tidy.pictures], piece.folder ?? '');
    for (const [address, picture] of found) {
      if ('missing' in picture) notes.push(`the picture ${address} was left out (${picture.missing})`);
    }
    const pathOf = (address: string): string | null => {
      const picture = found.get(address);
      return picture !== undefined && 'path' in picture ? picture.path : null;
    };
    const prose = markdownOf(tidy.html, pathOf);
    const categories = plain(piece.categories);
    const { section, tags } = placed(this.#mapping, categories);
    const headline = textOfHtml(piece.headline) || cut(textOfHtml(piece.body.html), HEADLINE_CUT) || 'Untitled';
    const image = own[0] === undefined ? null : pathOf(own[0]);
    const isArchive = piece.draft === null;
    const value = {
      slug: this.#slugOf(piece, headline),
      headline,
      dek: cut(textOfHtml(piece.dek), MAX.dek),
      section: section ?? '',
      published_at: piece.published_at === null ? undefined : timeOf(piece.published_at),
      draft: !isArchive,
      ...(isArchive ? { provenance: 'archive' } : {}),
      prose,
      cited_facts: [],
      lang: piece.language,
      authors: namedAuthors(this.#mapping, plain(piece.authors), this.#site.title),
      tags: this.#tagsOf([...tags, ...plain(piece.tags)], section, notes),
      origin: isArchive && /^https?:/.test(resolved ?? '') && piece.origin !== null ? resolved : null,
      aliases: isArchive ? this.#aliasesOf(piece, notes) : [],
      image: image === null || piece.image === null ? null : { ...piece.image, src: image },
    };
    const media = [...found.values()].flatMap((one) => ('media' in one && one.media !== null ? [one.media] : []));
    const shows = [...found.values()].flatMap((one) => ('path' in one ? [one.path] : []));
    return { parsed: parsedValue(value), notes, media: unique(media), shows };
  }

  /** Every picture, a few at a time. */
  async #found(addresses: string[], folder: string): Promise<Map<string, FoundPicture>> {
    const found = new Map<string, FoundPicture>();
    const all = [...new Set(addresses)];
    for (let at = 0; at < all.length; at += FETCHES) {
      const some = all.slice(at, at + FETCHES);
      const pictures = await Promise.all(some.map((address) => this.#pictures.find(address, folder)));
      for (const [index, address] of some.entries()) found.set(address, pictures[index] as FoundPicture);
    }
    return found;
  }

  /** The slug of the other system if it can be one here; a number tells two pieces with one name apart. */
  #slugOf({ slug }: SourcePiece, headline: string): string {
    const given = decodedText(slug).toLowerCase();
    const words = SLUG.test(given) ? given : latinWords(given).join('-') || latinWords(headline).join('-');
    const base = words.slice(0, MAX.slug - 6).replace(/-$/, '') || 'piece';
    const count = (this.#slugs.get(base) ?? 0) + 1;
    this.#slugs.set(base, count);
    return count === 1 ? base : `${base}-${count}`;
  }

  #tagsOf(names: string[], section: string | null, notes: string[]): string[] {
    const tags = tagsFrom(names.filter((name) => name !== section));
    const fitting = tags.filter((name) => name.length <= MAX.tag && name !== '');
    const left = [...tags.filter((name) => name.length > MAX.tag), ...fitting.slice(MAX.tags)];
    if (left.length > 0)
      notes.push(`${left.length} of its tags were left out: ${left.map((name) => JSON.stringify(name)).join(', ')}`);
    return fitting.slice(0, MAX.tags);
  }

  /** The paths of its earlier addresses. Those that cannot lead to it are left out, and said. */
  #aliasesOf({ origin, aliases }: SourcePiece, notes: string[]): string[] {
    const paths = [origin ?? '', ...aliases].flatMap((address) => {
      const url = URL.parse(address, 'http://localhost/');
      if (url === null || address === '' || url.pathname === '/' || url.search !== '') return [];
      return [url.pathname];
    });
    const free = aliasesFrom(paths).filter((alias) => {
      const problem = this.#aliases.has(alias) ? 'another piece has it' : aliasFormProblem(alias)?.message;
      if (problem !== undefined) notes.push(`the earlier address ${alias} was left out: ${problem}`);
      return problem === undefined;
    });
    for (const alias of free) this.#aliases.add(alias);
    return free.slice(0, MAX.aliases);
  }
}

const plain = (names: readonly string[]): string[] => names.map(textOfHtml).filter((name) => name !== '');

function unique(media: Media[]): Media[] {
  return [...new Map(media.map((one) => [one.path, one])).values()];
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text of one line, cut after a word. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.slice(0, max).toWellFormed();
  return `${start.slice(0, Math.max(start.lastIndexOf(' '), max / 2)).trimEnd()}…`.slice(0, max);
}

/** A time as other systems write it, in ISO 8601; the text itself when it is none, for the import to refuse. */
function timeOf(text: string): string {
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|[+-]\d\d:?\d\d)?$/.exec(text.trim()) ?? [];
  const hours = zone.length === 5 && zone !== 'Z' ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  // A day that the calendar does not have is taken for one of the next month.
  if (day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.slice(0, 10) !== day) return text;
  const at = Date.parse(day === undefined ? text : `${day}T${time ?? '00:00'}${hours}`);
  return Number.isNaN(at) ? text : new Date(at).toISOString();
}
