import type { Paper } from '../../../src/desk/papers/paper.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { PLAYGROUND_FILES, playgroundPage } from '../../openapi/playground.ts';
import { fileHeaders } from '../../responses/files.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { PaperResponses } from '../paper-responses.ts';

/** The page on which readers try out the API, on the shared host and on a paper's own domain. */
export function playground(responses: PaperResponses) {
  return {
    page: (c: PaperContext) => {
      const { paper, root } = c.get('site');
      // Has the same guards as the paper's own pages: it runs only this host's scripts and sends requests only to this
      // host.
      const { 'Cache-Control': _cache, ...guard } = fileHeaders('/agents/', root, []);
      const headers = { 'Content-Type': 'text/html; charset=utf-8', ...guard };
      return responses.text(c, 'playground', () => `${pageOf(paper)}`, headers);
    },
    // The page's relative URLs resolve correctly only without the trailing slash.
    folder: (c: PaperContext) => c.redirect('../playground', 308),
    file: (c: PaperContext) => {
      const file = PLAYGROUND_FILES.get(c.req.param('file') ?? '');
      if (file === undefined) throw new Fault('not_found', `the playground has no such file; see /api/v1/playground`);
      return sendFile(c, { file, status: 200, headers: fileHeaders('/_astro/', c.get('site').root, []) });
    },
  };
}

function pageOf({ nameplate, language }: Paper) {
  return playgroundPage({
    title: `${nameplate}: the API playground`,
    description: `Try out the News Desk API of ${nameplate}.`,
    name: nameplate,
    language,
    home: '../../',
    openapi: 'openapi.json',
    icon: '../../favicon.svg',
    hue: '../../hue.css',
    links: [
      ['../../agents/', 'Guide for agents'],
      ['openapi.json', 'openapi.json'],
      ['../v1', 'Index'],
    ],
    how: 'Open a route, press “Try it out”, then “Execute”: this page asks the paper itself, and a write is a real write. Reading pieces on air requires no key. For the rest press “Authorize” and give a key of this paper in one of the two fields; it is forgotten when you leave the page.',
  });
}
