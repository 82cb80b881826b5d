import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { html } from 'hono/html';

const own = (name: string) => fileURLToPath(new URL(`playground/${name}`, import.meta.url));

/** The page's assets in load order. */
const PARTS = {
  viewerCss: asset(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css'))),
  css: asset(own('look.css')),
  viewer: asset(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))),
  start: asset(own('start.js')),
  accessible: asset(own('accessible.js')),
};

interface Asset {
  /** The file name in URLs, which changes with the content. */
  name: string;
  file: string;
}

function asset(file: string): Asset {
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 8);
  return { name: file.replace(/^.*[/\\]/, '').replace(/(?=\.[a-z]+$)/, `-${digest}`), file };
}

/** The files of the playground by name. */
export const PLAYGROUND_FILES: ReadonlyMap<string, string> = new Map(
  Object.values(PARTS).map(({ name, file }) => [name, file]),
);

/** A service's playground. Its URLs are relative to the page, and its files are at `playground/<name>`. */
export interface Playground {
  title: string;
  description: string;
  /** The service's name in the heading, and its language. */
  name: string;
  language: string;
  /** The service's home page, which the viewer sets as the server of `openapi`. */
  home: string;
  openapi: string;
  icon: string;
  /** A stylesheet with the service's own colours. */
  hue?: string;
  /** Whether it looks like the pages of the domain records, and not like a paper. */
  isRecords?: boolean;
  links: readonly (readonly [href: string, words: string])[];
  how: string;
}

/** The page on which readers try out an API, around a viewer that this host serves, with relative URLs only. */
export function playgroundPage({ links, hue, isRecords = false, ...page }: Playground) {
  const at = ({ name }: Asset) => `playground/${name}`;
  return html`<!doctype html>
<html lang="en"${isRecords ? html` data-of="records"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<meta name="description" content="${page.description}">
<link rel="stylesheet" href="${at(PARTS.viewerCss)}">
<link rel="stylesheet" href="${at(PARTS.css)}">
${hue === undefined ? '' : html`<link rel="stylesheet" href="${hue}">`}
<link rel="icon" type="image/svg+xml" href="${page.icon}">
<link rel="service-desc" type="application/json" href="${page.openapi}">
<script src="${at(PARTS.viewer)}" defer></script>
<script src="${at(PARTS.start)}" type="module"></script>
<script src="${at(PARTS.accessible)}" type="module"></script>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header class="plate">
<p class="name" lang="${page.language}"><a href="${page.home}">${page.name}</a></p>
<nav aria-label="The API">${links.map(([href, words]) => html`<a href="${href}">${words}</a> `)}</nav>
<p class="how">${page.how}</p>
</header>
<div id="api"></div>
<noscript><main><p>This page needs its script to try the API out. The document is at <a href="${page.openapi}">openapi.json</a>.</p></main></noscript>
</body>
</html>
`;
}
