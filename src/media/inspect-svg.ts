import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { InvalidMedia, type MediaProperties } from './media-formats.ts';
import { ELEMENTS, NOTES, PLAIN_ATTRIBUTES, PROPERTIES, SVG, XLINK, XML, XMLNS } from './svg-names.ts';
import { checkStyle, isInside } from './svg-style.ts';

const XML_ATTRIBUTES = new Set(['space', 'lang', 'id']);
const XLINK_ATTRIBUTES = new Set(['title', 'type', 'role', 'arcrole', 'show', 'actuate']);

/** The attributes that may be animated. None of them holds a reference. */
const MOVES = new Set(['transform', 'gradientTransform', 'patternTransform']);

/** Maximum nesting of elements: the parser searches all open ones for each namespace. */
const DEPTH_MAX = 100;

/** Accepts well-formed XML of only what `svg-names.ts` lists, without external references. Throws `InvalidMedia`. */
export function inspectSvg(text: string): MediaProperties {
  let root: SaxesTagNS | undefined;
  /** The text of the open style element. */
  let css: string[] | null = null;
  let depth = 0;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw new InvalidMedia(`is not well-formed XML (${error.message}); export it again as SVG`);
  });
  parser.on('doctype', () => {
    throw new InvalidMedia('has a DOCTYPE; remove it');
  });
  parser.on('processinginstruction', ({ target }) => {
    throw new InvalidMedia(`has the processing instruction ${target}; remove it`);
  });
  parser.on('opentag', (tag) => {
    if (++depth > DEPTH_MAX)
      throw new InvalidMedia(`has elements nested deeper than ${DEPTH_MAX} levels; export it flatter`);
    if (!root) {
      if (tag.local !== 'svg' || tag.uri !== SVG) {
        throw new InvalidMedia(
          `has the root element ${tag.name}, not svg in the namespace ${SVG}; export it again as SVG`,
        );
      }
      root = tag;
    }
    // A browser would join the surrounding text into one style.
    if (css !== null) throw new InvalidMedia(`has a ${tag.name} element within a style; remove it`);
    checkTag(tag);
    if (tag.local === 'style') css = [];
  });
  parser.on('text', (part) => {
    css?.push(part);
  });
  parser.on('cdata', (part) => {
    css?.push(part);
  });
  parser.on('closetag', () => {
    depth--;
    if (css !== null) checkStyle(css.join(''), 'stylesheet');
    css = null;
  });
  parser.write(text).close();
  if (!root) throw new InvalidMedia('has no svg element; export it again as SVG');
  return { ...sizeOf(root), duration_ms: null };
}

function checkTag(tag: SaxesTagNS): void {
  if (NOTES.has(tag.uri)) return;
  if (tag.uri !== SVG || !ELEMENTS.has(tag.local)) {
    throw new InvalidMedia(`has a ${tag.name} element, which pictures may not have; remove it`);
  }
  for (const attribute of Object.values(tag.attributes)) checkAttribute(attribute);
}

function checkAttribute({ uri, local, name, value }: SaxesAttributeNS): void {
  if (uri === XMLNS || NOTES.has(uri) || (uri === XML && XML_ATTRIBUTES.has(local))) return;
  if (uri === XLINK ? local === 'href' : uri === '' && local === 'href') {
    if (isInside(value)) return;
    throw new InvalidMedia(`refers to ${value.slice(0, 80)}, which is not in the file; embed it or remove it`);
  }
  if (uri === XLINK && XLINK_ATTRIBUTES.has(local)) return;
  if (uri === '') {
    if (local === 'style') return checkStyle(value, 'declarationList');
    if (local === 'attributeName' && MOVES.has(value)) return;
    if (PLAIN_ATTRIBUTES.has(local) || /^(?:data|aria)-/.test(local)) return;
    if (PROPERTIES.has(local)) return checkStyle(value, 'value');
  }
  throw new InvalidMedia(`has the attribute ${name.slice(0, 80)}, which pictures may not have; remove it`);
}

function sizeOf(root: SaxesTagNS): { width: number; height: number } {
  const width = pixels(root.attributes.width?.value);
  const height = pixels(root.attributes.height?.value);
  if (width && height) return { width, height };
  const box =
    root.attributes.viewBox?.value
      .trim()
      .split(/[\s,]+/)
      .map(Number) ?? [];
  const [, , boxWidth = 0, boxHeight = 0] = box;
  if (box.length !== 4 || !(boxWidth > 0 && boxHeight > 0)) {
    throw new InvalidMedia('has neither a width and a height in pixels nor a viewBox; give its svg element a viewBox');
  }
  if (width) return { width, height: Math.round((width * boxHeight) / boxWidth) };
  if (height) return { width: Math.round((height * boxWidth) / boxHeight), height };
  return { width: Math.round(boxWidth), height: Math.round(boxHeight) };
}

function pixels(length: string | undefined): number | null {
  const number = /^\s*(\d+(?:\.\d+)?)(?:px)?\s*$/.exec(length ?? '')?.[1];
  return number ? Math.round(Number(number)) : null;
}
