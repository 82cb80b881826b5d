import { isUtf8 } from 'node:buffer';
import { createReadStream, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { extname, join } from 'node:path';
import { ArchiveError, messageOf } from './archive-error.ts';
import { decodedText } from './decoded-text.ts';
import { type Fields, frontMatter, settingsIn } from './front-matter.ts';
import { type Generator, textIn } from './generators.ts';
import { pieceOf } from './site-piece.ts';
import { ITEM_MAX, type MarkdownProblem, type Source, type SourceItem } from './source.ts';

/** How many files a folder may hold. */
const FILES_MAX = 500_000;
/** Folders of programs and of their output, which hold no sources. */
const LEFT_OUT = new Set(['node_modules', '_site', 'resources', 'vendor', 'themes', '_includes', '_layouts', '_sass']);
const TEXTS = new Set(['.md', '.markdown', '.mkd', '.html', '.htm']);

/** The sources of a site. Links are not followed, and nothing outside of the folder is read. */
export function folderSource(given: string, generator: Generator, problemOf: MarkdownProblem): Source {
  const folder = realpathSync(given);
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
      const plain = decodedText(local.split(/[?#]/)[0] ?? '');
      const candidates = plain.startsWith('/')
        ? generator.roots.map((root) => join('/', root, plain))
        : [join('/', from, plain)];
      // A path with `..` cannot leave the folder, because it is resolved from `/` first.
      const found = candidates.find((candidate) => isPlainFile(folder, candidate));
      return found === undefined ? null : () => createReadStream(join(folder, found));
    },
    async *items() {
      const { settings, authors } = await site();
      for (const path of textsIn(folder)) {
        const item = itemOf(folder, path, generator, settings, authors, problemOf);
        if (item !== null) yield item;
      }
    },
  };
}

/** Whether there is a file below a folder, with no link in its path: a link could lead to any file of this machine. */
function isPlainFile(folder: string, path: string): boolean {
  try {
    const whole = join(folder, path);
    return lstatSync(whole).isFile() && realpathSync(whole) === whole;
  } catch {
    // No such file, or a name that the file system cannot represent.
    return false;
  }
}

function siteIn(folder: string, generator: Generator) {
  const name = generator.settings.find((one) => isPlainFile(folder, `/${one}`));
  const settings = name === undefined ? {} : settingsIn(name, readFileSync(join(folder, name), 'utf8'));
  const people = ['_data/authors.yml', 'data/authors.yaml', 'data/authors.yml'].find((one) =>
    isPlainFile(folder, `/${one}`),
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
        throw new ArchiveError(`${folder} has more than ${FILES_MAX} files; name the folder of the site`);
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
  problemOf: MarkdownProblem,
): SourceItem | null {
  const of = { where: path, line: 1, title: '' };
  const bytes = bytesIn(join(folder, path));
  if (typeof bytes === 'string') return { ...of, problem: { field: 'file', message: bytes } };
  if (bytes === null) return { ...of, problem: { field: 'prose', message: 'the file is longer than 16 MB; split it' } };
  if (!isUtf8(bytes))
    return { ...of, problem: { field: 'file', message: 'the file is not in UTF-8; save it in UTF-8' } };
  try {
    const { fields, body } = frontMatter(bytes.toString());
    const isPiece = generator.isPiece(path, fields);
    if (isPiece === null) return null;
    const title = textIn(fields.title);
    if (isPiece !== true) return { ...of, title, skipped: isPiece };
    return { ...of, title, piece: pieceOf(path, fields, body, { generator, settings, authors, problemOf }) };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    // Ignore unreadable front matter in files that are no pieces with any front matter.
    if (generator.isPiece(path, {}) !== true && generator.isPiece(path, { date: '' }) !== true) return null;
    return { ...of, problem: { field: 'front matter', message: error.message } };
  }
}

/** The bytes of a file; null for one that is too long, and why it cannot be read. */
function bytesIn(file: string): Buffer | null | string {
  try {
    return lstatSync(file).size > ITEM_MAX ? null : readFileSync(file);
  } catch (error) {
    return `the file cannot be read (${messageOf(error)}); see to it, and import again`;
  }
}
