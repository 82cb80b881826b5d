import { SaxesParser, type SaxesTagNS } from 'saxes';
import { type Measure, Unfit } from './probe-measure.ts';

const SVG = 'http://www.w3.org/2000/svg';

/** Elements that run code, bring in foreign documents, or can turn a harmless reference into another. */
const FORBIDDEN = new Set([
  'script',
  'foreignobject',
  'iframe',
  'object',
  'embed',
  'handler',
  'listener',
  'a',
  'animate',
  'set',
]);
const INLINE_PICTURE = /^data:image\/(?:png|jpeg|webp|avif|gif);base64,[A-Za-z0-9+/=\s]*$/;

/** How deep elements may be nested: the parser looks for each one's namespace through all that are open. */
const DEPTH_MAX = 100;

/** A picture that stands alone: well-formed, of a known shape, without code and without anything from elsewhere. */
export function probeSvg(text: string): Measure {
  let root: SaxesTagNS | undefined;
  let css = '';
  let depth = 0;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw new Unfit(`is not well-formed XML (${error.message}); export it again as SVG`);
  });
  parser.on('doctype', () => {
    throw new Unfit('has a DOCTYPE; remove it');
  });
  parser.on('processinginstruction', ({ target }) => {
    throw new Unfit(`has the processing instruction ${target}; remove it`);
  });
  parser.on('opentag', (tag) => {
    if (++depth > DEPTH_MAX) throw new Unfit(`has elements nested deeper than ${DEPTH_MAX} levels; export it flatter`);
    if (!root) {
      if (tag.local !== 'svg' || tag.uri !== SVG) {
        throw new Unfit(`has the root element ${tag.name}, not svg in the namespace ${SVG}; export it again as SVG`);
      }
      root = tag;
    }
    checkTag(tag);
  });
  parser.on('text', (part) => {
    css += part;
  });
  parser.on('cdata', (part) => {
    css += part;
  });
  parser.on('closetag', (tag) => {
    depth--;
    if (tag.local === 'style') checkStyle(css);
    css = '';
  });
  parser.write(text).close();
  if (!root) throw new Unfit('has no svg element; export it again as SVG');
  return { ...sizeOf(root), duration_ms: null };
}

function checkTag(tag: SaxesTagNS): void {
  if (FORBIDDEN.has(tag.local.toLowerCase())) throw new Unfit(`has a ${tag.local} element; remove it`);
  for (const { local, name, value } of Object.values(tag.attributes)) {
    if (/^on/i.test(local)) throw new Unfit(`has the event handler ${name}; remove it`);
    if (/^(?:href|src)$/i.test(local) && !/^\s*#/.test(value) && !INLINE_PICTURE.test(value)) {
      throw new Unfit(`refers to ${value.slice(0, 80)}, which is not in the file; embed it or remove it`);
    }
    checkStyle(value);
  }
}

/** An escape could hide what a style refers to. */
function checkStyle(css: string): void {
  if (/@import/i.test(css)) throw new Unfit('imports a style sheet; put the styles into the file');
  for (const [, target = ''] of css.matchAll(/url\(\s*["']?([^)]*)/gi)) {
    if (!target.startsWith('#') && !INLINE_PICTURE.test(target.replace(/["']\s*$/, ''))) {
      throw new Unfit(`refers to ${target.slice(0, 80)} in a style, which is not in the file; embed it or remove it`);
    }
  }
  if (/\\[0-9a-f]/i.test(css)) throw new Unfit('has an escape in a style; write the character itself');
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
    throw new Unfit('has neither a width and a height in pixels nor a viewBox; give its svg element a viewBox');
  }
  if (width) return { width, height: Math.round((width * boxHeight) / boxWidth) };
  if (height) return { width: Math.round((height * boxWidth) / boxHeight), height };
  return { width: Math.round(boxWidth), height: Math.round(boxHeight) };
}

function pixels(length: string | undefined): number | null {
  const number = /^\s*(\d+(?:\.\d+)?)(?:px)?\s*$/.exec(length ?? '')?.[1];
  return number ? Math.round(Number(number)) : null;
}
