import { isUtf8 } from 'node:buffer';
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import markdownit from 'markdown-it';
import { membersIn } from '../../../proof/narrow.ts';
import { Fault } from '../../../shared/fault.ts';
import { plainFile } from '../../../shared/files/plain-file.ts';
import { excessIn } from '../../door/prose-bounds.ts';
import { type Fields, frontMatter, settingsIn } from './front-matter.ts';
import { ITEM_MAX, type Source, type SourceItem, type SourcePiece } from './source.ts';
import { plainTemplates, type TemplateKind } from './templates.ts';

/** How many files a folder may hold. */
const FILES_MAX = 500_000;
/** Folders of programs and of what they make, which hold no sources. */
const LEFT_OUT = new Set(['node_modules', '_site', 'resources', 'vendor', 'themes', '_includes', '_layouts', '_sass']);
const TEXTS = new Set(['.md', '.markdown', '.mkd', '.html', '.htm']);
const DATED = /^(\d{4}-\d\d?-\d\d?)-(.+)$/;

const markdown = markdownit({ html: true });

/** What tells the folders of one generator from those of another. */
interface Generator {
  system: string;
  templates: TemplateKind;
  /** The files of settings, of which the first that is there counts. */
  settings: string[];
  /** Where pictures with an address from the site's root are, below the folder of the site. */
  roots: string[];
  /** Whether a file is a piece; a reason when it is not, null for one that is not worth a word. */
  isPiece(path: string, fields: Fields): true | string | null;
  /** The address of a piece without one of its own, from the site's root. */
  address(piece: Addressed, settings: Fields): string;
}

interface Addressed {
  path: string;
  fields: Fields;
  slug: string;
  /** `2019-05-20`, or empty. */
  day: string;
  categories: string[];
}

const HUGO: Generator = {
  system: 'Hugo',
  templates: 'hugo',
  settings: [
    'hugo.toml',
    'hugo.yaml',
    'hugo.yml',
    'hugo.json',
    'config.toml',
    'config.yaml',
    'config.yml',
    'config.json',
  ],
  roots: ['static', 'assets', 'content', ''],
  isPiece(path, { date, draft }) {
    if (!path.startsWith('content/') || /(?:^|\/)_index\.\w+$/.test(path)) return null;
    return date !== undefined || draft === true ? true : 'it has no date, and so is a page';
  },
  address({ path, fields, slug, day }, settings) {
    const [section = ''] = path.slice('content/'.length).split('/');
    const pattern = membersIn(settings.permalinks)[section] ?? membersIn(membersIn(settings.permalinks).page)[section];
    if (typeof pattern === 'string') {
      return filled(pattern, {
        section,
        slug,
        slugorfilename: slug,
        filename: stem(path),
        title: textIn(fields.title),
        ...dateParts(day),
      });
    }
    const folder = dirname(path.slice('content/'.length)).replace(/^\.$/, '');
    const parent = isBundle(path) ? dirname(folder).replace(/^\.$/, '') : folder;
    return `/${parent === '' ? '' : `${parent}/`}${slug}/`.toLowerCase().replaceAll(' ', '-');
  },
};

const STYLES: Record<string, string> = {
  date: '/:categories/:year/:month/:day/:title.html',
  pretty: '/:categories/:year/:month/:day/:title/',
  none: '/:categories/:title.html',
};

