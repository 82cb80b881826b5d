import { pathMatcher } from '../../desk/press/feeds/headers.ts';

export interface HeaderRules {
  /** Headers of a file; `path` is relative to the paper's folder. */
  of(path: string): Record<string, string>;
}

interface Rule {
  matches: RegExp;
  headers: Record<string, string>;
}

/** Parses a `_headers` file of the press. Its first rule, of every address, shows the path of the root. */
export function parseHeaderRules(text: string): HeaderRules {
  const blocks = text.split('\n\n').map((block) => block.split('\n').filter((line) => line !== ''));
  const root = (blocks[0]?.[0] ?? '/*').replace(/\/\*$/, '');
  const rules = blocks.map(([pattern = '', ...lines]) => ({
    matches: pathMatcher(pattern.slice(root.length)),
    headers: Object.fromEntries(lines.map(parseLine)),
  }));
  return { of: (path) => headersOf(rules, `/${path.replace(/(^|\/)index\.html$/, '$1')}`) };
}

function headersOf(rules: readonly Rule[], address: string): Record<string, string> {
  return Object.assign({}, ...rules.filter(({ matches }) => matches.test(address)).map(({ headers }) => headers));
}

function parseLine(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}
