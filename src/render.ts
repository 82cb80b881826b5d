import { FetchState } from 'astro/fetch';
import { renderToString } from 'astro/runtime/server/index.js';
import type { AccountPages } from './accounts/views.ts';
import type { MailContent } from './outbound/mail-content.ts';
import type { Pages as PaperPages } from './press/views.ts';
import type { RecordsPages } from './records/pages.ts';
import type { LogPages } from './transparency/views.ts';

/** The routes of all pages, and the view of each one. */
export type Pages = PaperPages & RecordsPages & AccountPages & LogPages & { '/mail': MailContent };

/**
 * Loads every page now. Otherwise each page is loaded when it is first rendered, and a new build may have deleted it by
 * then.
 */
export async function preload(): Promise<void> {
  const { pageMap } = new FetchState(new Request('http://broadsheet.invalid/')).manifest;
  await Promise.all([...(pageMap?.values() ?? [])].map((load) => load()));
}

/**
 * Renders one page to text as Astro's own server would, without building a response or encoding the text. Throws
 * whatever the page throws, so that the press never writes half a page.
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
