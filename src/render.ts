import { FetchState } from 'astro/fetch';
import { renderToString } from 'astro/runtime/server/index.js';
import type { AccountPages } from './accounts/views.ts';
import type { MailContent } from './outbound/mail-content.ts';
import type { Pages as PaperPages } from './press/views.ts';
import type { RecordsPages } from './records/pages.ts';

/** The routes of all pages, and what each one is given. */
export type Pages = PaperPages & RecordsPages & AccountPages & { '/mail': MailContent };

/** Loads every page now; else each is loaded when it is printed first, and a new build may have taken it away. */
export async function preload(): Promise<void> {
  const { pageMap } = new FetchState(new Request('http://broadsheet.invalid/')).manifest;
  await Promise.all([...(pageMap?.values() ?? [])].map((load) => load()));
}

/**
 * Prints one page, as Astro's own server would, up to the text: what would go
 * round it on the wire is not made, nor the text turned into bytes and back.
 * Throws what the page throws: a press must not write half of one.
 */
export async function render<Route extends keyof Pages>(route: Route, view: Pages[Route]): Promise<string> {
  const state = new FetchState(new Request(`http://broadsheet.invalid${route}`));
  state.locals = { view };
  const page = await state.loadComponentInstance();
  const props = await state.getProps();
  const result = await state.createResult(page, state.getActionAPIContext());
  const printed = await renderToString(result, page.default, props, {}, true, state.routeData);
  if (typeof printed !== 'string') throw new Error(`the page ${route} answered ${printed.status}`);
  return printed;
}
