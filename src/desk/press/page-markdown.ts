import TurndownService from 'turndown';

/** The most of a page that is turned into Markdown, in UTF-16 units: a longer one would hold up other requests. */
export const PAGE_MARKDOWN_MAX = 300_000;

/** What a page has for the eye or for the hand alone. */
const LEFT_OUT = ['script', 'style', 'form', 'button', 'template', 'noscript', 'audio', 'video', 'iframe'] as const;
/** Turndown’s types name no elements of SVG. */
const DRAWINGS = ['svg'] as unknown as (typeof LEFT_OUT)[number][];

function service(url: string): TurndownService {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '_',
  });
  const escapeText = turndown.escape;
  // Raw HTML is text here.
  turndown.escape = (text) => escapeText(text).replace(/[<&]/g, '\\$&');
  turndown.remove([...LEFT_OUT, ...DRAWINGS]);
  const absolute = (address: string | null) => URL.parse(address ?? '', url)?.href ?? '';
  turndown.addRule('picture', {
    filter: 'img',
    replacement(_content, node) {
      const { alt, src } = attributesOf(node);
      // What is not described decorates.
      return alt === '' ? '' : `![${escapeText(alt)}](${absolute(src)})`;
    },
  });
  turndown.addRule('link', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement(content, node) {
      const text = content.replace(/\s+/g, ' ').trim();
      return text === '' ? '' : `[${text}](${absolute(attributesOf(node).href)})`;
    },
  });
  // The page sets times apart by its style.
  turndown.addRule('time', { filter: 'time', replacement: (content) => ` ${content}` });
  return turndown;
}

/** The attributes that the rules read. */
function attributesOf(node: unknown): { alt: string; src: string | null; href: string | null } {
  const element = node as { getAttribute(name: string): string | null };
  return {
    alt: (element.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim(),
    src: element.getAttribute('src'),
    href: element.getAttribute('href'),
  };
}

/**
 * A page of a paper in Markdown: its title and address as front matter, and what its main part says. Links are absolute.
 * Null for a page without a main part, and for one that is longer than `PAGE_MARKDOWN_MAX`.
 */
export function pageMarkdown(html: string, url: string): string | null {
  if (html.length > PAGE_MARKDOWN_MAX) return null;
  const start = html.indexOf('<main');
  const end = html.lastIndexOf('</main>');
  if (start === -1 || end < start) return null;
  const title = /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '';
  const turndown = service(url);
  const body = turndown.turndown(html.slice(start, end + '</main>'.length)).trim();
  const named = turndown.turndown(title);
  return `---\ntitle: ${JSON.stringify(named.replaceAll('\\', ''))}\nurl: ${JSON.stringify(url)}\n---\n\n${body}\n`;
}
