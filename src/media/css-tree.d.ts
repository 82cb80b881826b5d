// The modules of css-tree in use, with only the types that are read. The main module also loads a dictionary of
// CSS, which takes 100 ms.
declare module 'css-tree/parser' {
  /** A position in the text, in UTF-16 units and lines from 1. Only present with `positions`. */
  interface Place {
    start: { offset: number; line: number };
    end: { offset: number };
  }
  interface Block {
    children: Iterable<CssNode>;
  }
  /** A prelude or a value, which is a text unless the options ask for parsing it. */
  type Part = CssNode & { value: string };

  export type CssNode = { loc: Place } & (
    | { type: 'StyleSheet'; children: Iterable<CssNode> }
    | { type: 'Rule'; prelude: Part; block: Block }
    | { type: 'Atrule'; name: string; prelude: Part | null; block: Block | null }
    | { type: 'Declaration'; property: string; value: Part }
    | { type: 'Function'; name: string }
    | { type: 'Url'; value: string }
    | { type: 'Block' | 'DeclarationList' | 'Value' | 'Parentheses' | 'WhiteSpace' | 'Comment' }
    | { type: 'Identifier' | 'Number' | 'Percentage' | 'Dimension' | 'Hash' | 'Operator' | 'String' }
    | { type: 'Raw'; value: string }
  );

  export interface ParseOptions {
    context: 'stylesheet' | 'declarationList' | 'value';
    parseRulePrelude?: boolean;
    parseAtrulePrelude?: boolean;
    parseCustomProperty?: boolean;
    parseValue?: boolean;
    positions?: boolean;
    /** `line` counts from 1. */
    onParseError?(error: Error & { line?: number }): void;
  }

  /** Throws a SyntaxError for an unreadable value. Calls `onParseError` for unreadable parts of a style sheet. */
  export default function parse(css: string, options: ParseOptions): CssNode;
}

declare module 'css-tree/tokenizer' {
  export const tokenTypes: Record<
    | 'Ident'
    | 'Function'
    | 'AtKeyword'
    | 'String'
    | 'BadString'
    | 'Url'
    | 'BadUrl'
    | 'Comment'
    | 'Number'
    | 'Percentage'
    | 'Dimension'
    | 'Delim'
    | 'CDO'
    | 'CDC',
    number
  >;
  /** Calls back for every token, with its type and its place in the text. */
  export function tokenize(css: string, onToken: (type: number, start: number, end: number) => void): void;
}

declare module 'css-tree/walker' {
  import type { CssNode } from 'css-tree/parser';
  export default function walk(ast: CssNode, enter: (node: CssNode) => void): void;
}
