import { type Component, print } from './astro/page-runtime.ts';
import type { DoorPages } from './desk/console/door-views.ts';
import type { ConsolePages } from './desk/console/views.ts';
import type { Pages as PaperPages } from './desk/press/views.ts';
import type { AccountPages } from './records/accounts/views.ts';
import type { RecordsPages } from './records/views.ts';
import { withFontsNeeded } from './shared/script-letters.ts';
import type { LogPages } from './shared/transparency/log-view.ts';

/** The routes of all pages, and the view of each one. */
export type Pages = PaperPages & ConsolePages & DoorPages & RecordsPages & AccountPages & LogPages;

const modules = import.meta.glob<Component>('./pages/**/*.astro', { import: 'default' });
const pages = new Map<string, Component>();

async function load(route: string): Promise<Component> {
  const module = modules[`./pages${route}.astro`];
  if (module === undefined) throw new Error(`there is no page ${route}`);
  const page = await module();
  pages.set(route, page);
  return page;
}

/**
 * Loads every page now. Otherwise each page is loaded when it is first rendered, and a new build may have deleted it by
 * then.
 */
export async function preload(): Promise<void> {
  await Promise.all(Object.values(modules).map((module) => module()));
}

/**
 * Renders one page to the text that Astro's own server would send, except for a link to fonts that it does not need.
 * Throws whatever the page throws, so that the press never writes half a page.
 */
export async function render<Route extends keyof Pages>(route: Route, view: Pages[Route]): Promise<string> {
  return withFontsNeeded(print(pages.get(route) ?? (await load(route)), view));
}
