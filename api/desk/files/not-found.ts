import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { fileHeaders } from '../../responses/files.ts';
import { setHeader } from '../../responses/headers.ts';
import { beingPressed } from './being-pressed.ts';
import { FILE_METHODS } from './file-options.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>Nothing here</title></head>
<body><h1>Nothing here</h1><p>There is nothing at this address. <a href="/">All papers are on the newsstand.</a></p></body>
</html>
`;

/**
 * Answers addresses without a route: a page for browsers, JSON for programs. Addresses of private papers end here too.
 */
export function notFoundHandler(app: AppContext, backlog: ReadonlySet<string>) {
  const { origin } = app.settings;
  return (c: Context): Response => {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      setHeader(c, 'Allow', FILE_METHODS);
      throw new Fault('method_not_allowed', `${c.req.method} is not allowed here; use ${FILE_METHODS}`);
    }
    const isApi = /^\/([^/]+\/)?api(\/|$)/.test(c.req.path);
    const type = accepts(c, {
      header: 'Accept',
      supports: ['application/json', 'application/problem+json', 'text/html'],
      default: 'application/json',
    });
    // Any address may belong to a paper that is not filed yet. Naming the paper would reveal private ones.
    const isComing = [...backlog].some((paper) => !app.store.hasPaper(paper));
    if (!isApi && isComing) return beingPressed(c);
    if (isApi || type !== 'text/html') throw new Fault('not_found', 'there is nothing at this address');
    return c.html(PAGE, 404, { ...fileHeaders('/404.html', origin, []), Vary: 'Accept' });
  };
}