const JEKYLL: Generator = {
  system: 'Jekyll',
  templates: 'liquid',
  settings: ['_config.yml', '_config.yaml', '_config.toml'],
  roots: ['', 'assets'],
  isPiece(path) {
    if (/(?:^|\/)_(?:posts|drafts)\//.test(path)) return true;
    return path.includes('/_') || path.startsWith('_') || !path.endsWith('.md')
      ? null
      : 'it is not in _posts, and so is a page';
  },
  address({ slug, day, categories }, { permalink, baseurl }) {
    const style = textIn(permalink) || 'date';
    const pattern = (STYLES[style] ?? style).replace(':output_ext', '.html');
    const folders = categories.map((name) => name.toLowerCase().replaceAll(' ', '-')).join('/');
    return `${textIn(baseurl)}${filled(pattern, { categories: folders, title: slug, slug, ...dateParts(day) })}`;
  },
};

const ELEVENTY: Generator = {
  system: 'Eleventy',
  templates: 'liquid',
  settings: [],
  roots: ['', 'src', 'public', 'static', 'content'],
  isPiece(path, { date }) {
    if (/(?:^|\/)(?:readme|license|changelog|contributing)\.\w+$/i.test(path)) return null;
    if (!/\.(?:md|markdown)$/.test(path)) return null;
    return date !== undefined || DATED.test(stem(path)) ? true : 'it has no date, and so is a page';
  },
  address({ path, slug }) {
    const folder = dirname(path).replace(/^(?:src|content)(?:\/|$)|^\.$/, '');
    const parent = isBundle(path) ? dirname(folder).replace(/^\.$/, '') : folder;
    return `/${parent === '' ? '' : `${parent}/`}${slug}/`;
  },
};

export const GENERATORS = { hugo: HUGO, jekyll: JEKYLL, eleventy: ELEVENTY };

/** The generator whose sources are in a folder. Throws `invalid_request` when none is recognized. */
export function generatorOf(folder: string): keyof typeof GENERATORS {
  const has = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  const names = readdirSync(folder);
  if (has('_config.yml') || has('_posts')) return 'jekyll';
  if (names.some((name) => /^(?:\.eleventy|eleventy\.config)\.[cm]?js$/.test(name))) return 'eleventy';
  if (has('content') && HUGO.settings.some(has)) return 'hugo';
  throw new Fault(
    'invalid_request',
    `${folder} is no folder of Hugo, Jekyll or Eleventy: it has none of their settings; name the folder of the site, or say which with --from`,
  );
}

/** The sources of a site. Links are not followed, and nothing outside of the folder is read. */
export function folderSource(folder: string, generator: Generator): Source {
  let known: { title: string; url: string | null; settings: Fields; authors: Fields } | null = null;
  const site = async () => {
    known ??= siteIn(folder, generator);
    return known;
  };
  return {
    system: generator.system,
    site,
    close() {},
    async file(path, from) {
      const { url } = await site();
      const local = url !== null && path.startsWith(url) ? `/${path.slice(url.length).replace(/^\//, '')}` : path;
      if (/^[a-z][a-z0-9+.-]*:/i.test(local)) return null;
      const plain = decoded(local.replace(/[?#].*$/, ''));
      const candidates = plain.startsWith('/')
        ? generator.roots.map((root) => join('/', root, plain))
        : [join('/', from, plain)];
      // A path that leaves the folder ends at its root, because it is joined to one.
      const found = candidates.find((candidate) => plainFile(folder, candidate) !== null);
      return found === undefined ? null : () => createReadStream(join(folder, found));
    },
    async *items() {
      const { settings, authors } = await site();
      for (const path of textsIn(folder)) {
        const item = itemOf(folder, path, generator, settings, authors);
        if (item !== null) yield item;
      }
    },
  };
}

function siteIn(folder: string, generator: Generator) {
  const name = generator.settings.find((one) => plainFile(folder, `/${one}`) !== null);
  const settings = name === undefined ? {} : settingsIn(name, readFileSync(join(folder, name), 'utf8'));
  const people = ['_data/authors.yml', 'data/authors.yaml', 'data/authors.yml'].find(
    (one) => plainFile(folder, `/${one}`) !== null,
  );
  const authors = people === undefined ? {} : settingsIn(people, readFileSync(join(folder, people), 'utf8'));
  const url = textIn(settings.baseURL ?? settings.baseurl ?? settings.url);
  const address = URL.parse(textIn(settings.url) || url)?.href ?? null;
  return { title: textIn(settings.title), url: address, settings, authors };
}

/** The paths of the texts of a site, sorted, so that the same folder is always read in the same order. */
function textsIn(folder: string): string[] {
  const found: string[] = [];
  let count = 0;
  const read = (at: string) => {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) continue;
      if (++count > FILES_MAX)
        throw new Fault('invalid_request', `${folder} has more than ${FILES_MAX} files; name the folder of the site`);
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) read(path);
      else if (entry.isFile() && TEXTS.has(extname(entry.name).toLowerCase())) found.push(path);
    }
  };
  read('');
  return found.sort();
}

function itemOf(
  folder: string,
  path: string,
  generator: Generator,
  settings: Fields,
  authors: Fields,
): SourceItem | null {
  const of = { where: path, line: 1, title: '' };
  const bytes =
    (lstatSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0) > ITEM_MAX
      ? null
      : readFileSync(join(folder, path));
  if (bytes === null) return { ...of, problem: { field: 'prose', message: 'the file is longer than 16 MB; split it' } };
  if (!isUtf8(bytes))
    return { ...of, problem: { field: 'file', message: 'the file is not in UTF-8; save it in UTF-8' } };
  try {
    const { fields, body } = frontMatter(bytes.toString());
    const isPiece = generator.isPiece(path, fields);
    if (isPiece === null) return null;
    const title = textIn(fields.title);
    if (isPiece !== true) return { ...of, title, skipped: isPiece };
    return { ...of, title, piece: pieceOf(path, fields, body, generator, settings, authors) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // A page with an odd head is none of the archive's pieces.
    if (generator.isPiece(path, {}) !== true && generator.isPiece(path, { date: '' }) !== true) return null;
    return { ...of, problem: { field: 'front matter', message: error.message } };
  }
}

function pieceOf(
  path: string,
  fields: Fields,
  body: string,
  generator: Generator,
  settings: Fields,
  authors: Fields,
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
    body: { html: htmlOf(path, plainTemplates(body, generator.templates, notes)) },
    image: imageIn(fields),
    origin: address.startsWith('/') ? address : `/${address}`,
    aliases: namesIn(fields.aliases ?? fields.redirect_from, false),
    language: textIn(fields.lang ?? fields.language) || null,
    folder: dirname(path),
    notes,
  };
}

/** Throws `invalid_request` for a text that takes too long to parse. */
function htmlOf(path: string, body: string): string {
  if (/\.html?$/i.test(path)) return body;
  const [excess] = excessIn(body);
  if (excess !== undefined) throw new Fault('invalid_request', excess.message);
  return markdown.render(body);
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

/** Names in a list, or in one text, which Jekyll divides at its spaces. */
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

function textIn(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined);

function timeOf(value: unknown): string | null {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  return textIn(value) || null;
}

/** The name of a file without its ending; of a bundle, that of its folder. */
function stem(path: string): string {
  return isBundle(path) ? basename(dirname(path)) : basename(path, extname(path));
}

const isBundle = (path: string): boolean => /\/index\.\w+$/.test(path);

function dateParts(day: string): Record<string, string> {
  const [year = '', month = '', date = ''] = day.split('-');
  return {
    year,
    month,
    day: date,
    i_month: String(Number(month)),
    i_day: String(Number(date)),
    short_year: year.slice(2),
  };
}

/** An address with its `:names` filled in, each once. */
function filled(pattern: string, values: Record<string, string>): string {
  return pattern.replace(/:([a-z_]+)/g, (all, name: string) => values[name] ?? all).replace(/\/{2,}/g, '/');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
