import parse, { type CssNode } from 'css-tree/parser';
import { tokenize, tokenTypes } from 'css-tree/tokenizer';
import walk from 'css-tree/walker';
import { InvalidMedia, type MediaProperties } from './media-formats.ts';
import { StyleRules } from './style-rules.ts';

/** Maximum length of a paper's stylesheet, in UTF-16 units. */
const STYLE_MAX = 200_000;
/** Maximum nesting of brackets: the parser is recursive. */
const DEPTH_MAX = 50;

/** Functions whose strings are addresses. */
const LOADS = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);
const CLOSES: Readonly<Record<string, string>> = { '}': '{', ')': '(', ']': '[' };

/** Allowed addresses: a data: picture, a fragment of the page, or a media file relative to the paper's root. */
const OWN = /^(?:data:image\/(?:png|jpeg|webp|avif|gif|svg\+xml)[;,]|#|media\/(?!.*\.\.)[^:?#\\]+$)/;

/** A stylesheet breaks a rule. `line` counts from 1. */
export class InvalidStyle extends InvalidMedia {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Accepts rules that load nothing from elsewhere and that `style-rules.ts` allows. Throws `InvalidStyle`. */
export function inspectCss(text: string): MediaProperties {
  const [fault] = faultsOf(text);
  if (fault !== undefined) throw new InvalidStyle(fault.line, fault.message);
  return { width: null, height: null, duration_ms: null };
}

/** A stylesheet that was filed under older rules, without the parts that `inspectCss` rejects, or empty. */
export function pressedCss(text: string): string {
  try {
    const faults = faultsOf(text);
    if (faults.length === 0) return text;
    let kept = '';
    let from = 0;
    for (const { start, end } of faults) {
      kept += text.slice(from, start);
      from = text[end] === ';' ? end + 1 : end;
    }
    kept += text.slice(from);
    inspectCss(kept);
    const lines = [...new Set(faults.map(({ line }) => line))].slice(0, 20);
    return `/* Left out at line ${lines.join(', ')}: ${FILE_AGAIN} */\n${kept}`;
  } catch (error) {
    if (!(error instanceof InvalidStyle)) throw error;
    return `/* Left out from line ${error.line} on: ${FILE_AGAIN} */\n`;
  }
}

const FILE_AGAIN = 'what a stylesheet may not set. File it again to see why.';

interface StyleFault {
  line: number;
  message: string;
  /** The part of the text to take out. */
  start: number;
  end: number;
}

/** The parts that are not allowed, in the order of the text. Throws `InvalidStyle` if the text cannot be parsed. */
function faultsOf(text: string): StyleFault[] {
  if (text.length > STYLE_MAX) {
    throw new InvalidStyle(1, `has ${text.length} characters, more than the ${STYLE_MAX} that are allowed; shorten it`);
  }
  checkTokens(text);
  let sheet: CssNode;
  try {
    sheet = parse(text, {
      context: 'stylesheet',
      positions: true,
      parseValue: false,
      parseRulePrelude: false,
      parseAtrulePrelude: false,
      parseCustomProperty: false,
      onParseError: unreadable,
    });
  } catch (error) {
    if (error instanceof InvalidMedia) throw error;
    unreadable(error as Error & { line?: number });
  }
  const definitions = new Map<string, string[]>();
  walk(sheet, (node) => {
    if (node.type !== 'Declaration' || !node.property.startsWith('--')) return;
    const values = definitions.get(node.property) ?? [];
    values.push(node.value.value);
    definitions.set(node.property, values);
  });
  const rules = new StyleRules(definitions);
  const faults: StyleFault[] = [];
  const refuse = ({ loc }: CssNode, message: string) => {
    faults.push({ line: loc.start.line, message, start: loc.start.offset, end: loc.end.offset });
  };
  /** Checks the rules of the sheet or of a condition in it; `selector` is that of the enclosing rule. */
  const check = (nodes: Iterable<CssNode>, selector: string | null) => {
    for (const node of nodes) {
      if (node.type === 'Comment') continue;
      if (node.type === 'Declaration' && selector !== null) {
        const fault = rules.fault(node.property, node.value.value);
        if (fault !== null) refuse(node, `${fault} (${selector})`);
      } else if (node.type === 'Rule' && selector === null) {
        check(node.block.children, (node.prelude?.value ?? '').trim().slice(0, 80));
      } else if (node.type === 'Atrule' && selector === null) {
        const name = node.name.toLowerCase();
        if ((name === 'media' || name === 'supports') && node.block) check(node.block.children, null);
        else if (name !== 'charset' || node.block)
          refuse(node, `has @${name}, of which a stylesheet has none but @media and @supports; take it out`);
      } else
        refuse(
          node,
          selector === null
            ? 'has something that is not a rule; remove it'
            : `nests a rule in ${selector}; write it by itself`,
        );
    }
  };
  if (sheet.type === 'StyleSheet') check(sheet.children, null);
  return faults;
}

function unreadable({ message, line = 1 }: Error & { line?: number }): never {
  throw new InvalidStyle(line, `cannot be read as CSS (${message}); correct it`);
}

/** Checks what a stylesheet loads, and that its brackets close, in one pass over its tokens. */
function checkTokens(css: string): void {
  const open: { bracket: string; name: string; line: number }[] = [];
  let line = 1;
  let afterDot = false;
  tokenize(css, (type, start, end) => {
    const token = css.slice(start, end);
    const refuse = (message: string): never => {
      throw new InvalidStyle(line, message);
    };
    const isText = type === tokenTypes.String || type === tokenTypes.Comment;
    if (type === tokenTypes.BadString) refuse('has a text without an end; close its quotes');
    if (type === tokenTypes.CDO || type === tokenTypes.CDC) refuse(`has ${token}, a comment of HTML; take it out`);
    if (type === tokenTypes.BadUrl) refuse('has a url() that cannot be read; put its address in quotes');
    // Parsers disagree on escapes in names.
    if (!isText && type !== tokenTypes.Url && token.includes('\\'))
      refuse('has an escape outside of a text; write the character itself');
    if (type === tokenTypes.AtKeyword && /^@(?:import|namespace)$/i.test(token))
      refuse(`has ${token}, which loads or names what is elsewhere; put the rules into this file`);
    if (type === tokenTypes.Url) checkAddress(token.slice(token.indexOf('(') + 1, -1).trim(), refuse);
    if (type === tokenTypes.String && LOADS.has(open.at(-1)?.name ?? '')) checkAddress(token.slice(1, -1), refuse);
    const name = type === tokenTypes.String ? token.slice(1, -1) : type === tokenTypes.Ident ? token : '';
    if (name === 'ai' && (afterDot || open.at(-1)?.bracket === '['))
      refuse('styles .ai, the mark of an AI persona, which stays as it is; remove the rule');
    afterDot = token === '.';
    if (type === tokenTypes.Function || ['(', '[', '{'].includes(token)) {
      open.push({ bracket: token.at(-1) ?? '', name: token.slice(0, -1).toLowerCase(), line });
      if (open.length > DEPTH_MAX) refuse(`is nested deeper than ${DEPTH_MAX} levels; write it flatter`);
    } else if (!isText && token in CLOSES && open.pop()?.bracket !== CLOSES[token]) {
      refuse(`has a ${token} that closes nothing; remove it, or open what it closes`);
    }
    for (let at = start; at < end; at++) if (css.charCodeAt(at) === 10) line++;
  });
  const last = open.at(-1);
  if (last !== undefined) throw new InvalidStyle(last.line, `has a ${last.bracket} that is never closed; close it`);
}

function checkAddress(address: string, refuse: (message: string) => never): void {
  if (OWN.test(address)) return;
  refuse(
    `loads ${JSON.stringify(address.slice(0, 80))} from elsewhere; name a media file of the paper, as in url("media/paper.png")`,
  );
}
