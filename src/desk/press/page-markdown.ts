import TurndownService from 'turndown';

/** Maximum length of a page converted to Markdown, in UTF-16 units. Longer pages would hold up other requests. */
export const PAGE_MARKDOWN_MAX = 300_000;

/** Elements that are only visual or interactive. */
const LEFT_OUT = ['script', 'style', 'form', 'button', 'template', 'noscript', 'audio', 'video', 'iframe'] as const;
/** Turndown’s types do not include SVG elements. */
const DRAWINGS = ['svg'] as unknown as (typeof LEFT_OUT)[number][];

function service(url: string): TurndownService {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '_',
  });
  const escapeText = turndown.escape;
  // Raw HTML is shown as text.
  turndown.escape = (text) => escapeText(text).replace(/[<&]/g, '\\$&');
  turndown.remove([...LEFT_OUT, ...DRAWINGS]);
  const absolute = (address: string | null) => URL.parse(address ?? '', url)?.href ?? '';
  turndown.addRule('picture', {
    filter: 'img',
    replacement(_content, node) {
      const { alt, src } = attributesOf(node);
      // A picture without a description is decorative.
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
  // On the page, styles separate times from the text.
  turndown.addRule('time', { filter: 'time', replacement: (content) => ` ${content}` });
  return turndown;
}

/** The attributes that the rules use. */
function attributesOf(node: unknown): { alt: string; src: string | null; href: string | null } {
  const element = node as { getAttribute(name: string): string | null };
  return {
    alt: (element.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim(),
    src: element.getAttribute('src'),
    href: element.getAttribute('href'),
  };
}

/**
 * A paper's page as Markdown: its title and address as front matter, and the content of its main part. Links are
 * absolute. Returns null for a page without a main part, or longer than `PAGE_MARKDOWN_MAX`.
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
