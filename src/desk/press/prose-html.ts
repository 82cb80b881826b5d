import type { RendererRule, Token } from 'markdown-it';
import { fill } from '../../phrases/fill.ts';
import type { CitedFact } from '../../proof/basis.ts';
import type { Mention, Note } from '../door/footnotes.ts';
import { splitAtMarkers } from '../door/markers.ts';
import { markdown, proseTokens } from '../door/prose.ts';
import { type CardToken, cardHtml, type LinkCard, withCards } from './prose-cards.ts';
import { altOf, imageHtml, type ProsePicture, picturesHtml, type Shown, withFigures } from './prose-pictures.ts';

export interface ProseHtml {
  html: string;
  /** The number of markers that cite each fact, by the fact's number. */
  markers: Map<number, number>;
  /** The headings of the text itself, excluding those in quotes, lists and notes. */
  headings: Heading[];
}

export type Heading = {
  level: number;
  id: string;
  text: string;
};

/** What a page adds to a prose. The text and its links are the same without it. */
export interface ProseExtras {
  /** The words about notes for screen readers, in the paper's language. */
  words?: NoteWords;
  /** The colours of code blocks, by `codeKey`. */
  colours?: CodeColours;
  /** See `withCards`; by default, bare addresses stay text. */
  cardOf?(url: string): LinkCard | null | undefined;
  /** Whether the first marker of each fact includes its statement, which wide pages show beside the text. */
  hasNotes?: boolean;
  /** Whether the first line that requests the subscribe form becomes `SUBSCRIBE_BOX`. */
  hasBox?: boolean;
}

type NoteWords = Record<'notes' | 'note' | 'note_back', string>;

/** Spans of a block of code without its markers, by `codeKey`. A class of null means the text colour. */
export type CodeColours = ReadonlyMap<string, readonly (readonly [text: string, colour: string | null])[]>;

/** The key of a block of code in `CodeColours`. */
export function codeKey({ info, content }: Pick<Token, 'info' | 'content'>): string {
  return `${info}\n${content}`;
}

/** Marks the place of the subscribe form in the HTML. Prose cannot contain a comment. */
export const SUBSCRIBE_BOX = '<!--subscribe-->';

/** The id of the `count`th marker that cites fact n. */
function markerId(n: number, count: number): string {
  return count === 1 ? `ref-${n}` : `ref-${n}-${count}`;
}

export function markerIds({ markers }: Pick<ProseHtml, 'markers'>, n: number): string[] {
  return Array.from({ length: markers.get(n) ?? 0 }, (_, at) => markerId(n, at + 1));
}

/** State that the renderer's rules share while they render a text. */
interface RenderState extends Pick<ProseExtras, 'words' | 'colours' | 'hasNotes'> {
  facts: Map<number, CitedFact>;
  markers: Map<number, number>;
  /** Whether the form still has to be placed. */
  hasBox: boolean;
}

type Env = { state?: RenderState };

const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);

/** Adapts a rule to take its token and the state. Without a state there are no facts. */
function rule(print: (token: Token, state: RenderState) => string): RendererRule {
  return (tokens, index, _options, env) => {
    const token = tokens[index];
    const state = (env as Env | undefined)?.state ?? { facts: new Map(), markers: new Map(), hasBox: false };
    return token === undefined ? '' : print(token, state);
  };
}

/** A marker as a link to its fact, with an id as the target of the back link. A marker without a fact stays text. */
function marker(n: number, { facts, markers, hasNotes }: RenderState): string {
  const fact = facts.get(n);
  if (fact === undefined) return `[^${n}]`;
  const count = (markers.get(n) ?? 0) + 1;
  markers.set(n, count);
  const source = escapeHtml(fact.source);
  const note = hasNotes && count === 1 ? ` data-note="${escapeHtml(fact.statement)}"` : '';
  return `<sup class="marker" id="${markerId(n, count)}" data-n="${n}" data-source="${source}"${note}><a href="#fact-${n}" aria-label="Source ${n}: ${source}">${n}</a></sup>`;
}

