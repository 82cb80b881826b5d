import type { RendererRule, Token } from 'markdown-it';
import type { CitedFact } from '../ledger/piece.ts';
import { markdown, splitAtMarkers } from '../ledger/prose.ts';

/** Prose as HTML, and where in it each fact is referenced. */
export interface ProseHtml {
  html: string;
  /** Ids of the markers that point at fact n, by n. */
  markerIds: Map<number, string[]>;
}

/** What the renderer's rules share while one prose is rendered. */
interface RenderState {
  sources: Map<number, string>;
  markerIds: Map<number, string[]>;
}

type Env = { state?: RenderState };
type Rule = (token: Token, state: RenderState) => string;

const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);

/** A rule that is given its token and the state. Rendering without a state has no facts. */
function rule(print: Rule): RendererRule {
  return (tokens, index, _options, env) => {
    const token = tokens[index];
    const state = (env as Env | undefined)?.state ?? { sources: new Map(), markerIds: new Map() };
    return token === undefined ? '' : print(token, state);
  };
}

/** A marker as a link to its fact; its own id is the way back. Where there is no such fact, it is text. */
function marker(n: number, { sources, markerIds }: RenderState): string {
  const publisher = sources.get(n);
  if (publisher === undefined) return `[^${n}]`;
  const ids = markerIds.get(n) ?? [];
  const id = ids.length === 0 ? `ref-${n}` : `ref-${n}-${ids.length + 1}`;
  ids.push(id);
  markerIds.set(n, ids);
  const source = escapeHtml(publisher);
  return `<sup class="marker" id="${id}" data-n="${n}" data-source="${source}"><a href="#fact-${n}" aria-label="Source ${n}: ${source}">${n}</a></sup>`;
}

/** Text that may hold markers outside the grammar's reach: code, and the text of an autolink. */
function textWithMarkers(text: string, state: RenderState): string {
  return splitAtMarkers(text)
    .map((part) => (typeof part === 'number' ? marker(part, state) : escapeHtml(part)))
    .join('');
}

const codeBlock = rule(
  ({ content }, state) => `<pre tabindex="0"><code>${textWithMarkers(content, state)}</code></pre>\n`,
);
/** The page's own headline is its h1: headings in prose begin one step below. */
const headingLevel = ({ tag }: Token): number => Math.max(2, Number(tag.slice(1)));

Object.assign(markdown.renderer.rules, {
  marker: rule(({ meta }, state) => marker((meta as { n: number }).n, state)),
  text: rule(({ content }, state) => textWithMarkers(content, state)),
  code_inline: rule(({ content }, state) => `<code>${textWithMarkers(content, state)}</code>`),
  code_block: codeBlock,
  fence: codeBlock,
  link_open: rule((token) => {
    // A marker at the end of a bare address was taken into it.
    const href = String(token.attrGet('href') ?? '').replace(/(?:%5B|\[)(?:%5E|\^)\d+(?:%5D|\])/gi, '');
    const title = token.attrGet('title');
    return `<a href="${escapeHtml(href)}"${title === null ? '' : ` title="${escapeHtml(String(title))}"`} rel="noopener">`;
  }),
  heading_open: rule((token) => `<h${headingLevel(token)}>`),
  heading_close: rule((token) => `</h${headingLevel(token)}>\n`),
  table_open: rule(() => '<div class="table" tabindex="0"><table>\n'),
  table_close: rule(() => '</table></div>\n'),
});

/**
 * Renders a piece's prose, each `[^N]` linked to `#fact-N`. `mediaUrl` gives
 * the address of a picture of the paper.
 */
export function proseHtml(prose: string, facts: CitedFact[], mediaUrl: (path: string) => string): ProseHtml {
  const state: RenderState = {
    sources: new Map(facts.map((fact) => [fact.n, fact.source])),
    markerIds: new Map(),
  };
  const tokens = markdown.parse(prose, {});
  for (const token of tokens) {
    for (const child of token.children ?? []) {
      if (child.type === 'image') child.attrSet('src', mediaUrl(String(child.attrGet('src') ?? '')));
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, { state } satisfies Env);
  return { html, markerIds: state.markerIds };
}

/** Prose without facts, such as the standards page's. */
export function plainProseHtml(prose: string): string {
  return proseHtml(prose, [], (path) => path).html;
}
