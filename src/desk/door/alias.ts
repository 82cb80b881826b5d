import { normalized } from '../../shared/combining-marks.ts';
import type { Problem } from '../../shared/shape.ts';
import { problem, quote } from '../../shared/shown-text.ts';
import { type Filing, MAX } from './piece.ts';
import { RESERVED_PAGES } from './reserved.ts';

/** Maximum length of a file name, in bytes; every file system accepts it. */
const SEGMENT_BYTES_MAX = 200;

/** Characters allowed in a segment of an earlier address: none that end a path or are special in a redirects file. */
const SEGMENT = /^[\p{L}\p{N}\p{M}~!$&'()+,;=@_-][\p{L}\p{N}\p{M}.~!$&'()+,;=@_-]*$/u;
/** An address that is a file. Any other address becomes a folder with an index. */
const FILE = /\.html?$/i;
const RESERVED = new Set(RESERVED_PAGES);

/** What the rules for earlier addresses need to know about a paper. */
export interface AliasRules {
  /** Whether the paper has a page of its own with this slug. */
  hasPage(slug: string): boolean;
  /** The slug of the piece to which an earlier address leads; null for an unused address. */
  aliasOwner(alias: string): string | null;
}

interface AliasProblem {
  rule: string;
  message: string;
}

/** Normalizes earlier addresses for storage and removes duplicates. */
export function aliasesFrom(given: readonly string[]): string[] {
  return [...new Set(given.map(aliasFrom))];
}

/** The normalized form of an earlier address, for look-ups: decoded, in NFC, without a trailing slash. */
export function aliasFrom(given: string): string {
  const path = decoded(given.trim()).replace(/\/(?:index\.html?)?$/i, '');
  return normalized(path);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The redirect file for an earlier address, below the paper's root. */
export function aliasFile(alias: string): string {
  return FILE.test(alias) ? alias.slice(1) : `${alias.slice(1)}/index.html`;
}

/** The problems of a piece's earlier addresses: malformed, used by the paper itself, or taken by another piece. */
export function aliasProblems({ slug, aliases }: Filing, rules: AliasRules): Problem[] {
  if (aliases.length > MAX.aliases) {
    const message = `${aliases.length} earlier addresses are more than ${MAX.aliases}; keep those to which others link`;
    return [problem('aliases', 'too_many', message)];
  }
  return aliases.flatMap((alias, index) => {
    const found = aliasProblem(alias, slug, rules);
    return found === null ? [] : [problem(`aliases[${index}]`, found.rule, found.message)];
  });
}

function aliasProblem(alias: string, slug: string, rules: AliasRules): AliasProblem | null {
  const wrong = aliasFormProblem(alias);
  if (wrong !== null) return wrong;
  const page = /^\/([^/.]+)(?:\.html?)?$/.exec(alias)?.[1];
  if (page !== undefined && rules.hasPage(page)) {
    const message = `${quote(alias)} is the address of the paper's page pages/${page}.md; take it out, or remove the page`;
    return { rule: 'alias_taken', message };
  }
  const owner = rules.aliasOwner(alias);
  if (owner === null || owner === slug) return null;
  const message = `${quote(alias)} leads to the piece ${owner} already; take it out of one of the two`;
  return { rule: 'alias_taken', message };
}

/** Why a text, in the form of `aliasFrom`, cannot be an earlier address of any piece; null for a valid one. */
export function aliasFormProblem(alias: string): AliasProblem | null {
  const [empty, ...segments] = alias.split('/');
  const isPath =
    empty === '' &&
    segments.length > 0 &&
    alias.length <= MAX.alias &&
    segments.every((segment) => SEGMENT.test(segment) && Buffer.byteLength(segment) <= SEGMENT_BYTES_MAX) &&
    !segments.slice(0, -1).some((segment) => FILE.test(segment));
  if (!isPath) {
    const message = `${quote(alias)} cannot be an earlier address; write its path below the paper's address, from its first slash, without a query, as in /2019/05/two-ferries/, in at most ${MAX.alias} characters`;
    return { rule: 'alias_form', message };
  }
  const [first = ''] = segments;
  if (!RESERVED.has((first.split('.')[0] ?? '').toLowerCase()) && !first.startsWith('_')) return null;
  const message = `${quote(alias)} is an address that the paper itself uses, so it cannot lead to a piece; take it out`;
  return { rule: 'alias_reserved', message };
}
