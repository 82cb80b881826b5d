import type { MarkdownIt, Token } from 'markdown-it';
import markdownit from 'markdown-it';

/**
 * A `[^N]` marker; N counts from 1. It is one wherever it stands, in code and
 * in autolinks too, for the spec lets nobody strip one; `\\[^1]` is none.
 */
const MARKER = /(?<!\\)\[\^(\d{1,6})\]/g;
const MARKER_HERE = /\[\^(\d{1,6})\]/y;

/** The elements of HTML: a tag of another name, such as `<commit-id>`, is plain text. */
const HTML_ELEMENTS = new Set(
  `a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
  button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
  fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
  input ins kbd label legend li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol
  optgroup option output p param picture plaintext pre progress q rp rt ruby s samp script search section select slot
  small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title
  tr track tt u ul var video wbr xmp`.split(/\s+/),
);

/** Reads markers in running text as tokens of their own. */
function markers(md: MarkdownIt): void {
  md.inline.ruler.before('link', 'marker', (state, silent) => {
    MARKER_HERE.lastIndex = state.pos;
    const match = MARKER_HERE.exec(state.src);
    if (match === null) return false;
    if (!silent) {
      const token = state.push('marker', 'sup', 0);
      token.meta = { n: Number(match[1]) };
      token.content = match[0];
    }
    state.pos += match[0].length;
    return true;
  });
}

/** Markdown as the desks write it: CommonMark with tables and strike-through, raw HTML off. */
export const markdown: MarkdownIt = markdownit({ html: false, linkify: false }).use(markers);

/** The same grammar with HTML on, only to find the HTML that a piece must not hold. */
const htmlFinder = markdownit({ html: true });

/** Every marker of a prose, in order, with its offset in UTF-16 units. */
export function markersIn(prose: string): { n: number; offset: number }[] {
  return [...prose.matchAll(MARKER)].map((match) => ({ n: Number(match[1]), offset: match.index }));
}

/** Cuts a text at its markers: texts and numbers, in turn. */
export function splitAtMarkers(text: string): (string | number)[] {
  return text.split(MARKER).map((part, index) => (index % 2 === 0 ? part : Number(part)));
}

/** The addresses of the pictures in a prose. */
export function picturesIn(prose: string): string[] {
  if (!prose.includes('![')) return [];
  return markdown
    .parse(prose, {})
    .flatMap((token) => token.children ?? [])
    .filter((token) => token.type === 'image')
    .map((token) => String(token.attrGet('src') ?? ''));
}

/** The raw HTML in a prose, each as its first tag; comments and declarations too. */
export function rawHtmlIn(prose: string): string[] {
  if (!/<[a-z/!?]/i.test(prose)) return [];
  const found: string[] = [];
  const look = (tokens: Token[]): void => {
    for (const token of tokens) {
      if (token.children) look(token.children);
      if (token.type !== 'html_block' && token.type !== 'html_inline') continue;
      const tag = /<(?:!--|\?|![A-Z[]|\/?([a-z][a-z0-9-]*))[^>]*>?/i.exec(token.content);
      if (tag === null) continue;
      if (tag[1] === undefined || HTML_ELEMENTS.has(tag[1].toLowerCase())) found.push(tag[0].slice(0, 60));
    }
  };
  look(htmlFinder.parse(prose, {}));
  return found;
}

/** Link targets with a scheme that runs or embeds something, also where Markdown leaves them as text. */
export function unsafeLinksIn(prose: string): string[] {
  return [...prose.matchAll(/\]\(\s*<?\s*((?:javascript|vbscript|data|file)\s*:[^)\s]{0,60})/gi)].map(
    (match) => match[1] ?? '',
  );
}

/** The prose as plain words: no mark-up, no markers, blocks parted by newlines. */
export function plainText(prose: string): string {
  const lines: string[] = [];
  for (const token of markdown.parse(prose, {})) {
    if (token.type === 'fence' || token.type === 'code_block') lines.push(token.content.trimEnd());
    if (token.type !== 'inline') continue;
    let line = '';
    for (const child of token.children ?? []) {
      if (child.type === 'softbreak' || child.type === 'hardbreak') line += ' ';
      else if (child.type !== 'marker') line += child.content;
    }
    lines.push(line);
  }
  return lines.join('\n');
}
