import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { plainFile } from '../../../src/shared/files/plain-file.ts';
import type { DeskEnv } from '../../env.ts';
import { type Headers, respond } from '../../responses/headers.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { sendShared } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';

const TYPE = { 'Content-Type': 'text/markdown; charset=utf-8' };

/** Whether a file of a paper’s tree is a page that has a Markdown version. */
export const isPage = (file: string): boolean =>
  file.endsWith('.html') && !/^\/embed\/|^\/subscribe\/sample\/|\/embed\/index\.html$/.test(file);

/**
 * Whether a caller prefers Markdown to HTML, by its q-values (RFC 9110, section 12.5.1). It must name Markdown; where
 * both are as good, the one that it names first is sent.
 */
export function prefersMarkdown(c: Context): boolean {
  const header = c.req.header('accept');
  if (header === undefined || !/text\/markdown/i.test(header)) return false;
  const chosen = accepts(c, {
    header: 'Accept',
    supports: ['text/html', 'text/markdown'],
    default: 'text/html',
    match(named) {
      const rankOf = (types: string[]) => {
        for (const type of types) {
          const at = named.findIndex((one) => one.type.toLowerCase() === type);
          if (at !== -1) return { q: named[at]?.q ?? 0, at: type.includes('*') ? named.length : at };
        }
        return { q: 0, at: named.length };
      };
      const markdown = rankOf(['text/markdown']);
      const page = rankOf(['text/html', 'text/*', '*/*']);
      const isBetter = markdown.q > page.q || (markdown.q === page.q && markdown.at < page.at);
      return markdown.q > 0 && isBetter ? 'text/markdown' : 'text/html';
    },
  });
  return chosen === 'text/markdown';
}

/** The file with a page’s Markdown version; null for pages whose Markdown is converted from their HTML. */
function markdownFile(file: string): string | null {
  if (file === '/agents/index.html') return '/agents/SKILL.md';
  const slug = /^\/stories\/([^/]+)\/index\.html$/.exec(file)?.[1];
  return slug === undefined ? null : `/stories/${slug}.md`;
}

interface Page {
  folder: string;
  file: string;
  status: 200 | 410;
  /** The page’s address. */
  url: string;
  headers: Headers;
}

/** Sends pages of a pressed tree in Markdown: the pressed file if there is one, else converted from the page. */
export function markdownPages() {
  const cache = new ResponseCache();
  return async (c: Context<DeskEnv>, { folder, file, status, url, headers }: Page): Promise<Response | null> => {
    const pressed = markdownFile(file);
    if (pressed !== null && plainFile(folder, pressed) !== null) {
      return sendFile(c, { file: join(folder, pressed), status, headers: { ...headers, ...TYPE } });
    }
    const found = plainFile(folder, file);
    if (found === null) return null;
    const state = `${found.mtimeMs} ${found.size} ${url}`;
    const made = await cache.load(`${folder} ${file}`, state, async () => {
      // Loaded on demand, because most requests want no Markdown, and the parser is large.
      const { pageMarkdown } = await import('../../../src/desk/press/page-markdown.ts');
      return pageMarkdown(await readFile(join(folder, file), 'utf8'), url) ?? '';
    });
    if (made.bytes.length === 0) return null;
    if (status === 200) return sendShared(c, made, { ...headers, ...TYPE });
    return respond(c, made.bytes, status, { ...headers, ...TYPE, ETag: made.etag });
  };
}
