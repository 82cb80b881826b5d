import type { MarkdownIt, Token } from 'markdown-it';
import markdownit from 'markdown-it';
import type { Problem } from '../../shared/shape.ts';
import { problem } from '../../shared/shown-text.ts';
import { footnotes, type Mention, type NoteFault, noteFaults, withNotesLast } from './footnotes.ts';
import { markersIn } from './markers.ts';
import { BRACKETED_MAX, bracketed, excessIn } from './prose-bounds.ts';
import { subscribeBox } from './subscribe-box.ts';

const MARKER_HERE = /\[\^(\d{1,6})\]/y;
/** A line that other footnote syntaxes, and CommonMark's link definitions, would consume. */
const MARKER_COLON = /^\[\^\d{1,6}\]:/;

/** The elements of HTML. A tag with another name, such as `<commit-id>`, is plain text. */
const HTML_ELEMENTS = new Set(
  `a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
  button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
  fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
  input ins kbd label legend li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol
  optgroup option output p param picture plaintext pre progress q rp rt ruby s samp script search section select slot
  small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title
  tr track tt u ul var video wbr xmp`.split(/\s+/),
);

/** Parses markers in running text as tokens. */
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
  md.block.ruler.before('reference', 'marker_colon', (state, line, end, silent) => {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    if (!MARKER_COLON.test(state.src.slice(start, state.eMarks[line]))) return false;
    return md.block.ruler.getRules('').at(-1)?.(state, line, end, silent) ?? false;
  });
  // Prevents the joining of texts: an escaped bracket next to a caret must not become a marker again.
  md.core.ruler.at('text_join', ({ tokens }) => {
    for (const child of tokens.flatMap((token) => token.children ?? [])) {
      if (child.type === 'text_special') child.type = 'text';
    }
  });
}

/** The Markdown dialect of desks: CommonMark with tables, strikethrough and footnotes, without raw HTML. */
export const markdown: MarkdownIt = markdownit({ html: false, linkify: false })
  .use(markers)
  .use(footnotes)
  .use(subscribeBox);
markdown.validateLink = isLinkable;

/** The same grammar, only for splitting prose into blocks. */
const blocksOnly = markdownit({ html: false }).use(markers).use(footnotes).use(subscribeBox);
blocksOnly.core.ruler.enableOnly(['normalize', 'block']);

/** The same grammar with HTML, to find the HTML that a piece must not contain. */
const htmlFinder = markdownit({ html: true }).use(footnotes);

/** The same grammar accepting every address, to find those that a piece must not contain. */
const linkFinder = markdownit({ html: false }).use(markers).use(footnotes);
linkFinder.validateLink = () => true;

/** The first paragraph at which too many brackets are open to parse the prose in reasonable time; empty if none is. */
function openBracketProblems(prose: string): Problem[] {
  // Blank lines end paragraphs, so this sum is an upper bound, and most prose passes.
  let most = 0;
  for (const part of prose.split(/\n[ \t]*\n/)) most += bracketed(part);
  if (most <= BRACKETED_MAX) return [];
  let total = 0;
  for (const { content, lines } of paragraphs(prose)) {
    total += bracketed(content);
    if (total <= BRACKETED_MAX) continue;
    const { text, offset } = textLocator(prose)(content.slice(0, 40), lines);
    const message = `by line ${lines[0] + 1} of the prose, in the paragraph that begins ${JSON.stringify(text)}, too many square brackets are open at a time; close them, or write \\[ for one that is text`;
    return [problem('prose', 'open_brackets', message, offset)];
  }
  return [];
}

/** The blocks of running text, with their inline markup not yet parsed. */
function paragraphs(prose: string): { content: string; lines: LineRange }[] {
  const state = new blocksOnly.core.State(prose, blocksOnly, {});
  blocksOnly.core.process(state);
  return [...tokensOf(state.tokens)]
    .filter(([{ type }]) => type === 'inline')
    .map(([{ content }, lines]) => ({ content, lines }));
}

