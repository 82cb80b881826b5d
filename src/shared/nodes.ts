import { present } from '../proof/narrow.ts';

/** A node: one of several services that share the domain records. Names belong to it by their hash. */
export interface RecordsNode {
  name: string;
  /** The first and the last byte of the hashes of its names, in hexadecimal digits: `00-55`. */
  range: string;
  /** Its address, without a slash at the end. */
  url: string;
}

/** The nodes of RECORDS_NODES, whose ranges cover every hash once. */
export interface RecordsNodes {
  /** This one; null on a server that has no names, in front of the nodes. */
  own: RecordsNode | null;
  all: RecordsNode[];
  /** Names of former nodes, whose ranges others may take. */
  gone: string[];
}

const ENTRY = /^([a-z0-9][a-z0-9-]{0,31})=(?:(gone)|([0-9a-f]{2})-([0-9a-f]{2})@(https?:\/\/[^/?#\s@]+)\/?)$/;

/**
 * The nodes of a list such as `a=00-7f@https://a.example`, `b=80-ff@https://b.example`, `c=gone`. Returns what is wrong
 * as a sentence without its subject.
 */
export function parseNodes(entries: readonly string[], own: string | undefined): RecordsNodes | string {
  const all: RecordsNode[] = [];
  const gone: string[] = [];
  for (const entry of entries) {
    const [, name, isGone, first, last, url] = ENTRY.exec(entry) ?? [];
    if (name === undefined) {
      return `must be nodes such as a=00-7f@https://a.example or b=gone, separated by commas, and ${JSON.stringify(entry.slice(0, 80))} is not`;
    }
    if (gone.includes(name) || all.some((node) => node.name === name)) return `must have ${name} once`;
    if (isGone !== undefined) gone.push(name);
    else all.push({ name, range: `${first}-${last}`, url: url ?? '' });
  }
  all.sort((a, b) => (a.range < b.range ? -1 : 1));
  let next = 0;
  for (const { name, range } of all) {
    const [first = 0, last = 0] = range.split('-').map((digits) => Number.parseInt(digits, 16));
    if (first !== next || last < first) {
      return `must give each byte from 00 to ff to one node, and ${name}=${range} does not begin at ${hex(next)}`;
    }
    next = last + 1;
  }
  if (next !== 256) return `must give each byte from 00 to ff to one node, and nobody has ${hex(next)}`;
  if (own === undefined) return { own: null, all, gone };
  return { own: all.find(({ name }) => name === own) ?? null, all, gone };
}

/** The node of a hash, in hexadecimal digits. */
export function nodeOf({ all }: RecordsNodes, hash: string): RecordsNode {
  const byte = hash.slice(0, 2);
  return present(all.find(({ range }) => byte <= range.slice(3)));
}

/** Whether two ranges have a byte in common. */
export function overlap(one: string, other: string): boolean {
  return one.slice(0, 2) <= other.slice(3) && other.slice(0, 2) <= one.slice(3);
}

/** Where a node’s lease and archive are, below those of all. */
export function folderOfNode(name: string): string {
  return `nodes/${name}/`;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
