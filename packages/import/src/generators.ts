import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { ArchiveError } from './archive-error.ts';
import type { Fields } from './front-matter.ts';
import { membersIn } from './members.ts';
import type { TemplateKind } from './templates.ts';

/** A name that begins with a day: `2019-05-20-two-ferries`. */
export const DATED = /^(\d{4}-\d\d?-\d\d?)-(.+)$/;

/** The conventions of a generator's folders. */
export interface Generator {
  system: string;
  templates: TemplateKind;
  /** The names of its settings file; the first one that exists counts. */
  settings: string[];
  /** The folders of the site in which pictures with a root-relative address are. */
  roots: string[];
  /** Whether a file is a piece; else the reason why not, or null for files that need no mention. */
  isPiece(path: string, fields: Fields): true | string | null;
  /** The root-relative address of a piece that does not set one itself. */
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

/** The generator whose sources are in a folder. Throws `ArchiveError` when none is recognized. */
export function generatorOf(folder: string): keyof typeof GENERATORS {
  const has = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  const names = readdirSync(folder);
  if (has('_config.yml') || has('_posts')) return 'jekyll';
  if (names.some((name) => /^(?:\.eleventy|eleventy\.config)\.[cm]?js$/.test(name))) return 'eleventy';
  if (has('content') && HUGO.settings.some(has)) return 'hugo';
  throw new ArchiveError(
    `${folder} is no folder of Hugo, Jekyll or Eleventy: it has none of their settings; name the folder of the site, or say which with --from`,
  );
}

/** The name of a file without its extension; for a page bundle, the name of its folder. */
export function stem(path: string): string {
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

/** A field that is a text, or a number; empty for any other. */
export function textIn(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}