/** Markers that no reader sees: in a picture's description, a link's target or title, after a code fence. */
function hiddenMarkersIn(prose: string, blocks: Token[]): Occurrence[] {
  const shown = new Map<number, number>();
  const show = (n: number): unknown => shown.set(n, (shown.get(n) ?? 0) + 1);
  for (const block of blocks) {
    for (const { type, meta, content } of block.children ?? [block]) {
      if (type === 'marker') show((meta as { n: number }).n);
      if (!['text', 'code_inline', 'code_block', 'fence'].includes(type)) continue;
      for (const { n } of markersIn(content)) show(n);
    }
  }
  return markersIn(prose)
    .filter(({ n }) => {
      const left = shown.get(n) ?? 0;
      shown.set(n, left - 1);
      return left < 1;
    })
    .map(({ n, offset }) => ({ text: `[^${n}]`, offset }));
}

/** The addresses of all pictures in a prose, and of those without a description. */
function picturesIn(prose: string, blocks: Token[]): Pick<ParsedProse, 'pictures' | 'undescribed'> {
  const locate = textLocator(prose);
  const pictures: Occurrence[] = [];
  const undescribed: Occurrence[] = [];
  for (const [token, lines] of tokensOf(blocks)) {
    if (token.type !== 'image') continue;
    const at = locate(String(token.attrGet('src') ?? ''), lines);
    pictures.push(at);
    if (token.content.trim() === '') undescribed.push(at);
  }
  return { pictures, undescribed };
}

/** The raw HTML in a prose, each as its first tag; includes comments and declarations. */
function rawHtmlIn(prose: string): Occurrence[] {
  if (!/<[a-z/!?]/i.test(prose)) return [];
  const found: Occurrence[] = [];
  const locate = textLocator(prose);
  for (const [{ type, content }, lines] of tokensOf(htmlFinder.parse(prose, {}))) {
    if (type !== 'html_block' && type !== 'html_inline') continue;
    const tag = /<(?:!--|\?|![A-Z[]|\/?([a-z][a-z0-9-]*))[^>]*>?/i.exec(content);
    if (tag === null || (tag[1] !== undefined && !HTML_ELEMENTS.has(tag[1].toLowerCase()))) continue;
    found.push(locate(tag[0].slice(0, 60), lines));
  }
  return found;
}

/** Schemes that execute or embed something, or access the reader's machine. */
export const UNSAFE_SCHEME = /^(?:javascript|vbscript|data|file|blob|filesystem|view-source):/i;

/** Whether a target becomes a link: a web or mail address, or one within the site. Anything else stays text. */
function isLinkable(target: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(target)?.[1];
  return scheme === undefined || ['http', 'https', 'mailto'].includes(scheme.toLowerCase());
}

/**
 * Link targets that are not rendered as links, decoded. Skips harmless names in angle brackets, such as
 * `<doi:10.1000/182>` or `<xs:element>`, which are shown as written.
 */
function unsafeLinksIn(prose: string): Occurrence[] {
  if (!/\]\(|\]:|<[a-z]/i.test(prose)) return [];
  const found: Occurrence[] = [];
  const locate = textLocator(prose);
  for (const [token, lines] of tokensOf(linkFinder.parse(prose, {}))) {
    if (token.type !== 'link_open' && token.type !== 'image') continue;
    const target = String(token.attrGet(token.type === 'image' ? 'src' : 'href') ?? '');
    // Pictures that the renderer would show are checked as media.
    if (isLinkable(target)) continue;
    if (token.markup === 'autolink' && !UNSAFE_SCHEME.test(target)) continue;
    found.push(locate(target.slice(0, 60), lines));
  }
  return found;
}

/** Blocks and their children in order, with the block's lines. A table cell has the lines of its row. */
function* tokensOf(tokens: Token[]): Iterable<[Token, LineRange]> {
  let lines: LineRange = [0, 0];
  for (const token of tokens) {
    lines = token.map ?? lines;
    yield [token, lines];
    for (const child of token.children ?? []) yield [child, lines];
  }
}

/** The tokens of a prose in the order in which readers see them: its notes come last. */
export function proseTokens(prose: string): Token[] {
  return withNotesLast(markdown, markdown.parse(prose, {}));
}

