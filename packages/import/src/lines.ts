import { ArchiveError } from './archive-error.ts';
import { decodedText } from './decoded-text.ts';
import { markdownOf } from './html-markdown.ts';
import { type Mapping, namedAuthors, placed } from './mapping.ts';
import type { FoundPicture, MediaKind, Pictures } from './pictures.ts';
import { shown } from './shown.ts';
import type { Source, SourceItem, SourcePiece } from './source.ts';
import { textOfHtml, tidyHtml } from './tidy-html.ts';

/** How many files of a piece are fetched at a time. Sounds one by one, because each is held in memory. */
const FETCHES = { image: 4, audio: 1 };
/** The longest headline that is made from a piece's text, in UTF-16 units. */
const HEADLINE_CUT = 80;
/** The longest title of a piece in messages, in UTF-16 units. */
const TITLE_CUT = 200;
/** The most pictures of a piece: each is fetched, and more would be more markup than a piece may have. */
const PICTURES_MAX = 2_000;
/** The most names that a note lists, and the most notes of a kind about one piece. */
const SHOWN_MAX = 10;
/** The longest address of a piece's first publication that is kept, in UTF-16 units. */
const ORIGIN_MAX = 1_000;

/** The rules of the paper that gets the lines. */
export interface PaperRules {
  /** The most characters of a slug, a dek and a tag, and the most tags and earlier addresses of a piece. */
  max: { slug: number; dek: number; tag: number; tags: number; aliases: number };
  isSlug(text: string): boolean;
  /** The words of a name for a slug, a–z and 0–9, transliterated from any script; empty for a name without letters. */
  words(name: string): string[];
  /** Tags as the paper writes them, each once. */
  tags(names: readonly string[]): string[];
  /** Paths of earlier addresses as the paper writes them, each once. */
  aliases(paths: readonly string[]): string[];
  /** Why a path cannot be an earlier address; null for one that can. */
  aliasProblem(alias: string): string | null;
}

export interface LineOptions {
  mapping: Mapping;
  pictures: Pick<Pictures, 'find'>;
  rules: PaperRules;
  /** Where the archive was published, if it does not say that itself. */
  siteUrl?: string | null;
}

/** The result for one item of an archive. */
export type ArchiveLine = {
  line: number;
  /** Its position in the archive, for messages. */
  where: string;
  title: string;
  /** What was left out or replaced, one sentence each. */
  notes: string[];
  /** Paths of the media files that it shows. */
  shows: string[];
} & (
  | {
      /** The piece, with the members of a line of `broadsheet import` in JSON Lines. */
      value: Record<string, unknown>;
    }
  | {
      /** Why it is skipped: it is not a piece. */
      skipped: string;
    }
  | { problem: { field: string; message: string } }
);

/** The sections that the pieces of an archive have by a mapping, sorted. Throws `ArchiveError`. */
export async function sections(source: Source, mapping: Mapping): Promise<string[]> {
  const found = new Set<string>();
  for await (const item of source.items()) {
    const section = 'piece' in item ? placed(mapping, plain(item.piece.categories)).section : null;
    if (section !== null) found.add(section);
  }
  return [...found].sort((a, b) => a.localeCompare(b, 'en'));
}

/**
 * The items of an archive one by one, in its order: HTML becomes Markdown, pictures become media files, names go
 * through the mapping. The same archive always makes the same lines. Throws `ArchiveError` for an archive that is
 * damaged.
 */
export async function* lines(source: Source, options: LineOptions): AsyncIterable<ArchiveLine> {
  const { title, url } = await source.site();
  const converter = new Converter(options, { title: textOfHtml(title), url: options.siteUrl ?? url });
  for await (const item of source.items()) yield await converter.line(item);
}

class Converter {
  readonly #options: LineOptions;
  readonly #site: { title: string; url: string | null };
  /** How many pieces have had each slug. */
  readonly #slugs = new Map<string, number>();
  readonly #aliases = new Set<string>();

  constructor(options: LineOptions, site: { title: string; url: string | null }) {
    this.#options = options;
    this.#site = site;
  }

