import type { Token } from 'markdown-it';
import { imageSources, type PicturePosition, tone } from '../../media/picture-sources.ts';
import { markdown } from '../door/prose.ts';
import type { PictureView } from './views.ts';

/** What a page knows about a picture in prose: everything, or only its address. */
export type ProsePicture = string | Omit<PictureView, 'alt' | 'credit'>;

/** Minimum width in pixels for a landscape picture to be shown wider than the text. */
const WIDE_MIN = 1200;
/** The total width of a line in a gallery, relative to its height: two landscape or three portrait pictures. */
const LINE_ASPECTS = 3;
/** Limits of the aspect ratios in prose.css, in tenths. */
const [ASPECT_MIN, ASPECT_MAX] = [4, 30];
/** The aspect ratio of a picture whose size is unknown. */
const ASPECT = 1.5;

/** A picture from a paragraph with nothing else in it. */
export interface Shown {
  alt: string;
  caption: string | null;
  picture: ProsePicture;
}

const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);

/** Turns paragraphs that consist of pictures into one token, for `picturesHtml`: a figure, or a gallery of several. */
export function withFigures(tokens: Token[], pictureOf: (path: string) => ProsePicture): Token[] {
  const found: Token[] = [];
  let gallery: Shown[] | null = null;
  for (let at = 0; at < tokens.length; at++) {
    const [open, inline] = [tokens[at], tokens[at + 1]];
    const images = open?.type === 'paragraph_open' && open.level === 0 ? imagesOf(inline) : [];
    if (open === undefined || images.length === 0) {
      if (open !== undefined) found.push(open);
      gallery = null;
      continue;
    }
    const shown = images.map((image) => shownBy(image, pictureOf));
    if (gallery !== null) gallery.push(...shown);
    else {
      gallery = shown;
      found.push({ ...open, type: 'pictures', nesting: 0, meta: { shown: gallery } } as unknown as Token);
    }
    // Skips the paragraph's content and end.
    at += 2;
  }
  return found;
}

/** The pictures of a paragraph with nothing else in it; empty for any other paragraph. */
function imagesOf(inline: Token | undefined): Token[] {
  const children = inline?.children ?? [];
  const rest = children.filter(({ type }) => type !== 'image');
  const isBlank = ({ type, content }: Token) => type === 'softbreak' || (type === 'text' && content.trim() === '');
  return rest.every(isBlank) ? children.filter(({ type }) => type === 'image') : [];
}

function shownBy(image: Token, pictureOf: (path: string) => ProsePicture): Shown {
  const title = image.attrGet('title');
  return {
    alt: altOf(image),
    caption: title === null || String(title).trim() === '' ? null : String(title),
    picture: pictureOf(String(image.attrGet('src') ?? '')),
  };
}

export function altOf(image: Token): string {
  return markdown.renderer.renderInlineAsText(image.children ?? [], markdown.options, {});
}

/** A figure, or a gallery in lines of equal height. */
export function picturesHtml(shown: readonly Shown[]): string {
  const [only] = shown;
  if (only === undefined) return '';
  if (shown.length === 1) return `${figure(only, isWide(only.picture) ? 'art' : 'figure')}\n`;
  const lines = inLines(shown).map(
    (line) => `<div class="line">${line.map((one) => figure(one, 'gallery')).join('')}</div>`,
  );
  return `<div class="gallery wide">${lines.join('')}</div>\n`;
}

function figure({ alt, caption, picture }: Shown, position: PicturePosition): string {
  const figcaption = caption === null ? '' : `<figcaption>${escapeHtml(caption)}</figcaption>`;
  const name = position === 'art' ? ' class="wide"' : position === 'gallery' ? ` class="${aspectClass(picture)}"` : '';
  return `<figure${name}>${imageHtml(picture, alt, position)}${figcaption}</figure>`;
}

/** A picture in prose; only its address and description if its properties are unknown. */
export function imageHtml(picture: ProsePicture, alt: string, position: PicturePosition): string {
  const described = `alt="${escapeHtml(alt)}"`;
  if (typeof picture === 'string') return `<img src="${escapeHtml(picture)}" ${described}>`;
  const { url, width, height } = picture;
  const size = width === null || height === null ? '' : ` width="${width}" height="${height}"`;
  const toned = tone(picture);
  const image = (more: string) =>
    `<img src="${escapeHtml(url)}" ${described}${size} loading="lazy" decoding="async"${toned === undefined ? '' : ` class="${toned}"`}${more}>`;
  const sources = imageSources(picture, position, true);
  if (sources.length === 0) return image('');
  const html = sources.map(
    ({ type, srcset, sizes }) => `<source type="${type}" srcset="${escapeHtml(srcset)}" sizes="${sizes}">`,
  );
  return `<picture>${html.join('')}${image(' sizes="auto"')}</picture>`;
}

function isWide(picture: ProsePicture): boolean {
  return typeof picture !== 'string' && (picture.width ?? 0) >= WIDE_MIN && aspectOf(picture) > 1;
}

/** Width divided by height. */
function aspectOf(picture: ProsePicture): number {
  if (typeof picture === 'string' || !picture.width || !picture.height) return ASPECT;
  return picture.width / picture.height;
}

function aspectClass(picture: ProsePicture): string {
  return `x${Math.min(ASPECT_MAX, Math.max(ASPECT_MIN, Math.round(aspectOf(picture) * 10)))}`;
}

/** Divides pictures, in order, into lines of roughly equal width at equal height. */
function inLines(shown: readonly Shown[]): Shown[][] {
  const total = shown.reduce((sum, { picture }) => sum + aspectOf(picture), 0);
  const each = total / Math.max(1, Math.round(total / LINE_ASPECTS));
  const lines: Shown[][] = [[]];
  let before = 0;
  for (const one of shown) {
    const aspect = aspectOf(one.picture);
    // A picture starts a new line if most of it would extend beyond the end of the current one.
    const line = Math.floor((before + aspect / 2) / each);
    if (line >= lines.length && (lines.at(-1)?.length ?? 0) > 0) lines.push([]);
    lines.at(-1)?.push(one);
    before += aspect;
  }
  return lines;
}
