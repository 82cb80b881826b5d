// Makes Starlight's pages of the manual's Markdown, which GitHub shows as it is: a page's heading becomes its title, the
// line that says for whom it is becomes its description, and links between files become links between pages.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DOCS = join(HERE, '../docs');
const PAGES = join(HERE, 'src/content/docs/manual');

/** Files of the repository beside `docs/` that are pages as well, by their address below the manual. */
const BESIDE = { '../CONTRIBUTING.md': 'contributing', '../CHANGELOG.md': 'changelog', '../SECURITY.md': 'security' };

/** The Markdown files by their path from `docs/`. */
const pagePaths = () => [...globSync('**/*.md', { cwd: DOCS }), ...Object.keys(BESIDE)];

/** The address of a page below the manual, from the path of its file: `decisions/README.md` is `decisions`. */
const slugOf = (path) => BESIDE[path] ?? path.replace(/(?:\/README)?\.md$/, '');

/**
 * Writes every page into the content collection and the pictures into `public`. `root` is the path that the site is
 * served at, with a slash at its end; `repository` the address of the files that are no pages, or undefined.
 */
export function writeManual({ root, repository }) {
  rmSync(PAGES, { recursive: true, force: true });
  const paths = new Set(pagePaths());
  for (const path of paths) {
    const to = join(PAGES, `${slugOf(path)}.md`);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, pageOf(readFileSync(join(DOCS, path), 'utf8'), path, { paths, root, repository }));
  }
  cpSync(join(HERE, '../public/favicon.svg'), join(HERE, 'public/favicon.svg'));
  const pictures = join(HERE, 'public/pictures');
  cpSync(join(DOCS, 'architecture.svg'), join(pictures, 'architecture.svg'));
  for (const name of globSync('*.jpg', { cwd: join(HERE, '../.github') })) {
    cpSync(join(HERE, '../.github', name), join(pictures, name));
  }
}

function pageOf(markdown, path, links) {
  const [, title, body] = /^# (.+)\n([\s\S]*)$/.exec(markdown) ?? [];
  if (title === undefined) throw new Error(`${path}: begin the page with its title, as in # Backups`);
  const forWhom = /^\s*_(For [^_]+)_\n/.exec(body)?.[1];
  const head = { title, slug: `manual/${slugOf(path)}`, ...(forWhom && { description: forWhom }) };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join('\n')}\n---\n${linked(body, path, links)}`;
}

/** Points the links of a page at pages of the site. Code is left alone. A file that is no page is named, not linked. */
function linked(body, path, { paths, root, repository }) {
  const link = /^```[\s\S]*?^```|`[^`\n]*`|\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)/gm;
  return body.replace(link, (found, text, to, anchor = '') => {
    if (to === undefined || /^[a-z]+:/.test(to)) return found;
    const file = posix.join(posix.dirname(path), to);
    if (paths.has(file)) return `[${text}](${root}manual/${slugOf(file)}/${anchor})`;
    if (/\.(?:jpg|svg)$/.test(file)) return `[${text}](${root}pictures/${posix.basename(file)})`;
    const source = posix.join('docs', file);
    return repository === undefined
      ? `${text} (\`${source}\`)`
      : `[${text}](${repository}/blob/main/${source}${anchor})`;
  });
}
