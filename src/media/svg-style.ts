import type { CssNode, ParseOptions } from 'css-tree/parser';
import parse from 'css-tree/parser';
import walk from 'css-tree/walker';
import { InvalidMedia } from './media-formats.ts';
import { AT_RULES, FUNCTIONS, PROPERTIES } from './svg-names.ts';

/** Maximum length of a style, in UTF-16 units: parsing takes a hundred times as much memory. */
const STYLE_MAX = 1_000_000;
/** Maximum nesting of brackets: the parser is recursive. */
const DEPTH_MAX = 100;

/** Allowed references: a fragment of the same file, or an embedded picture. */
const INSIDE = /^\s*(?:#|data:image\/(?:png|jpeg|webp|avif|gif);base64,[A-Za-z0-9+/=\s]*$)/;

export function isInside(reference: string): boolean {
  return INSIDE.test(reference);
}

/**
 * Checks that everything in a style is listed: in a style element, a style attribute, or the value of a presentation
 * attribute. A browser might read what this parser cannot, so that is rejected. Throws `InvalidMedia`.
 */
export function checkStyle(css: string, context: 'stylesheet' | 'declarationList' | 'value'): void {
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
  walk(read(css, { context }), (node: CssNode) => {
    if (node.type === 'Rule' || node.type === 'Atrule') preludes.add(node.prelude);
    // A rule's prelude loads nothing.
    if (node.type !== 'Raw' || !preludes.has(node)) checkNode(node);
  });
}

function read(css: string, options: ParseOptions): CssNode {
  const onParseError = ({ message }: Error) => {
    throw new InvalidMedia(`has a style that cannot be read (${message}); correct it`);
  };
  try {
    const preludes = { parseRulePrelude: false, parseAtrulePrelude: false };
    return parse(css, { ...options, ...preludes, parseCustomProperty: true, onParseError });
  } catch (error) {
    if (error instanceof InvalidMedia) throw error;
    return onParseError(error as Error);
  }
}

function checkNode(node: CssNode): void {
  switch (node.type) {
    case 'StyleSheet':
    case 'Rule':
    case 'Block':
    case 'DeclarationList':
    case 'Value':
    case 'Identifier':
    case 'Number':
    case 'Percentage':
    case 'Dimension':
    case 'Hash':
    case 'Operator':
    case 'Parentheses':
    case 'String':
    case 'WhiteSpace':
    case 'Comment':
      return;
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
    if (depth > DEPTH_MAX)
      throw new InvalidMedia(`has a style nested deeper than ${DEPTH_MAX} levels; write it flatter`);
  }
}
