import { SaxesParser } from 'saxes';
import { ArchiveError, messageOf } from './archive-error.ts';
import { decoded } from './decoded.ts';
import { escapeText, withoutForbidden } from './escape.ts';
import { ITEM_MAX } from './source.ts';

/** How deep elements may be nested within a record. */
const DEPTH_MAX = 200;
/** Elements whose children are the records: of RSS, of Atom, of RSS 1.0. */
const LISTS = new Set(['channel', 'feed', 'rdf:RDF']);
/** Elements of a record that are skipped, because they are not needed and may be many. */
const LEFT_OUT = new Set(['wp:comment']);

/** An element with its content. Its name is as written, because all exporters use the same prefixes. */
export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  content: (XmlElement | string)[];
}

export interface XmlRecord extends XmlElement {
  line: number;
  /** Whether its text was too long, so that it was cut. */
  isCut: boolean;
}

/**
 * The entries of a feed or of a WordPress export, one by one: the children of its `channel` or `feed`. Skips a document
 * type, so that no entity is ever defined, and characters that XML forbids. Throws `ArchiveError` with the line if the
 * file is not XML.
 */
export async function* xmlRecords(file: string): AsyncIterable<XmlRecord> {
  const parser = new SaxesParser({ position: true });
  const ready: XmlRecord[] = [];
  /** Names of the elements around the records. */
  const around: string[] = [];
  /** The open elements of a record, itself first. */
  const open: XmlElement[] = [];
  let record: XmlRecord | null = null;
  let length = 0;
  let fed = 0;
  let left = 0;
  const add = (text: string) => {
    fed = 0;
    length += text.length;
    if (record !== null && length > ITEM_MAX) record.isCut = true;
    else open.at(-1)?.content.push(text);
  };
  parser.on('opentag', ({ name, attributes }) => {
    fed = 0;
    if (left > 0 || (record !== null && LEFT_OUT.has(name))) {
      left++;
      return;
    }
    const element: XmlElement = { name, attributes: attributes as Record<string, string>, content: [] };
    if (open.length > 0) {
      if (open.length > DEPTH_MAX) throw new ArchiveError(`more than ${DEPTH_MAX} elements in each other`);
      open.at(-1)?.content.push(element);
      open.push(element);
    } else if (LISTS.has(around.at(-1) ?? '') && !LISTS.has(name)) {
      record = { ...element, line: parser.line, isCut: false };
      length = 0;
      open.push(record);
    } else around.push(name);
  });
  parser.on('closetag', () => {
    fed = 0;
    if (left > 0) left--;
    else if (open.length === 0) around.pop();
    else if (open.pop() === record && record !== null) {
      ready.push(record);
      record = null;
    }
  });
  parser.on('text', (text) => left === 0 && open.length > 0 && add(text));
  parser.on('cdata', (text) => left === 0 && open.length > 0 && add(text));
  for await (const text of decoded(file)) {
    fed += text.length;
    if (fed > 2 * ITEM_MAX) {
      const message = `${file} has a text of more than ${2 * ITEM_MAX} characters after line ${parser.line}; no piece is so long: take it out, or get the export again`;
      throw new ArchiveError(message);
    }
    feed(file, () => parser.write(withoutForbidden(text)));
    yield* ready.splice(0);
  }
  feed(file, () => parser.close());
  yield* ready.splice(0);
}

function feed(file: string, parse: () => void): void {
  try {
    parse();
  } catch (error) {
    throw new ArchiveError(
      `${file} is not XML as it should be (${messageOf(error)}); it is damaged or cut short: correct that place, or get the export again`,
    );
  }
}

export function childOf(element: XmlElement, name: string): XmlElement | null {
  return childrenOf(element, name)[0] ?? null;
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.content.filter((child) => typeof child !== 'string' && child.name === name) as XmlElement[];
}

/** The text of an element and all of its descendants. */
export function textOf(element: XmlElement | null): string {
  return (element?.content ?? []).map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** The text of a child, without spaces around it; empty without one. */
export const textIn = (element: XmlElement, name: string): string => textOf(childOf(element, name)).trim();

/** The content of an element as HTML. */
export function markupOf(element: XmlElement): string {
  return element.content
    .map((child) => {
      if (typeof child === 'string') return escapeText(child);
      const name = child.name.replace(/^.*:/, '');
      const attributes = Object.entries(child.attributes).map(([key, value]) => ` ${key}="${escapeText(value)}"`);
      return `<${name}${attributes.join('')}>${markupOf(child)}</${name}>`;
    })
    .join('');
}
