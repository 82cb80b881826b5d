import { ArchiveError, messageOf } from './archive-error.ts';
import { escapeText } from './escape.ts';
import { renderMarkdown } from './markdown-html.ts';
import { membersIn } from './members.ts';
import type { MarkdownProblem } from './source.ts';

/** The maximum nesting of nodes in a document of Ghost's editor. */
const DEPTH_MAX = 100;

/** The bits of a text's format in Lexical. */
const FORMATS: [bit: number, tag: string][] = [
  [1, 'strong'],
  [2, 'em'],
  [16, 'code'],
];

/** A document of Ghost's editor since 5.0 (Lexical) as HTML. Throws `ArchiveError` for anything else. */
export function lexicalHtml(text: string, problemOf: MarkdownProblem): string {
  const { root } = membersIn(parsed(text, 'lexical'));
  return childrenHtml(membersIn(root).children, 0, problemOf);
}

function childrenHtml(children: unknown, depth: number, problemOf: MarkdownProblem): string {
  return listOf(children)
    .map((child) => nodeHtml(membersIn(child), depth + 1, problemOf))
    .join('');
}

function nodeHtml(node: Record<string, unknown>, depth: number, problemOf: MarkdownProblem): string {
  if (depth > DEPTH_MAX) return '';
  const inner = () => childrenHtml(node.children, depth, problemOf);
  switch (typeof node.type === 'string' ? node.type.replace(/^extended-/, '') : '') {
    case 'text':
      return formatted(textIn(node.text), Number(node.format ?? 0));
    case 'linebreak':
      return '<br>';
    case 'link':
    case 'autolink':
      return `<a href="${escapeText(textIn(node.url))}">${inner()}</a>`;
    case 'heading':
      return element(/^h[1-6]$/.test(textIn(node.tag)) ? textIn(node.tag) : 'h2', inner());
    case 'quote':
    case 'aside':
      return element('blockquote', inner());
    case 'list':
      return element(node.listType === 'number' ? 'ol' : 'ul', inner());
    case 'listitem':
      return element('li', inner());
    case 'paragraph':
      return element('p', inner());
    case 'horizontalrule':
      return '<hr>';
    case 'codeblock':
      return code(node.code, node.language);
    default:
      return cardHtml(textIn(node.type), node, problemOf) || inner();
  }
}

/** A block other than text, of either editor: both use the same names for its parts. */
function cardHtml(name: string, card: Record<string, unknown>, problemOf: MarkdownProblem): string {
  const src = textIn(card.src);
  switch (name) {
    case 'image':
      return figure([card], textIn(card.caption));
    case 'gallery':
      return figure(Array.isArray(card.images) ? card.images : [], textIn(card.caption));
    case 'html':
      return textIn(card.html);
    case 'markdown':
    case 'card-markdown':
      return renderMarkdown(textIn(card.markdown), problemOf);
    case 'code':
      return code(card.code, card.language);
    case 'hr':
      return '<hr>';
    case 'bookmark':
      return link(textIn(card.url), textIn(membersIn(card.metadata).title));
    case 'embed':
      return link(textIn(card.url), '') || textIn(card.html);
    case 'button':
      return link(textIn(card.buttonUrl), textIn(card.buttonText));
    case 'file':
      return link(src, textIn(card.fileTitle) || textIn(card.fileName));
    case 'audio':
    case 'video':
      return src === '' ? '' : `<${name} src="${escapeText(src)}"></${name}>`;
    case 'callout':
      return element('blockquote', textIn(card.calloutText));
    case 'toggle':
      return `${element('h3', textIn(card.heading))}${textIn(card.content)}`;
    case 'header':
      return `${element('h2', textIn(card.heading) || textIn(card.header))}${element('p', textIn(card.subheading) || textIn(card.subheader))}`;
    default:
      return '';
  }
}

function figure(pictures: unknown[], caption: string): string {
  const images = pictures.map((picture) => {
    const { src, alt } = membersIn(picture);
    return `<p><img src="${escapeText(textIn(src))}" alt="${escapeText(textIn(alt))}"></p>`;
  });
  return `<figure>${images.join('')}${caption === '' ? '' : element('figcaption', caption)}</figure>`;
}

const link = (url: string, text: string): string =>
  url === '' ? '' : `<p><a href="${escapeText(url)}">${escapeText(text || url)}</a></p>`;

function code(text: unknown, language: unknown): string {
  const name = textIn(language);
  return `<pre><code${name === '' ? '' : ` class="language-${escapeText(name)}"`}>${escapeText(textIn(text))}</code></pre>`;
}

function formatted(text: string, format: number): string {
  return FORMATS.reduce((html, [bit, tag]) => ((format & bit) === 0 ? html : element(tag, html)), escapeText(text));
}

const element = (name: string, html: string): string => `<${name}>${html}</${name}>`;

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A document of Ghost's editor before 5.0 (Mobiledoc 0.3) as HTML. Throws `ArchiveError` for anything else. */
export function mobiledocHtml(text: string, problemOf: MarkdownProblem): string {
  const document = membersIn(parsed(text, 'mobiledoc'));
  const markups = listOf(document.markups);
  const atoms = listOf(document.atoms);
  const cards = listOf(document.cards);
  const inline = (markers: unknown) => markersHtml(listOf(markers), markups, atoms);
  return listOf(document.sections)
    .map((section) => {
      const [kind, value, content] = listOf(section);
      const tag = typeof value === 'string' && /^(?:p|h[1-6]|blockquote|aside|ul|ol)$/.test(value) ? value : 'p';
      if (kind === 1) return element(tag === 'aside' ? 'blockquote' : tag, inline(content));
      if (kind === 2) return figure([{ src: value }], '');
      if (kind === 3)
        return element(
          tag,
          listOf(content)
            .map((item) => element('li', inline(item)))
            .join(''),
        );
      const [name, card] = kind === 10 ? listOf(cards[Number(value)]) : [];
      return cardHtml(textIn(name), membersIn(card), problemOf);
    })
    .join('\n');
}

/** The HTML of markers: texts, each with the elements that open before it and close after it. */
function markersHtml(markers: unknown[], markups: unknown[], atoms: unknown[]): string {
  const open: string[] = [];
  const html = markers.map((marker) => {
    const [kind, opened, closed, value] = listOf(marker);
    let part = '';
    for (const index of listOf(opened)) {
      const [tag, attributes] = listOf(markups[Number(index)]);
      const name = typeof tag === 'string' && /^[a-z][a-z0-9]{0,9}$/.test(tag) ? tag : 'span';
      const href = textIn(listOf(attributes)[listOf(attributes).indexOf('href') + 1]);
      part += name === 'a' ? `<a href="${escapeText(href)}">` : `<${name}>`;
      open.push(name);
    }
    const [atom, shown] = kind === 1 ? listOf(atoms[Number(value)]) : [];
    part += kind === 1 ? (atom === 'soft-return' ? '<br>' : escapeText(textIn(shown))) : escapeText(textIn(value));
    for (let left = Math.min(Number(closed) || 0, open.length); left > 0; left--) part += `</${open.pop()}>`;
    return part;
  });
  return (
    html.join('') +
    open
      .reverse()
      .map((name) => `</${name}>`)
      .join('')
  );
}

function parsed(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ArchiveError(`its ${field} is not JSON (${messageOf(error)}); export the site again`);
  }
}