/** Text with markers that the Markdown parser does not find: in code, and in the text of an autolink. */
function textWithMarkers(text: string, state: RenderState): string {
  return splitAtMarkers(text)
    .map((part) => (typeof part === 'number' ? marker(part, state) : escapeHtml(part)))
    .join('');
}

const codeBlock = rule((token, state) => {
  const spans = state.colours?.get(codeKey(token));
  const code = spans === undefined ? textWithMarkers(token.content, state) : colouredHtml(token.content, spans, state);
  return `<pre tabindex="0"><code>${code}</code></pre>\n`;
});

/** Code as spans, with its markers between or inside them. */
function colouredHtml(
  content: string,
  spans: readonly (readonly [string, string | null])[],
  state: RenderState,
): string {
  let html = '';
  let [span, at] = [0, 0];
  for (const part of splitAtMarkers(content)) {
    if (typeof part === 'number') html += marker(part, state);
    for (let left = typeof part === 'number' ? 0 : part.length; left > 0; ) {
      const [text = '', colour] = spans[span] ?? [];
      const shown = text.slice(at, at + left);
      if (shown !== '') html += colour ? `<span class="${colour}">${escapeHtml(shown)}</span>` : escapeHtml(shown);
      left -= shown.length;
      at += shown.length;
      if (at < text.length) continue;
      [span, at] = [span + 1, 0];
      if (span >= spans.length) break;
    }
  }
  return html;
}

/** The id of the `mention`th reference to a note. */
const mentionId = ({ letter }: Note, mention: number): string =>
  mention === 1 ? `noteref-${letter}` : `noteref-${letter}-${mention}`;

const label = (text: string | undefined): string => (text === undefined ? '' : ` aria-label="${escapeHtml(text)}"`);

/** A link to a note, with its letter as the mark; facts have numbers. */
function noteMark({ note, mention }: Mention, text: string, words: NoteWords | undefined): string {
  if (note === null) return escapeHtml(text);
  const { letter } = note;
  return `<sup class="note" id="${mentionId(note, mention)}"><a href="#note-${letter}" role="doc-noteref"${label(words && fill(words.note, { n: letter }))}>${letter}</a></sup>`;
}

/** Links from a note back to its references in the text. */
function backLinks(note: Note, words: NoteWords | undefined): string {
  const { letter, mentions } = note;
  return Array.from({ length: mentions }, (_, at) => {
    const n = at === 0 ? letter : `${letter} ${at + 1}`;
    return `&nbsp;<a class="back" href="#${mentionId(note, at + 1)}" role="doc-backlink"${label(words && fill(words.note_back, { n }))}>↑</a>`;
  }).join('');
}

/** The page's headline is its h1, so headings in prose start at h2. */
const headingLevel = ({ tag }: Token): number => Math.max(2, Number(tag.slice(1)));

