// The parts of css-tree that are needed, without its dictionary of CSS, which takes a tenth of a second to load.
declare module 'css-tree/parser' {
  import type { CssNode, ParseOptions } from 'css-tree';
  export default function parse(css: string, options?: ParseOptions): CssNode;
}

declare module 'css-tree/walker' {
  import type { CssNode } from 'css-tree';
  export default function walk(ast: CssNode, enter: (node: CssNode) => void): void;
}
