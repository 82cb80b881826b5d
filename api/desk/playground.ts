import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { html } from 'hono/html';
import type { Paper } from '../../src/desk/paper.ts';
import { Fault } from '../../src/fault.ts';
import type { Doors } from './doors.ts';
import { fileHeaders } from './pressed.ts';
import { sendFile } from './send-file.ts';

const PATH = '/api/v1/playground';

const own = (name: string) => fileURLToPath(new URL(`playground/${name}`, import.meta.url));

/** What the page is made of, in the order in which it is loaded. */
const PARTS = {
  viewerCss: asset(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css'))),
  css: asset(own('look.css')),
  viewer: asset(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))),
  start: asset(own('start.js')),
};

interface Asset {
  /** Its name in addresses: it changes with the content. */
  name: string;
  file: string;
}

function asset(file: string): Asset {
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 8);
  return { name: file.replace(/^.*[/\\]/, '').replace(/(?=\.[a-z]+$)/, `-${digest}`), file };
}

/**
 * A page on which a reader tries the API out. It is plain HTML around a viewer
 * that this host serves itself; all its addresses are relative, so it is the
 * same under the shared host and on a paper's own domain.
 */
export function playgroundDoor({ app, shelf }: Doors): void {
  const files = new Map(Object.values(PARTS).map(({ name, file }) => [name, file]));
  app.get(PATH, (c) => {
    const { paper, root } = c.get('site');
    // Guarded like the paper's own pages: no script but this host's runs, and nothing else is asked.
    const { 'Cache-Control': _cache, ...guard } = fileHeaders('/agents/', root, []);
    return shelf.text(c, 'playground', 'text/html; charset=utf-8', () => `${pageOf(paper)}`, guard);
  });
  // Without the slash the page's relative addresses lead where they should.
  app.get(`${PATH}/`, (c) => c.redirect('../playground', 308));
  app.get(`${PATH}/:file`, (c) => {
    const file = files.get(c.req.param('file'));
    if (file === undefined) throw new Fault('not_found', `the playground has no such file; see ${PATH}`);
    return sendFile(c.env, { file, status: 200, headers: fileHeaders('/_astro/', c.get('site').root, []) });
  });
}

function pageOf({ nameplate, language }: Paper) {
  const at = ({ name }: Asset) => `playground/${name}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${nameplate}: the API playground</title>
<meta name="description" content="Try out the News Desk API of ${nameplate}.">
<link rel="stylesheet" href="${at(PARTS.viewerCss)}">
<link rel="stylesheet" href="${at(PARTS.css)}">
<link rel="stylesheet" href="../../hue.css">
<link rel="icon" type="image/svg+xml" href="../../favicon.svg">
<link rel="service-desc" type="application/json" href="openapi.json">
<script src="${at(PARTS.viewer)}" defer></script>
<script src="${at(PARTS.start)}" type="module"></script>
</head>
<body>
<header class="plate">
<p class="name" lang="${language}"><a href="../../">${nameplate}</a></p>
<nav aria-label="The API"><a href="../../agents/">Guide for agents</a> <a href="openapi.json">openapi.json</a> <a href="../v1">Index</a></nav>
</header>
<main>
<p class="how">Open a door, press “Try it out”, then “Execute”: this page asks the paper itself, and a write is a real write. Reading what is on air takes no key. For the rest press “Authorize” and give a key of this paper in one of the two fields; it is forgotten when you leave the page.</p>
<div id="api" role="region" aria-label="The doors of the API" aria-live="off"></div>
<noscript><p>This page needs its script to try the API out. The document is at <a href="openapi.json">openapi.json</a>.</p></noscript>
</main>
</body>
</html>
`;
}
