import * as z from 'zod';
import type { Problem } from '../../shared/shape.ts';
import { isLanguageTag, SLUG } from '../door/door.ts';
import { proseFrom } from '../door/filing.ts';
import { RESERVED_PAGES } from '../door/reserved.ts';
import { filledLine, line } from '../line.ts';

/** Where the paper's menus list one of its own pages: in the footer, in the bar of sections, or nowhere. */
export const NAVS = ['footer', 'sections', 'none'] as const;

/** Maximum length of a page's text, in UTF-16 units. Rendering longer prose would require a worker. */
const PROSE_MAX = 50_000;
const SLUG_MAX = 60;
const ORDER_MAX = 9_999;

/** One of the paper's own pages: `pages/<slug>.md`, or the body of `PUT /api/v1/pages/{slug}`. */
export const PageBody = z.strictObject({
  title: filledLine(120),
  description: line(300).default(''),
  /** BCP 47 tag; the paper's language if omitted. */
  language: z.string().refine(isLanguageTag, 'must be a language tag as in BCP 47, such as en, pt-BR or ja').optional(),
  nav: z.enum(NAVS).default('footer'),
  /** Pages are listed by this number, then by title. */
  order: z.int().min(0).max(ORDER_MAX).default(0),
  /** Markdown without HTML. */
  prose: z
    .string()
    .max(PROSE_MAX)
    .transform(proseFrom)
    .refine((text) => text !== '', 'the page has no text; write it'),
});
export type PageBody = z.infer<typeof PageBody>;

/** One of the paper's own pages, with its slug. */
export interface Page extends PageBody {
  slug: string;
}

const RESERVED = new Set(RESERVED_PAGES);

/** Why a text cannot be the slug of a page, with the remedy; null if it can. */
export function pageSlugProblem(slug: string): string | null {
  if (!SLUG.test(slug) || slug.length > SLUG_MAX) {
    return `${JSON.stringify(slug)} cannot be a page's address; use 1 to ${SLUG_MAX} of a–z, 0–9 and single hyphens`;
  }
  if (!RESERVED.has(slug)) return null;
  return `${JSON.stringify(slug)} is an address that the paper itself uses; choose another, such as ${JSON.stringify(`our-${slug}`)}`;
}

/** Pages in reading order: by `order`, then by title. */
export function inReadingOrder(pages: readonly Page[]): Page[] {
  return [...pages].sort((a, b) => a.order - b.order || compare(a.title, b.title) || compare(a.slug, b.slug));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether the menus stay the same when a page changes; null means no page. Every footer links to the imprint. */
export function sameInMenus(before: PageBody | null, after: PageBody | null, isImprint: boolean): boolean {
  const listed = (page: PageBody | null) =>
    page === null || (page.nav === 'none' && !isImprint)
      ? ''
      : JSON.stringify([page.nav, page.order, page.title, page.language]);
  return listed(before) === listed(after);
}

/** A page as the API shows it. */
export const PageRow = z
  .object({
    slug: z.string(),
    title: z.string(),
    description: z.string(),
    language: z.string(),
    nav: z.enum(NAVS).meta({ description: 'The menu that lists it.' }),
    order: z.int(),
    url: z.url(),
  })
  .meta({ id: 'PageRow', description: 'A page of the paper’s own.' });
export type PageRow = z.infer<typeof PageRow>;

export function pageRow(page: Page, { root, language }: { root: string; language: string }): PageRow {
  const { slug, title, description, nav, order } = page;
  return { slug, title, description, language: page.language ?? language, nav, order, url: `${root}/${slug}/` };
}

/** A placeholder in a sample page. The brackets are rare in any language, and conspicuous. */
const TO_FILL_IN = /⟦[^⟦⟧]{0,200}⟧/;

/** The problem of a page whose sample text was not filled in; null if there is none. */
export function unfilledProblem(prose: string): Problem | null {
  const found = TO_FILL_IN.exec(prose);
  if (found === null) return null;
  const message = `${found[0]} is to be filled in before readers see the page; write what belongs there, or delete the page`;
  return { field: 'prose', rule: 'to_fill_in', message, offset: found.index };
}
