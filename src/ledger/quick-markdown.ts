import type { MarkdownIt, StateBlock, StateInline, Token } from 'markdown-it';
import { markdown } from './prose.ts';

// Import this for its effect: prose is parsed in little more than half the time, into the same tokens. It stands apart
// from `prose.ts`, which readers' browsers run.

/**
 * Makes a parser without `linkify` quicker. The build of markdown-it sets each member of a token and of a paragraph's
 * state through a function, which takes longer than the parsing, and stops a text wherever a rule of any plugin might
 * begin. The members and steps here are its own.
 */
export function quicken(md: MarkdownIt): void {
  const { Token: Original } = new md.core.State('', md, {});
  inherit(QuickToken, Original);
  inherit(QuickInline, md.inline.State);
  Object.assign(QuickInline.prototype, { Token: Original });
  md.inline.State = QuickInline as unknown as typeof StateInline;
  md.block.State = quickBlock(md.block.State);
  md.inline.ruler.at('text', text);
}

function inherit(quick: { prototype: object }, original: { prototype: object }): void {
  Object.setPrototypeOf(quick.prototype, original.prototype);
}

type Nesting = Token['nesting'];

class QuickToken {
  type: string;
  tag: string;
  nesting: Nesting;
  level: number;
  block: boolean;
  map: Token['map'] = null;
  attrs: Token['attrs'] = null;
  children: Token['children'] = null;
  content = '';
  markup = '';
  info = '';
  meta: Token['meta'] = null;
  hidden = false;

  constructor(type: string, tag: string, nesting: Nesting, level: number, block: boolean) {
    this.type = type;
    this.tag = tag;
    this.nesting = nesting;
    this.level = level;
    this.block = block;
  }
}

class QuickInline {
  src: string;
  md: MarkdownIt;
  env: StateInline['env'];
  tokens: QuickToken[];
  tokens_meta: StateInline['tokens_meta'];
  pos = 0;
  posMax: number;
  level = 0;
  pending = '';
  pendingLevel = 0;
  cache: StateInline['cache'] = {};
  backticks: StateInline['backticks'] = {};
  backticksScanned = false;
  skipHtmlSpecial = false;
  linkLevel = 0;
  delimiters: StateInline['delimiters'] = [];
  _prev_delimiters: StateInline['_prev_delimiters'] = [];

  constructor(src: string, md: MarkdownIt, env: StateInline['env'], tokens: QuickToken[]) {
    this.src = src;
    this.md = md;
    this.env = env;
    this.tokens = tokens;
    this.tokens_meta = Array(tokens.length);
    this.posMax = src.length;
  }

  pushPending(): QuickToken {
    const token = new QuickToken('text', '', 0, this.pendingLevel, false);
    token.content = this.pending;
    this.tokens.push(token);
    this.pending = '';
    return token;
  }

  push(type: string, tag: string, nesting: Nesting): QuickToken {
    if (this.pending) this.pushPending();
    if (nesting < 0) {
      this.level--;
      this.delimiters = this._prev_delimiters.pop() ?? [];
    }
    const token = new QuickToken(type, tag, nesting, this.level, false);
    if (nesting > 0) {
      this.level++;
      this._prev_delimiters.push(this.delimiters);
      this.delimiters = [];
    }
    this.pendingLevel = this.level;
    this.tokens.push(token);
    this.tokens_meta.push(nesting > 0 ? { delimiters: this.delimiters } : undefined);
    return token;
  }
}

function quickBlock(Original: typeof StateBlock): typeof StateBlock {
  return class extends Original {
    override push(type: string, tag: string, nesting: Nesting): Token {
      if (nesting < 0) this.level--;
      const token = new QuickToken(type, tag, nesting, this.level, true) as Token;
      if (nesting > 0) this.level++;
      this.tokens.push(token);
      return token;
    }
  };
}

/** A text up to where a rule of our grammar may begin. */
const TEXT = /[^\n\\`~*_[\]!<&]+/y;

function text(state: StateInline, silent: boolean): boolean {
  TEXT.lastIndex = state.pos;
  if (!TEXT.test(state.src)) return false;
  const end = Math.min(TEXT.lastIndex, state.posMax);
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

quicken(markdown);
