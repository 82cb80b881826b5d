import { FetchState } from 'astro/fetch';
import { renderToString } from 'astro/runtime/server/index.js';

/** Renders pages as Astro's own server does: test/site/page-runtime.test.ts builds this with the pages. */

const address = (route: string) => new Request(`http://broadsheet.invalid${route}`);

export const routes = new FetchState(address('/')).manifest.routes
  .map(({ routeData }) => routeData)
  .filter(({ type, origin }) => type === 'page' && origin === 'project')
  .map(({ route }) => route);

export async function render(route: string, view: unknown): Promise<string> {
  const state = new FetchState(address(route));
  state.locals = { view };
  const page = await state.loadComponentInstance();
  const props = await state.getProps();
  const result = await state.createResult(page, state.getActionAPIContext());
  const printed = await renderToString(result, page.default, props, {}, true, state.routeData);
  if (typeof printed !== 'string') throw new Error(`the page ${route} answered ${printed.status}`);
  return printed;
}
