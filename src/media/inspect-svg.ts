import parse, { type CssNode } from 'css-tree/parser';
import walk from 'css-tree/walker';
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { InvalidMedia, type MediaProperties } from './media-formats.ts';
import {
  AT_RULES,
  ELEMENTS,
  FUNCTIONS,
  NOTES,
  PLAIN_ATTRIBUTES,
  PROPERTIES,
  SVG,
  XLINK,
  XML,
  XMLNS,
} from './svg-names.ts';

const XML_ATTRIBUTES = new Set(['space', 'lang', 'id']);
const XLINK_ATTRIBUTES = new Set(['title', 'type', 'role', 'arcrole', 'show', 'actuate']);

/** The attributes that may be animated. None of them holds a reference. */
const MOVES = new Set(['transform', 'gradientTransform', 'patternTransform']);

/** Maximum nesting of elements: the parser searches all open ones for each namespace. */
const DEPTH_MAX = 100;

/** Maximum length of a style, in UTF-16 units: parsing takes a hundred times as much memory. */
const STYLE_MAX = 1_000_000;
/** Maximum nesting of brackets: the parser is recursive. */
const BRACKETS_MAX = 100;

/** Allowed references: a fragment of the same file, or an embedded picture. */
const INSIDE = /^\s*(?:#|data:image\/(?:png|jpeg|webp|avif|gif);base64,[A-Za-z0-9+/=\s]*$)/;

/** The parts of a style that cannot name anything outside it. */
const HARMLESS = new Set(
  `StyleSheet Rule Block DeclarationList Value Identifier Number Percentage Dimension Hash Operator Parentheses String
  WhiteSpace Comment`.split(/\s+/),
);

/** Accepts well-formed XML with only the names of `svg-names.ts`, and no external references. Throws `InvalidMedia`. */
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

function isInside(reference: string): boolean {
  return INSIDE.test(reference);
}

/**
 * Checks that everything in a style is listed: in a style element, a style attribute, or the value of a presentation
 * attribute. A browser might read what this parser cannot, so that is rejected. Throws `InvalidMedia`.
 */
function checkStyle(css: string, context: 'stylesheet' | 'declarationList' | 'value'): void {
  if (css.trim() === '') return;
  // A value without a parenthesis or an escape contains no call and no reference. Most have neither.
  if (context === 'value' && !/[(\\]/.test(css)) return;
  if (css.length > STYLE_MAX) {
    throw new InvalidMedia(
      `has a style longer than ${STYLE_MAX} characters; shorten it, and embed pictures as image elements`,
    );
  }
  // Parsers disagree on escapes in names.
  if (css.includes('\\')) throw new InvalidMedia('has an escape in a style; write the character itself');
  checkDepth(css);
  const preludes = new Set<CssNode | null>();
  walk(read(css, context), (node: CssNode) => {
    if (node.type === 'Rule' || node.type === 'Atrule') preludes.add(node.prelude);
    // A rule's prelude loads nothing.
    if (node.type !== 'Raw' || !preludes.has(node)) checkNode(node);
  });
}

function read(css: string, context: 'stylesheet' | 'declarationList' | 'value'): CssNode {
  const onParseError = ({ message }: Error) => {
    throw new InvalidMedia(`has a style that cannot be read (${message}); correct it`);
  };
  try {
    const preludes = { parseRulePrelude: false, parseAtrulePrelude: false };
    return parse(css, { context, ...preludes, parseCustomProperty: true, onParseError });
  } catch (error) {
    if (error instanceof InvalidMedia) throw error;
    return onParseError(error as Error);
  }
}

function checkNode(node: CssNode): void {
  if (HARMLESS.has(node.type)) return;
  switch (node.type) {
    case 'Atrule':
      if (AT_RULES.has(node.name.toLowerCase())) return;
      if (/^import$/i.test(node.name)) throw new InvalidMedia('imports a style sheet; put the styles into the file');
      throw new InvalidMedia(`has @${node.name} in a style, which pictures may not have; remove it`);
    case 'Declaration':
      if (PROPERTIES.has(node.property.toLowerCase()) || /^(?:--|-inkscape-)/.test(node.property)) return;
      throw new InvalidMedia(`has the property ${node.property.slice(0, 80)} in a style; remove it`);
    case 'Function':
      if (FUNCTIONS.has(node.name.toLowerCase())) return;
      throw new InvalidMedia(`calls ${node.name.slice(0, 80)}() in a style, which pictures may not; remove it`);
    case 'Url':
      if (isInside(node.value)) return;
      throw new InvalidMedia(
        `refers to ${node.value.slice(0, 80)} in a style, which is not in the file; embed it or remove it`,
      );
    default:
      throw new InvalidMedia(`has a style with what pictures may not have (${node.type}); remove it`);
  }
}

function checkDepth(css: string): void {
  let depth = 0;
  for (const sign of css) {
    if (sign === '(' || sign === '[' || sign === '{') depth++;
    if (sign === ')' || sign === ']' || sign === '}') depth--;
    if (depth > BRACKETS_MAX)
      throw new InvalidMedia(`has a style nested deeper than ${BRACKETS_MAX} levels; write it flatter`);
  }
}
