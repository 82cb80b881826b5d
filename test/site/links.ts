import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Element = DefaultTreeAdapterTypes.Element;

/** What the tests ask of a page. */
export interface Page {
  /** What the parser found wrong, each with its line. */
  errors: string[];
  ids: string[];
  /** Every address that the page names, as it is written. */
  links: string[];
  title: string | null;
  canonical: string | null;
  h1: number;
  /** Texts of the JSON-LD scripts. */
  data: string[];
  language: string | null;
}

/** Attributes whose values are addresses. */
const ADDRESSES = new Set(['href', 'src', 'poster', 'action', 'cite', 'data']);

/** Reads a page as a browser does. */
export function readPage(html: string): Page {
  const page: Page = { errors: [], ids: [], links: [], title: null, canonical: null, h1: 0, data: [], language: null };
  const document = parse(html, {
    sourceCodeLocationInfo: true,
    onParseError: ({ code, startLine, startCol }) => page.errors.push(`${code} at ${startLine}:${startCol}`),
  });
  for (const element of elementsIn(document)) take(page, element);
  return page;
}

function take(page: Page, element: Element): void {
  const attributes = new Map(element.attrs.map(({ name, value }) => [name, value]));
  const { tagName } = element;
  const id = attributes.get('id');
  if (id !== undefined) page.ids.push(id);
  for (const [name, value] of attributes) if (ADDRESSES.has(name)) page.links.push(value);
  for (const part of attributes.get('srcset')?.split(',') ?? []) page.links.push(part.trim().split(/\s+/)[0] ?? '');
  const property = attributes.get('property') ?? attributes.get('name') ?? '';
  if (tagName === 'meta' && /^(og|twitter):(image|url|video)$/.test(property))
    page.links.push(attributes.get('content') ?? '');
  if (tagName === 'html') page.language = attributes.get('lang') ?? null;
  if (tagName === 'h1') page.h1++;
  if (tagName === 'title' && element.namespaceURI.endsWith('xhtml')) page.title = textOf(element);
  if (tagName === 'link' && attributes.get('rel') === 'canonical') page.canonical = attributes.get('href') ?? null;
  if (tagName === 'script' && attributes.get('type') === 'application/ld+json') page.data.push(textOf(element));
}

function* elementsIn(node: DefaultTreeAdapterTypes.ParentNode): Iterable<Element> {
  for (const child of node.childNodes) {
    if ('attrs' in child) yield child;
    if ('childNodes' in child) yield* elementsIn(child);
    if ('content' in child) yield* elementsIn(child.content);
  }
}

function textOf(element: Element): string {
  return element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
}