Object.assign(markdown.renderer.rules, {
  marker: rule(({ meta }, state) => marker((meta as { n: number }).n, state)),
  note_reference: rule(({ meta, content }, { words }) => noteMark(meta as Mention, content, words)),
  notes_open: rule(
    (_, { words }) => `<section class="notes" role="doc-endnotes"${label(words?.notes)}>\n<ol type="a">\n`,
  ),
  note_open: rule(({ meta }) => `<li id="note-${(meta as Note).letter}">`),
  note_back: rule(({ meta }, { words }) => backLinks(meta as Note, words)),
  note_close: rule(() => '</li>\n'),
  notes_close: rule(() => '</ol>\n</section>\n'),
  text: rule(({ content }, state) => textWithMarkers(content, state)),
  code_inline: rule(({ content }, state) => `<code>${textWithMarkers(content, state)}</code>`),
  code_block: codeBlock,
  fence: codeBlock,
  link_open: rule((token) => {
    // The linkifier includes a marker at the end of a bare address.
    const href = String(token.attrGet('href') ?? '').replace(/(?:%5B|\[)(?:%5E|\^)\d+(?:%5D|\])/gi, '');
    const title = token.attrGet('title');
    return `<a href="${escapeHtml(href)}"${title === null ? '' : ` title="${escapeHtml(String(title))}"`} rel="noopener">`;
  }),
  heading_open: rule((token) => `<h${headingLevel(token)} id="${escapeHtml((token.meta as Heading).id)}">`),
  heading_close: rule((token) => `</h${headingLevel(token)}>\n`),
  image: rule((token) => imageHtml((token.meta as { picture: ProsePicture }).picture, altOf(token), 'figure')),
  pictures: rule(({ meta }) => picturesHtml((meta as { shown: Shown[] }).shown)),
  link_card: rule(({ meta }) => cardHtml(meta as unknown as CardToken)),
  subscribe_box: rule((_token, state) => {
    const shown = state.hasBox ? SUBSCRIBE_BOX : '';
    state.hasBox = false;
    return shown;
  }),
  table_open: rule(() => '<div class="table" tabindex="0"><table>\n'),
  table_close: rule(() => '</table></div>\n'),
});

/**
 * Renders a prose. Links each `[^N]` to `#fact-N` and each `[^name]` to its note at the end, and resolves the addresses
 * of the paper's media. Pictures alone in a paragraph become figures and galleries.
 */
export function proseHtml(
  prose: string,
  facts: CitedFact[],
  pictureOf: (path: string) => ProsePicture,
  extras: ProseExtras = {},
): ProseHtml {
  const { cardOf, hasBox = false } = extras;
  const cited = new Map(facts.map((fact) => [fact.n, fact]));
  const state: RenderState = { ...extras, facts: cited, markers: new Map(), hasBox };
  const figures = withFigures(proseTokens(prose), pictureOf);
  const tokens = cardOf === undefined ? figures : withCards(figures, cardOf);
  for (const token of tokens) {
    for (const child of token.children ?? []) {
      if (child.type === 'image') child.meta = { picture: pictureOf(String(child.attrGet('src') ?? '')) };
      const file = child.type === 'link_open' ? String(child.attrGet('href') ?? '') : '';
      if (file.startsWith('media/')) child.attrSet('href', addressOf(pictureOf(file)));
    }
  }
  const headings = named(tokens);
  const html = markdown.renderer.render(tokens, markdown.options, { state } satisfies Env);
  return { html, markers: state.markers, headings };
}

const addressOf = (picture: ProsePicture): string => (typeof picture === 'string' ? picture : picture.url);

/** Maximum length in UTF-16 units. */
const HEADING_ID_MAX = 80;

/**
 * Gives each heading an id of the letters and digits of its text, in any script; repeated ones get a number. The prefix
 * `h-` keeps them apart from the page's own ids. Returns the headings of the text itself.
 */
function named(tokens: Token[]): Heading[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const headings: Heading[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const parts = tokens[index + 1]?.children ?? [];
    const text = parts
      .map(({ type, content }) =>
        type === 'softbreak' || type === 'hardbreak' ? ' ' : HEADING_TEXT.has(type) ? content : '',
      )
      .join('')
      .replace(/\s+/g, ' ')
      .trim();
    const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    const base = `h-${words.join('-').slice(0, HEADING_ID_MAX).toWellFormed() || 'section'}`;
    let count = counts.get(base) ?? 1;
    while (taken.has(idOf(base, count))) count++;
    counts.set(base, count + 1);
    taken.add(idOf(base, count));
    const heading = { level: headingLevel(token), id: idOf(base, count), text };
    token.meta = heading;
    if (token.level === 0 && text !== '') headings.push(heading);
  }
  return headings;
}

const HEADING_TEXT = new Set(['text', 'code_inline']);
const idOf = (base: string, count: number): string => (count === 1 ? base : `${base}-${count}`);

export function plainProseHtml(prose: string): string {
  return proseHtml(prose, [], (path) => path).html;
}
