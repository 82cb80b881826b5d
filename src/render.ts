import { createApp } from 'astro/app/entrypoint';
import type { AccountPages } from './accounts/views.ts';
import type { Pages as PaperPages } from './press/views.ts';
import type { RecordsPages } from './records/views.ts';

const app = createApp({ streaming: false });

/** The routes of all pages, and what each one is given. */
export type Pages = PaperPages & RecordsPages & AccountPages;

/** Prints one page. Throws when the page does: a press must not write half of one. */
export async function render<Route extends keyof Pages>(route: Route, view: Pages[Route]): Promise<string> {
  const response = await app.render(new Request(`http://broadsheet.invalid${route}`), {
    locals: { view },
  });
  if (!response.ok) throw new Error(`the page ${route} answered ${response.status}`);
  return response.text();
}