/** The prose as plain text, without markup and markers. Newlines separate blocks, and notes come last. */
export function plainText(prose: string): string {
  const lines: string[] = [];
  for (const token of proseTokens(prose)) {
    if (token.type === 'fence' || token.type === 'code_block') lines.push(token.content.trimEnd());
    if (token.type !== 'inline') continue;
    let line = '';
    for (const child of token.children ?? []) {
      if (child.type === 'softbreak' || child.type === 'hardbreak') line += ' ';
      else if (child.type !== 'marker' && !isNoteMark(child)) line += child.content;
    }
    lines.push(line);
  }
  return lines.join('\n');
}

/** The prose without the lines that stand for a form, for use outside the paper's pages. */
export function withoutBoxes(prose: string): string {
  if (!prose.includes('::subscribe')) return prose;
  const lines = prose.split('\n');
  const gone = new Set<number>();
  for (const { type, map } of markdown.parse(prose, {})) {
    if (type !== 'subscribe_box' || !map) continue;
    gone.add(map[0]);
    if (lines[map[1]] === '') gone.add(map[1]);
  }
  return lines.filter((_line, at) => !gone.has(at)).join('\n');
}

const isNoteMark = ({ type, meta }: Token): boolean => type === 'note_reference' && (meta as Mention).note !== null;

/** The parts of a prose that the filing door checks. */
export interface ParsedProse {
  /** The limits that the prose exceeds. If there are any, it was not parsed and the other members are empty. */
  excess: Problem[];
  rawHtml: Occurrence[];
  unsafeLinks: Occurrence[];
  pictures: Occurrence[];
  /** The pictures that have no description. */
  undescribed: Occurrence[];
  hiddenMarkers: Occurrence[];
  /** References and notes that readers cannot follow. */
  notes: (Occurrence & Pick<NoteFault, 'fault'>)[];
}

/** Parses prose. The result depends only on the text. */
export function parseProse(prose: string): ParsedProse {
  const excess = excessIn(prose);
  if (excess.length === 0) excess.push(...openBracketProblems(prose));
  if (excess.length > 0) {
    return { excess, rawHtml: [], unsafeLinks: [], pictures: [], undescribed: [], hiddenMarkers: [], notes: [] };
  }
  const blocks = markdown.parse(prose, {});
  return {
    excess,
    rawHtml: rawHtmlIn(prose),
    unsafeLinks: unsafeLinksIn(prose),
    ...picturesIn(prose, blocks),
    hiddenMarkers: hiddenMarkersIn(prose, blocks),
    notes: noteFaultsIn(prose, blocks),
  };
}

function noteFaultsIn(prose: string, blocks: Token[]): ParsedProse['notes'] {
  const locate = textLocator(prose);
  const faults = noteFaults(blocks).sort((a, b) => a.lines[0] - b.lines[0]);
  return faults.map(({ fault, text, lines }) => ({ fault, ...locate(text, lines) }));
}

/** A text found in prose, and its offset in UTF-16 units. */
interface Occurrence {
  text: string;
  offset: number;
}

/** The lines of a block: its first, and the one after its last. */
type LineRange = readonly [first: number, end: number];

/** Maximum number of characters scanned, per character of the prose, for texts that the prose spells differently. */
const MISSED_MAX = 16;

/**
 * Finds the offsets of texts in prose, given in order, in linear time: the position of a text within a block, or the
 * block's start when the text is spelled differently.
 */
function textLocator(prose: string): (text: string, block: LineRange) => Occurrence {
  /** The offset of each line. */
  const starts = [0];
  for (let at = prose.indexOf('\n'); at !== -1; at = prose.indexOf('\n', at + 1)) starts.push(at + 1);
  /** The end of the last text found. */
  let cursor = 0;
  let missesLeft = prose.length * MISSED_MAX;
  return (text, [first, end]) => {
    const start = starts[first] ?? 0;
    const from = Math.max(start, cursor);
    const block = prose.slice(from, starts[end]);
    const at = missesLeft > 0 ? block.indexOf(text) : -1;
    if (at === -1) {
      missesLeft -= block.length;
      return { text, offset: start };
    }
    cursor = from + at + text.length;
    return { text, offset: from + at };
  };
}
