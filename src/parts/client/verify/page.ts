import { writersOf } from '../../../desk/door/writers.ts';
import { type Heading, proseHtml, SUBSCRIBE_BOX } from '../../../desk/press/prose-html.ts';
import type { Basis } from '../../../proof/basis.ts';
import type { Check } from './check.ts';
import { ENGLISH, type Words } from './words.ts';

/** The known parts of a story and of its heading, each at most once. Anything else was added by a third party. */
const STORY_PARTS = ['heading', 'art', 'contents', 'prose', 'credit', 'sources'];
const HEADING_PARTS = ['kicker', 'dek', 'archive', 'signature', 'notice', 'revised'];

/** How many words of a difference to show. */
const EXCERPT_WORDS = 8;

/**
 * Compares the page with the basis of its hash, word by word: the renderer that printed the page also converts the
 * signed Markdown to text here. Does not compare markup, spacing and layout, nor what the press adds to the text: the
 * subscribe form where the text asks for it, and beside a link what the linked page says about itself.
 */
export function pageCheck(page: Document, basis: Basis, phrases: Words = ENGLISH): Check {
  const story = page.querySelector('.story');
  const text = (selector: string): string => words(story?.querySelector(selector)?.textContent);
  const prose = (story?.querySelector('.prose')?.cloneNode(true) ?? null) as Element | null;
  const cards = prose?.querySelectorAll(':scope > .link-card > a[href]') ?? [];
  const linked = new Set([...cards].map((link) => URL.parse(link.getAttribute('href') ?? '')?.href));
  const insets = { cardOf: (url: string) => (linked.has(url) ? null : undefined), hasBox: true };
  const { html, headings } = proseHtml(basis.prose, basis.cited_facts, (path) => path, insets);
  const signed = new DOMParser().parseFromString(html, 'text/html');
  for (const card of prose?.querySelectorAll(':scope > .link-card') ?? [])
    card.querySelector(':scope > aside')?.remove();
  if (html.includes(SUBSCRIBE_BOX)) prose?.querySelector(':scope > .subscribe-box')?.remove();
  const faults = [
    ...difference('headline', text('h1'), basis.headline),
    ...difference('summary', text('.heading > .dek'), basis.dek),
    ...difference('list of authors', authorsOn(story), signedAuthors(basis)),
    ...difference('byline', `${text('.who > a')}, ${text('.role')}`, `${basis.byline.name}, ${basis.byline.title}`),
    ...difference('section', text('.kicker > a'), basis.category),
    ...difference('text', words(prose?.textContent), signed.body.textContent),
    ...difference('list of links in the text', linksIn(prose), linksIn(signed.body)),
    ...difference('list of sources', sourcesOn(page), basis.cited_facts.map(sourceLine).join(' ')),
    ...difference('credit', text('.credit'), basis.credit ?? ''),
    ...contentsFaults(story?.querySelector('.contents') ?? null, headings),
    ...archiveFaults(text('.heading > .archive'), basis),
    ...strays(story, STORY_PARTS),
    ...strays(story?.querySelector('.heading'), HEADING_PARTS),
  ];
  return {
    title: phrases.page,
    holds: faults.length === 0,
    found:
      faults.length > 0
        ? [...faults, 'If your browser translates this page, or an extension changes it, switch that off and reload.']
        : [phrases.page_found, ...(linked.size > 0 ? [phrases.page_cards] : [])],
  };
}

/** The words of a text, ignoring spacing and the Unicode encoding of accents. */
function words(text: string | null | undefined): string {
  return (text ?? '').normalize('NFC').replace(/\s+/g, ' ').trim();
}

/** Checks that a page marks its piece as one from an archive if, and only if, it was signed as one. */
export function archiveFaults(mark: string, { provenance }: Pick<Basis, 'provenance'>): string[] {
  if (provenance === 'archive' && mark === '')
    return ['The proof says that the piece is from an archive, this page does not.'];
  if (provenance !== 'archive' && mark !== '')
    return ['This page says that the piece is from an archive, the proof does not.'];
  return [];
}

/**
 * Checks that a table of contents, which short pieces lack, has nothing but its title and headings of the signed text.
 */
export function contentsFaults(contents: Element | null, headings: Heading[]): string[] {
  if (contents === null) return [];
  const letters = (text: string | null | undefined): string => words(text).replaceAll(' ', '');
  const texts = new Map(headings.map(({ id, text }) => [`#${id}`, text]));
  const links = [...contents.querySelectorAll('a')].map((link) => texts.get(link.getAttribute('href') ?? '') ?? '');
  const signed = [contents.querySelector('summary')?.textContent, ...links].map(letters).join('');
  if (letters(contents.textContent) === signed) return [];
  return ['The table of contents has something other than headings of the signed text.'];
}

/** The authors on the page, each with the address if there is one. */
function authorsOn(story: Element | null): string {
  const names = [...(story?.querySelectorAll('.who .author') ?? [])];
  return names.map((name) => `${words(name.textContent)}; ${linksIn(name)}`).join(' ');
}

function signedAuthors({ authors = [], written_by, credit }: Basis): string {
  return writersOf({ authors, written_by: written_by ?? null, credit: credit ?? null })
    .map(({ name, url = '' }) => `${words(name)}; ${url}`)
    .join(' ');
}

function linksIn(element: Element | null): string {
  return [...(element?.querySelectorAll('a[href]') ?? [])].map((link) => link.getAttribute('href')).join(' ');
}

function sourceLine({ n, statement, source, instrument }: Basis['cited_facts'][number]): string {
  return `${n}. ${statement} ${source}${instrument && `, ${instrument}`}`;
}

function sourcesOn(page: Document): string {
  return [...page.querySelectorAll<HTMLLIElement>('.facts > li')]
    .map((item) => {
      const copy = item.cloneNode(true) as HTMLLIElement;
      // What the desk recorded and found later is not part of the piece.
      for (const added of copy.querySelectorAll('.back, .record, .since, .evidence')) added.remove();
      return `${item.value}. ${copy.textContent}`;
    })
    .join(' ');
}

/** The content of an element outside of its known parts, which are recognized by their classes. Headings need none. */
function strays(parent: Element | null | undefined, parts: string[]): string[] {
  const seen = new Set<string>();
  return [...(parent?.children ?? [])]
    .filter((child) => {
      const part = child.localName === 'h1' ? 'h1' : (parts.find((name) => child.classList.contains(name)) ?? '');
      const isStray = part === '' || seen.has(part);
      seen.add(part);
      return isStray;
    })
    .map(
      (child) => `There is something in the story that is no part of it: “${words(child.textContent).slice(0, 80)}”.`,
    );
}

/** Describes the first difference between two texts; empty when they are equal. */
function difference(what: string, onPage: string, signed: string | null): string[] {
  const [here, there] = [words(onPage).split(' '), words(signed).split(' ')];
  const at = here.findIndex((word, index) => word !== there[index]);
  if (at < 0 && here.length === there.length) return [];
  const from = Math.max(0, (at < 0 ? here.length : at) - 2);
  const excerpt = (list: string[]): string => {
    const cut = list.slice(from, from + EXCERPT_WORDS).join(' ');
    return cut === '' ? 'nothing' : `“${from > 0 ? '… ' : ''}${cut}${from + EXCERPT_WORDS < list.length ? ' …' : ''}”`;
  };
  return [`The ${what} differs: this page has ${excerpt(here)}, the proof has ${excerpt(there)}.`];
}
