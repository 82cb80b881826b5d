import type { RendererRule, Token } from 'markdown-it';
import type { CitedFact } from '../../proof/basis.ts';
import { markdown, splitAtMarkers } from '../door/prose.ts';
import { type CardToken, cardHtml, type LinkCard, withCards } from './prose-cards.ts';
import { altOf, imageHtml, type ProsePicture, picturesHtml, type Shown, withFigures } from './prose-pictures.ts';

export interface ProseHtml {
  html: string;
  /** How many markers cite fact n, by n. */
  markers: Map<number, number>;
}

/** Stands in the HTML where the subscribe form is to be. Prose cannot hold a comment. */
export const SUBSCRIBE_BOX = '<!--subscribe-->';

/** What only the page of a piece shows besides its prose. */
interface Insets {
  /** See `withCards`; by default, bare links stay plain. */
  cardOf?(url: string): LinkCard | null | undefined;
  /** Whether the first line that asks for the subscribe form becomes `SUBSCRIBE_BOX`. */
  hasBox?: boolean;
}

/** The id of the `count`th marker that cites fact n. */
function markerId(n: number, count: number): string {
  return count === 1 ? `ref-${n}` : `ref-${n}-${count}`;
}

export function markerIds({ markers }: Pick<ProseHtml, 'markers'>, n: number): string[] {
  return Array.from({ length: markers.get(n) ?? 0 }, (_, at) => markerId(n, at + 1));
}

/** State that the renderer's rules share while they render one text. */
interface RenderState {
  sources: Map<number, string>;
  markers: Map<number, number>;
  /** Whether the form is still to be placed. */
  hasBox: boolean;
}

type Env = { state?: RenderState };

const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);

/** Adapts a rule that takes its token and the state. Without a state there are no facts. */
function rule(print: (token: Token, state: RenderState) => string): RendererRule {
  return (tokens, index, _options, env) => {
    const token = tokens[index];
    const state = (env as Env | undefined)?.state ?? { sources: new Map(), markers: new Map(), hasBox: false };
    return token === undefined ? '' : print(token, state);
  };
}

/** A marker as a link to its fact, with an id as the target of the back link. A marker without a fact remains text. */
function marker(n: number, { sources, markers }: RenderState): string {
  const publisher = sources.get(n);
  if (publisher === undefined) return `[^${n}]`;
  const count = (markers.get(n) ?? 0) + 1;
  markers.set(n, count);
  const source = escapeHtml(publisher);
  return `<sup class="marker" id="${markerId(n, count)}" data-n="${n}" data-source="${source}"><a href="#fact-${n}" aria-label="Source ${n}: ${source}">${n}</a></sup>`;
}

/** Text with markers that the grammar does not see: code, and the text of an autolink. */
function textWithMarkers(text: string, state: RenderState): string {
  return splitAtMarkers(text)
    .map((part) => (typeof part === 'number' ? marker(part, state) : escapeHtml(part)))
    .join('');
}

const codeBlock = rule(
  ({ content }, state) => `<pre tabindex="0"><code>${textWithMarkers(content, state)}</code></pre>\n`,
);
/** The page's headline is its h1, so headings in prose start at h2. */
const headingLevel = ({ tag }: Token): number => Math.max(2, Number(tag.slice(1)));

Object.assign(markdown.renderer.rules, {
  marker: rule(({ meta }, state) => marker((meta as { n: number }).n, state)),
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
  heading_open: rule((token) => `<h${headingLevel(token)}>`),
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
 * Links each `[^N]` to `#fact-N`, and media files of the paper where they are. Pictures that stand alone in a paragraph
 * become figures and galleries.
 */
export function proseHtml(
  prose: string,
  facts: CitedFact[],
  pictureOf: (path: string) => ProsePicture,
  { cardOf, hasBox = false }: Insets = {},
): ProseHtml {
  const state = { sources: new Map(facts.map((fact) => [fact.n, fact.source])), markers: new Map(), hasBox };
  const figures = withFigures(markdown.parse(prose, {}), pictureOf);
  const tokens = cardOf === undefined ? figures : withCards(figures, cardOf);
  for (const token of tokens) {
    for (const child of token.children ?? []) {
      if (child.type === 'image') child.meta = { picture: pictureOf(String(child.attrGet('src') ?? '')) };
      const file = child.type === 'link_open' ? String(child.attrGet('href') ?? '') : '';
      if (file.startsWith('media/')) child.attrSet('href', addressOf(pictureOf(file)));
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, { state } satisfies Env);
  return { html, markers: state.markers };
}

const addressOf = (picture: ProsePicture): string => (typeof picture === 'string' ? picture : picture.url);

export function plainProseHtml(prose: string): string {
  return proseHtml(prose, [], (path) => path).html;
}
