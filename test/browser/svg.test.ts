import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspectMedia } from '../../src/media/inspect.ts';
import { Fault } from '../../src/shared/fault.ts';
import { openBrowser } from './chromium.ts';

const VALID = fileURLToPath(new URL('../vectors/svg/valid/', import.meta.url));
const HERE = 'http://here.example';
const X = 'http://elsewhere.example/x';

/** Ways to write a reference in a style. */
const REFERENCES = [
  ...[
    `url(${X})`,
    `url("${X}")`,
    `url( '${X}' )`,
    `URL(${X})`,
    `u\\rl(${X})`,
    `\\75rl(${X})`,
    `url(\\68ttp://elsewhere.example/x)`,
  ],
  ...[
    `u/**/rl(${X})`,
    `url/**/(${X})`,
    `url(/**/${X})`,
    `url(//elsewhere.example/x)`,
    `url(${X}`,
    `url("${X}`,
    `url("${X}\n")`,
  ],
  ...[`&#117;rl(${X})`, `u<![CDATA[rl(${X})]]>`, `u<!-- -->rl(${X})`, `u<g/>rl(${X})`],
  ...[
    `image-set("${X}" 1x)`,
    `-webkit-image-set(url(${X}) 1x)`,
    `image("${X}")`,
    `src("${X}")`,
    `cross-fade(url(${X}), red)`,
  ],
  ...[
    `var(--a, url(${X}))`,
    `linear-gradient(red, url(${X}))`,
    `-webkit-cross-fade(url(${X}), url(#a), 50%)`,
    `attr(href url, url(${X}))`,
  ],
  ...[`url(#a), url(${X})`, `url(#a) url(${X})`, `url(${X}#a)`, `url(data:image/svg+xml,%3Csvg/%3E)`, 'url(#a)', 'red'],
];
const PROPERTIES = [
  ...['fill', 'stroke', 'filter', 'mask', 'mask-image', 'clip-path', 'cursor', 'marker-start', 'background', '--a'],
  ...[
    'background-image',
    'border-image',
    'border',
    'list-style',
    'content',
    'shape-inside',
    'offset-path',
    'will-change',
    'src',
  ],
];
/** Ways to bring something in by rules, elements and attributes. */
const PARTS = [
  ...[
    `@import "${X}";`,
    `@\\import "${X}";`,
    `@import url(${X});`,
    `@im<g/>port "${X}";`,
    `@IMPORT "${X}";`,
    `@charset "a"; @import "${X}";`,
  ],
  ...[`@font-face { font-family: A; src: url(${X}) } text { font-family: A }`, `@media all { @import "${X}"; }`],
  ...[`@layer a { rect { fill: url(${X}) } }`, `@supports (fill: red) { rect { mask-image: image-set("${X}") } }`],
  ...[
    `@container (width > 0) { rect { mask-image: url(${X}) } }`,
    `rect { &amp; { mask-image: url(${X}) } }`,
    `}} rect { mask: url(${X}) }`,
  ],
].map((css) => `<style>${css}</style>`);
const ELEMENTS = [
  ...[
    `<image href="${X}" width="9" height="9"/>`,
    `<image xlink:href="${X}" width="9" height="9"/>`,
    `<use href="${X}#a"/>`,
    `<feImage href="${X}"/>`,
  ],
  ...[
    `<image href="#a"><set attributeName="href" to="${X}"/></image>`,
    `<image href="#a"><animate attributeName="href" values="${X}"/></image>`,
  ],
  ...[
    `<image><animateTransform attributeName="href" from="${X}" to="${X}"/></image>`,
    `<linearGradient href="${X}#a"/>`,
  ],
  ...[
    `<script href="${X}"/>`,
    `<script>fetch("${X}", { mode: "no-cors" })</script>`,
    `<g onload="fetch('${X}')"/>`,
    `<use xml:base="${X}" href="#a"/>`,
  ],
  ...[`<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="${X}"/></foreignObject>`],
  ...['img', 'iframe', 'script', 'video', 'embed'].map(
    (name) => `<h:${name} xmlns:h="http://www.w3.org/1999/xhtml" src="${X}"/>`,
  ),
  `<link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="${X}"/>`,
  `<metadata><style xmlns="http://www.w3.org/1999/xhtml">@import "${X}";</style></metadata>`,
  `<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" style="fill: url(${X})"><image xmlns="http://www.w3.org/2000/svg" href="${X}"/></rdf:RDF></metadata>`,
  ...['src', 'data', 'ping', 'srcset', 'poster', 'action', 'data-src'].map(
    (name) => `<image ${name}="${X}" width="9" height="9"/>`,
  ),
];

const SHAPE = 'width="9" height="9"';
const svg = (body: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"><defs><mask id="a"/></defs>${body}</svg>`;

/** Every way to ask for something from elsewhere that was thought of, harmless ones too. */
function* pictures(): Iterable<string> {
  for (const part of [...PARTS, ...ELEMENTS]) yield svg(`${part}<rect ${SHAPE}/><text y="9">a</text>`);
  for (const property of PROPERTIES) {
    for (const reference of REFERENCES) {
      const quoted = reference.replaceAll('"', '&quot;').replaceAll('\n', '&#10;');
      yield svg(`<style>rect { ${property}: ${reference} }</style><rect ${SHAPE}/>`);
      yield svg(`<rect ${SHAPE} style="${property}: ${quoted}"/>`);
      yield svg(`<rect ${SHAPE} ${property}="${quoted}"/>`);
    }
  }
}

async function isTaken(text: string): Promise<boolean> {
  try {
    await inspectMedia('media/art/x.svg', Buffer.from(text));
    return true;
  } catch (error) {
    assert.ok(error instanceof Fault, `${text}: ${error}`);
    return false;
  }
}

test('an accepted SVG makes no requests in a browser', async (t) => {
  const taken = new Set(readdirSync(VALID).map((name) => readFileSync(VALID + name, 'utf8')));
  let refused = 0;
  for (const picture of pictures()) {
    if (await isTaken(picture)) taken.add(picture);
    else refused++;
  }
  assert.ok(refused > 1_000 && taken.size > 50, `${refused} were refused, ${taken.size} taken`);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const asked: string[] = [];
  let body = '';
  await page.route('**/*', (route) => {
    const url = route.request().url();
    if (url === `${HERE}/x.svg`) return route.fulfill({ body, contentType: 'image/svg+xml' });
    asked.push(url);
    return route.abort();
  });
  const look = async (picture: string): Promise<string[]> => {
    asked.splice(0);
    body = picture;
    await page.goto(`${HERE}/x.svg`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    return asked.filter((url) => !url.startsWith('data:') && !url.endsWith('/favicon.ico'));
  };
  // The look finds what there is to find.
  assert.deepEqual(await look(svg(`<image href="${X}" ${SHAPE}/>`)), [X]);
  assert.deepEqual(await look(svg(`<rect ${SHAPE} style="mask-image: u\\72l(${X})"/>`)), [X]);
  for (const picture of taken) assert.deepEqual(await look(picture), [], picture);
});
