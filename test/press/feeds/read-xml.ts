import assert from 'node:assert/strict';
import { XMLParser } from 'fast-xml-parser';
import { validateXML, type XMLFileInfo } from 'xmllint-wasm';
import { assertWellFormed } from '../../support/xml.ts';

/** An element as the tests look at it: attributes begin with `@`, its own text is `#text`. */
export interface Node {
  [key: string]: string | Node | (string | Node)[];
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: { enabled: true, maxTotalExpansions: 1e6, maxExpandedLength: 1e8 },
});

/** Parses a document; throws when it is not well-formed. */
export function readXml(xml: string): Node {
  assertWellFormed(xml);
  return parser.parse(xml) as Node;
}

/** The children of a name, in order, whether there is none, one or many. */
export function all(node: Node, name: string): (string | Node)[] {
  const value = node[name];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** The one child element of a name. */
export function one(node: Node, name: string): Node {
  const found = all(node, name);
  assert.equal(found.length, 1, `${found.length} elements ${name}`);
  return asNode(found[0] ?? '');
}

export function asNode(value: string | Node): Node {
  return typeof value === 'string' ? { '#text': value } : value;
}

/** The text of an element, or of the one child of that name; null when there is none. */
export function text(node: string | Node, name?: string): string | null {
  if (typeof node === 'string') return name === undefined ? node : null;
  if (name === undefined) return typeof node['#text'] === 'string' ? node['#text'] : '';
  const [child] = all(node, name);
  return child === undefined ? null : text(child);
}

/** What libxml2 says of a document, against a schema when there is one; nothing when it is content. */
export async function xmllint(xml: string, schema?: XMLFileInfo, preload: XMLFileInfo[] = []): Promise<string[]> {
  const file = { fileName: 'document.xml', contents: xml };
  const result = await validateXML(
    schema === undefined ? { xml: file, normalization: 'c14n' } : { xml: file, schema, preload },
  );
  return result.errors.map((error) => error.message);
}
