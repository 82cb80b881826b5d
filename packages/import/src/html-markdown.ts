import TurndownService from 'turndown';
import { decodedText } from './decoded-text.ts';

const turndown = new TurndownService({
  headingStyle: 'atx',
  hr: '---',
  bulletListMarker: '-',
  codeBlockStyle: 'fenced',
  emDelimiter: '_',
  br: '\\',
});
const escapeMarkdown = turndown.escape;
// Raw HTML and character references are text here. Turndown alone would leave them, as HTML is allowed in Markdown.
turndown.escape = (text) => escapeMarkdown(text).replace(/[<&~|]/g, '\\$&');

turndown.addRule('picture', { filter: 'img', replacement: (_content, node) => pictureOf(node as Node) });
turndown.addRule('link around a picture', {
  filter: (node) => node.nodeName === 'A' && node.getElementsByTagName('img').length > 0,
  replacement: (content) => content,
});
turndown.addRule('sound', {
  filter: (node) => node.nodeName === 'A' && node.getAttribute('data-sound') !== null,
  replacement: (content, node) => soundOf(content, node as unknown as Node),
});
turndown.addRule('figure', {
  filter: 'figure',
  replacement: (content, node) => figureOf(content, node as unknown as Node),
});
turndown.addRule('table', {
  filter: 'table',
  replacement: (_content, node) => `\n\n${tableOf(node as unknown as Node)}\n\n`,
});

/** A longer text in a figure is not a caption, in UTF-16 units. */
const CAPTION_MAX = 1_000;

/** The part of the DOM that the rules use. */
interface Node {
  nodeName: string;
  textContent: string | null;
  getAttribute(name: string): string | null;
  getElementsByTagName(name: string): ArrayLike<Node>;
  innerHTML: string;
}

/**
 * Markdown from tidy HTML. `media` returns the path of the media file for the address of a picture or a sound; for
 * null, it becomes a link to that address.
 */
export function markdownOf(html: string, media: (address: string) => string | null): string {
  pathOf = media;
  return turndown.turndown(html).trim();
}

/** A variable, because Turndown passes only the node to its rules. */
let pathOf: (address: string) => string | null = () => null;

function pictureOf(node: Node, caption = ''): string {
  const address = node.getAttribute('src') ?? '';
  const alt = escapeMarkdown(node.getAttribute('alt') ?? '').replace(/[<&]/g, '\\$&');
  const path = pathOf(address);
  if (path === null) return `[${alt || 'Picture'}](${target(address)})`;
  const title = caption === '' ? '' : ` "${caption.replace(/["\\<&]/g, '\\$&')}"`;
  return `![${alt}](${target(path)}${title})`;
}

/** A sound becomes a link; its text is the file name if the file is the paper's. */
function soundOf(content: string, node: Node): string {
  const address = node.getAttribute('href') ?? '';
  const path = pathOf(node.getAttribute('data-sound') ?? '');
  if (path === null) return `[${content}](${target(address)})`;
  const [whole = ''] = address.split(/[?#]/);
  const name = decodedText(whole.slice(whole.lastIndexOf('/') + 1));
  return `[${name === '' ? content : turndown.escape(name)}](${path})`;
}

/** A figure with one picture becomes a paragraph with this picture alone, whose title is the figure's text. */
function figureOf(content: string, node: Node): string {
  const pictures = node.getElementsByTagName('img');
  const [picture] = Array.from(pictures);
  const caption = (node.textContent ?? '').replace(/\s+/g, ' ').trim();
  if (pictures.length !== 1 || picture === undefined || caption.length > CAPTION_MAX) return `\n\n${content}\n\n`;
  return `\n\n${pictureOf(picture, caption)}\n\n`;
}

/** A target in the form that needs no balanced brackets. */
const target = (address: string): string =>
  /[\s()<>]/.test(address) ? `<${address.replace(/[<>\s]/g, (found) => encodeURIComponent(found))}>` : address;

function tableOf(node: Node): string {
  const rows = Array.from(node.getElementsByTagName('tr')).map((row) =>
    [...Array.from(row.getElementsByTagName('th')), ...Array.from(row.getElementsByTagName('td'))].map(cellOf),
  );
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width === 0) return '';
  const line = (cells: string[]) =>
    `| ${Array.from({ length: width }, (_, index) => cells[index] ?? '').join(' | ')} |`;
  const [first = [], ...others] = rows;
  return [line(first), line(Array.from({ length: width }, () => '---')), ...others.map(line)].join('\n');
}

/** A cell as one line; of a nested table only the text. */
function cellOf(cell: Node): string {
  const text = (cell.textContent ?? '').replace(/\s+/g, ' ').trim();
  return escapeMarkdown(text).replace(/[<&|~]/g, '\\$&');
}
