import type { CitedFact } from '../ledger/piece.ts';
import { markdown, splitAtMarkers } from '../ledger/prose.ts';

/** Prose as HTML, and where in it each fact is referenced. */
export interface ProseHtml {
  html: string;
  /** Ids of the markers that point at fact n, by n. */
  markerIds: Map<number, string[]>;
}

interface Env {
  sources: Map<number, string>;
  markerIds: Map<number, string[]>;
}

const escape = (text: string): string => markdown.utils.escapeHtml(text);

/** A marker as a link to its fact; its own id is the way back. */
function marker(n: number, env: Env): string {
  const ids = env.markerIds.get(n) ?? [];
  const id = ids.length === 0 ? `ref-${n}` : `ref-${n}-${ids.length + 1}`;
  env.markerIds.set(n, [...ids, id]);
  const source = escape(env.sources.get(n) ?? '');
  return `<sup class="marker" id="${id}" data-n="${n}" data-source="${source}"><a href="#fact-${n}" aria-label="Source ${n}: ${source}">${n}</a></sup>`;
}

/** Text that may hold markers outside the grammar's reach: code, and what stands in an autolink. */
function textWithMarkers(text: string, env: Env): string {
  return splitAtMarkers(text)
    .map((part) => (typeof part === 'number' ? marker(part, env) : escape(part)))
    .join('');
}

const { rules } = markdown.renderer;
rules.marker = (tokens, index, _options, env: Env) => marker(tokens[index]?.meta.n as number, env);
rules.text = (tokens, index, _options, env: Env) => textWithMarkers(tokens[index]?.content ?? '', env);
rules.code_inline = (tokens, index, _options, env: Env) =>
  `<code>${textWithMarkers(tokens[index]?.content ?? '', env)}</code>`;
rules.code_block = (tokens, index, _options, env: Env) =>
  `<pre tabindex="0"><code>${textWithMarkers(tokens[index]?.content ?? '', env)}</code></pre>\n`;
rules.fence = rules.code_block;
rules.link_open = (tokens, index, options, _env, self) => {
  const token = tokens[index];
  if (token === undefined) return '';
  // A marker at the end of a bare address was taken into it.
  const href = token.attrGet('href') ?? '';
  const bare = href.replace(/(?:%5B|\[)(?:%5E|\^)\d+(?:%5D|\])/gi, '');
  if (bare !== href) token.attrSet('href', bare);
  token.attrSet('rel', 'noopener');
  return self.renderToken(tokens, index, options);
};
// The page's own headline is its h1: headings in prose begin one step below.
const heading =
  (close: boolean): NonNullable<typeof rules.text> =>
  (tokens, index) => {
    const level = Math.max(2, Number(tokens[index]?.tag.slice(1) ?? 2));
    return close ? `</h${level}>\n` : `<h${level}>`;
  };
rules.heading_open = heading(false);
rules.heading_close = heading(true);
rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
rules.table_close = () => '</table></div>\n';

/**
 * Renders a piece's prose, each `[^N]` linked to `#fact-N`. `mediaUrl` gives
 * the address of a picture of the paper.
 */
export function proseHtml(prose: string, facts: CitedFact[], mediaUrl: (path: string) => string): ProseHtml {
  const env: Env = {
    sources: new Map(facts.map((fact) => [fact.n, fact.source])),
    markerIds: new Map(),
  };
  const tokens = markdown.parse(prose, env);
  for (const token of tokens) {
    for (const child of token.children ?? []) {
      if (child.type === 'image') child.attrSet('src', mediaUrl(child.attrGet('src') ?? ''));
    }
  }
  return { html: markdown.renderer.render(tokens, markdown.options, env), markerIds: env.markerIds };
}

/** Prose without facts, such as the standards page's. */
export function plainProseHtml(prose: string): string {
  return proseHtml(prose, [], (path) => path).html;
}