  async line(item: SourceItem): Promise<ArchiveLine> {
    const { line, where } = item;
    const of = { line, where, title: cut(textOfHtml(item.title), TITLE_CUT), notes: [], shows: [] };
    if ('skipped' in item) return { ...of, skipped: item.skipped };
    if ('problem' in item) return { ...of, problem: item.problem };
    if (item.piece.draft === null && item.piece.published_at === null) {
      const message = 'the archive has no date of it; set one where it was published, or make it a draft there';
      return { ...of, problem: { field: 'published_at', message } };
    }
    try {
      return { ...of, ...(await this.#converted(item.piece)) };
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return { ...of, problem: { field: 'prose', message: error.message } };
    }
  }

  async #converted(piece: SourcePiece) {
    const { mapping, rules } = this.#options;
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
    const count = tidy.pictures.length + tidy.sounds.length;
    if (count > PICTURES_MAX) {
      const message = `it shows ${count} pictures, more than ${PICTURES_MAX}; split the piece`;
      throw new ArchiveError(message);
    }
    const pictures = await this.#found('image', [...own, ...tidy.pictures], piece.folder ?? '');
    const sounds = await this.#found('audio', tidy.sounds, piece.folder ?? '');
    const found = new Map([...pictures, ...sounds]);
    for (const [address, one] of found) {
      if (!('missing' in one)) continue;
      const what = sounds.has(address) ? 'the sound' : 'the picture';
      notes.push(`${what} ${shown(address)} was left out (${one.missing})`);
    }
    const pathOf = (address: string): string | null => {
      const picture = found.get(address);
      return picture !== undefined && 'path' in picture ? picture.path : null;
    };
    const prose = markdownOf(tidy.html, pathOf);
    const categories = plain(piece.categories);
    const { section, tags } = placed(mapping, categories);
    const headline = textOfHtml(piece.headline) || cut(textOfHtml(piece.body.html), HEADLINE_CUT) || 'Untitled';
    const image = own[0] === undefined ? null : pathOf(own[0]);
    const isArchive = piece.draft === null;
    const value = {
      slug: this.#slugOf(piece, headline),
      headline,
      dek: cut(textOfHtml(piece.dek), rules.max.dek),
      section: section ?? '',
      published_at: piece.published_at === null ? undefined : timeOf(piece.published_at),
      draft: !isArchive,
      ...(isArchive ? { provenance: 'archive' } : {}),
      prose,
      cited_facts: [],
      lang: piece.language,
      authors: namedAuthors(mapping, plain(piece.authors), this.#site.title),
      tags: this.#tagsOf([...tags, ...plain(piece.tags)], section, notes),
      origin: isArchive && piece.origin !== null ? this.#originOf(resolved, notes) : null,
      aliases: isArchive ? this.#aliasesOf(piece, notes) : [],
      image: image === null || piece.image === null ? null : { ...piece.image, src: image },
    };
    const shows = [...found.values()].flatMap((one) => ('path' in one ? [one.path] : []));
    return { value, notes, shows };
  }

  /** The address where the piece was published; null if unknown. */
  #originOf(address: string | null, notes: string[]): string | null {
    if (address === null || !/^https?:/.test(address)) return null;
    if (address.length <= ORIGIN_MAX) return address;
    notes.push(`its address ${shown(address)} was left out: it has more than ${ORIGIN_MAX} characters`);
    return null;
  }

  /** Finds every picture or sound, a few at a time. */
  async #found(kind: MediaKind, addresses: string[], folder: string): Promise<Map<string, FoundPicture>> {
    const found = new Map<string, FoundPicture>();
    const all = [...new Set(addresses)];
    for (let at = 0; at < all.length; at += FETCHES[kind]) {
      const some = all.slice(at, at + FETCHES[kind]);
      const pictures = await Promise.all(some.map((address) => this.#options.pictures.find(address, folder, kind)));
      for (const [index, address] of some.entries()) found.set(address, pictures[index] as FoundPicture);
    }
    return found;
  }

  /** The slug of the other system, if it is valid here. A number distinguishes pieces with the same slug. */
  #slugOf({ slug }: SourcePiece, headline: string): string {
    const { isSlug, words, max } = this.#options.rules;
    const given = decodedText(slug).toLowerCase();
    const name = isSlug(given) ? given : words(given).join('-') || words(headline).join('-');
    const base = name.slice(0, max.slug - 6).replace(/-$/, '') || 'piece';
    let count = this.#slugs.get(base) ?? 0;
    let free: string;
    do free = ++count === 1 ? base : `${base}-${count}`;
    while (count > 1 && this.#slugs.has(free));
    this.#slugs.set(base, count);
    if (count > 1) this.#slugs.set(free, 1);
    return free;
  }

  #tagsOf(names: string[], section: string | null, notes: string[]): string[] {
    const { max, tags: tagsFrom } = this.#options.rules;
    const tags = tagsFrom(names.filter((name) => name !== section));
    const fitting = tags.filter((name) => name.length <= max.tag && name !== '');
    const left = [...tags.filter((name) => name.length > max.tag), ...fitting.slice(max.tags)];
    if (left.length > 0)
      notes.push(
        `${left.length} of its tags were left out: ${left.slice(0, SHOWN_MAX).map(shown).join(', ')}${left.length > SHOWN_MAX ? ' …' : ''}`,
      );
    return fitting.slice(0, max.tags);
  }

  /** The paths of its earlier addresses. Those that cannot redirect to it are left out, with a note. */
  #aliasesOf({ origin, aliases }: SourcePiece, notes: string[]): string[] {
    const paths = [origin ?? '', ...aliases].flatMap((address) => {
      const url = URL.parse(address, 'http://localhost/');
      if (url === null || address === '' || url.pathname === '/' || url.search !== '') return [];
      return [url.pathname];
    });
    const { rules } = this.#options;
    let left = 0;
    const free = rules.aliases(paths).filter((alias) => {
      const problem = this.#aliases.has(alias) ? 'another piece has it' : rules.aliasProblem(alias);
      if (problem !== null && left++ < SHOWN_MAX)
        notes.push(`the earlier address ${shown(alias)} was left out: ${problem}`);
      return problem === null;
    });
    if (left > SHOWN_MAX) notes.push(`${left - SHOWN_MAX} more of its earlier addresses were left out`);
    for (const alias of free) this.#aliases.add(alias);
    return free.slice(0, rules.max.aliases);
  }
}

const plain = (names: readonly string[]): string[] => names.map(textOfHtml).filter((name) => name !== '');

/** A text of one line, cut after a word. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.slice(0, max).toWellFormed();
  return `${start.slice(0, Math.max(start.lastIndexOf(' '), max / 2)).trimEnd()}…`.slice(0, max);
}

/** A time as other systems write it, in ISO 8601. Returns an invalid one unchanged, for the import to reject. */
function timeOf(text: string): string {
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|[+-]\d\d:?\d\d)?$/.exec(text.trim()) ?? [];
  const hours = zone.length === 5 && zone !== 'Z' ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  // Date.parse moves a day that does not exist into the next month.
  if (day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.slice(0, 10) !== day) return text;
  const at = Date.parse(day === undefined ? text : `${day}T${time ?? '00:00'}${hours}`);
  return Number.isNaN(at) ? text : new Date(at).toISOString();
}
