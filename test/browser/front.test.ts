import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { THEMES } from '../../src/desk/papers/themes.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import { composeSections } from '../../src/desk/press/outputs/front.ts';
import type { FrontBlock, FrontView, RowView } from '../../src/desk/press/views.ts';
import { motifOf } from '../../src/media/motif.ts';
import * as fc from '../support/properties.ts';
import { openBrowser } from './chromium.ts';

const WIDTHS = [390, 768, 1024, 1440];

/** How much of a column may be empty, in CSS pixels: what a column lacks when the pieces in it have little prose. */
const EMPTY_MAX = 260;

const TEXTS: Record<string, string> = {
  en: 'Twenty-two delegates of twenty-five nations chose where the east begins, and a well-known line has moved since. ',
  de: 'Donaudampfschifffahrtsgesellschaftskapitäne beschlossen im Oktober, wo der Osten beginnt, und niemand widersprach. ',
  ja: '経度の起点は一八八四年十月に二十五か国の代表によって決められ、その線はそれ以来百二メートル動いた。',
  ar: 'اختار مندوبو خمس وعشرين دولة في أكتوبر المكان الذي يبدأ منه الشرق، ومنذ ذلك الحين تحرك الخط مئة متر. ',
};
const LANGUAGES = Object.keys(TEXTS);

/** A text of about so many characters. */
const textOf = (language: string, length: number) => {
  const text = TEXTS[language] ?? '';
  return text
    .repeat(Math.ceil(length / text.length))
    .slice(0, length)
    .trim();
};

interface Piece {
  language: string;
  headline: number;
  dek: number;
  prose: number;
  ratio: number | null;
}

const piece: fc.Arbitrary<Piece> = fc.record({
  language: fc.constantFrom(...LANGUAGES),
  headline: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 12, max: 90 }) }, fc.integer({ min: 91, max: 300 })),
  dek: fc.oneof(fc.constant(0), fc.integer({ min: 20, max: 200 }), fc.integer({ min: 200, max: 900 })),
  prose: fc.integer({ min: 0, max: 4_000 }),
  ratio: fc.option(fc.constantFrom(0.3, 1, 1.5, 3)),
});

const paper = fc.record({
  theme: fc.constantFrom(...THEMES),
  language: fc.constantFrom(...LANGUAGES),
  lead: piece,
  seconds: fc.array(piece, { maxLength: 4 }),
  /** Whether any piece has a picture. */
  pictured: fc.boolean(),
  sections: fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 5 }) },
    fc.array(fc.array(piece, { minLength: 1, maxLength: 3 }), { minLength: 12, maxLength: 40 }),
  ),
  personas: fc.nat(7),
});
type Paper = typeof paper extends fc.Arbitrary<infer T> ? T : never;

const PICTURE = (ratio: number) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${ratio * 100} 100"/>`)}`;

function rowOf(one: Piece, number: number, pictured: boolean, excerpt: number): RowView {
  const { language, ratio } = one;
  const picture = (url: string, width: number) => ({
    url,
    alt: 'A picture',
    credit: null,
    width,
    height: 100,
    variants: [],
    color: null,
  });
  return {
    id: `piece-${number}`,
    url: `/stories/piece-${number}/`,
    headline: textOf(language, one.headline),
    dek: textOf(language, one.dek),
    category: 'Time',
    category_url: '/sections/time/',
    kind: 'news',
    byline: { name: 'Ines Calloway', title: 'Editor', avatar: picture(PICTURE(1), 100), url: '/masthead/ines/' },
    writer: null,
    language,
    published_at: '2026-11-20T07:00:00.000Z',
    day_url: '/days/2026-11-20/',
    image: pictured && ratio !== null ? picture(PICTURE(ratio), ratio * 100) : null,
    excerpt: textOf(language, Math.min(one.prose, excerpt)),
  };
}

function viewOf({ theme, language, lead, seconds, pictured, sections, personas }: Paper): FrontView {
  let number = 0;
  const row = (one: Piece, excerpt = 420) => rowOf(one, number++, pictured, excerpt);
  const isWire = theme === 'wire';
  const composed = composeSections(
    sections.map((pieces, index) => ({
      section: `Section ${index}`,
      url: `/sections/section-${index}/`,
      rows: pieces.map((one) => row(one)),
    })),
    isWire ? 0 : undefined,
  );
  const blocks: FrontBlock[] = composed.rails.map((rail) => ({ kind: 'rail', rail }));
  if (composed.briefs.length > 0) blocks.push({ kind: 'briefs', sections: composed.briefs });
  const { byline } = row(lead);
  if (personas > 0) blocks.push({ kind: 'masthead', personas: Array.from({ length: personas }, () => byline) });
  return {
    frame: {
      root_absolute: 'http://paper.example',
      base: '',
      canonical_absolute: 'http://paper.example/',
      title: 'A paper',
      description: '',
      noindex: true,
      analytics: null,
      paper: {
        nameplate: 'The Harbor Ledger',
        motto: '',
        description: '',
        hue: 210,
        language,
        sections: sections.map((_, index) => ({
          name: `Section ${index}`,
          slug: `section-${index}`,
          url: `/sections/section-${index}/`,
        })),
        typefaces: 'source-serif',
        theme,
        has_style: false,
        logo: null,
        icons: {
          ico_url: '/favicon.ico',
          svg_url: null,
          touch_url: '/favicon.ico',
          manifest_url: '/manifest.webmanifest',
        },
        contact: null,
        imprint: null,
        casts: null,
        has_archived: false,
        has_facts: false,
        pages: [],
      },
      language,
      share_image: null,
      json_ld: null,
    },
    updated_at: '2026-11-20T07:00:00.000Z',
    lead: row(lead, 1_800),
    lead_motif: pictured && lead.ratio !== null ? null : motifOf('Time'),
    seconds: seconds.map((one) => row(one, Math.max(420, 1_800 / seconds.length))),
    river: isWire
      ? [
          {
            day: '2026-11-20',
            url: '/days/2026-11-20/',
            rows: sections.flatMap((pieces) => pieces.map((one) => row(one))),
          },
        ]
      : [],
    blocks,
  };
}

let browser: Browser;
let page: Page;
let html = '';
let files: Map<string, Uint8Array | string>;
const host = createServer((request, response) => {
  const path = request.url?.slice(1) ?? '';
  const file = path === '' ? html : files.get(path);
  const type = path.endsWith('.css') ? 'text/css' : path.endsWith('.woff2') ? 'font/woff2' : 'text/html; charset=utf-8';
  response.writeHead(file === undefined ? 404 : 200, { 'content-type': type }).end(file);
});

before(async () => {
  const { assets } = await loadBuild();
  files = new Map([...assets()].flatMap((file) => ('body' in file ? [[file.path, file.body] as const] : [])));
  await once(host.listen(0, '127.0.0.1'), 'listening');
  browser = await openBrowser();
  page = await browser.newPage({ reducedMotion: 'reduce' });
});
after(async () => {
  await browser?.close();
  host.close();
});

test('a drawn nameplate without a width of its own is seen in every header, on the page’s own ground', async () => {
  const css = ['common', 'base', 'nameplate'].map((name) => readFileSync(`src/layouts/${name}.css`, 'utf8')).join('');
  const svg = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 120"/>')}`;
  const plate = `<a href="/"><picture><img class="logo plain" src="${svg}" alt="Quay" width="600" height="120"></picture></a>`;
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.setContent(
      `<style>${css}</style><header class="top full"><div class="plate"><p class="ear">AI</p><h1>${plate}</h1></div></header>` +
        `<header class="top small"><div class="plate"><p class="name">${plate}</p><p>Search</p></div></header>`,
    );
    const logos = await page.$$eval('.logo', (all) =>
      all.map((logo) => {
        const { width, height } = logo.getBoundingClientRect();
        return { isSeen: width > 100 && height > 20, ground: getComputedStyle(logo).backgroundColor };
      }),
    );
    assert.deepEqual(logos, Array(2).fill({ isSeen: true, ground: 'rgba(0, 0, 0, 0)' }), `${width}px`);
  }
});

test('printed without its ears, a nameplate has the width of the sheet', async () => {
  const css = ['common', 'base', 'nameplate'].map((name) => readFileSync(`src/layouts/${name}.css`, 'utf8')).join('');
  const ear = '<p class="ear">Written by AI</p>';
  // A sheet of A4 upright and on its side, and one of A3.
  for (const width of [700, 1040, 1500]) {
    await page.setViewportSize({ width, height: 900 });
    await page.setContent(
      `<style>${css}</style><header class="top full"><div class="plate">${ear}<h1><a href="/">The Plumb Line</a></h1>${ear}</div></header>`,
    );
    await page.emulateMedia({ media: 'print' });
    const { lines, middle } = await page.$eval('h1', (h1) => {
      const { height, left, right } = h1.getBoundingClientRect();
      return { lines: height / Number.parseFloat(getComputedStyle(h1).lineHeight), middle: (left + right) / 2 };
    });
    await page.emulateMedia({ media: 'screen' });
    assert.ok(lines < 1.5, `${width}px: ${lines} lines`);
    assert.ok(Math.abs(middle - width / 2) < 20, `${width}px: centred at ${middle}`);
  }
});

/** What is wrong with the layout of the page: runs in the browser. */
function faultsOfLayout(emptyMax: number): string[] {
  const faults: string[] = [];
  const { innerWidth } = window;
  const shown = (element: Element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && getComputedStyle(element).visibility === 'visible';
  };
  const name = (element: Element) =>
    `${element.localName}.${element.className} "${element.textContent?.trim().slice(0, 30)}"`;
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push(`the page is ${wide}px wider than the screen`);
  const words = [...document.querySelectorAll('main :is(h2, h3, .dek, .kicker, .byline, .fill, img, svg)')].filter(
    shown,
  );
  for (const element of words) {
    const box = element.getBoundingClientRect();
    if (box.left < -1 || box.right > innerWidth + 1) faults.push(`${name(element)} reaches beyond the screen`);
    if (!element.matches('.fill, .dek, .byline, img, svg') && element.scrollWidth > element.clientWidth + 2)
      faults.push(`${name(element)} is cut off at its side`);
  }
  // Words and pictures lie on no others. Only neighbours of one block can.
  for (const block of document.querySelectorAll('main > :not(.blocks), .blocks > *')) {
    const inside = words.filter((element) => block.contains(element));
    for (const [index, one] of inside.entries()) {
      const a = one.getBoundingClientRect();
      for (const other of inside.slice(index + 1)) {
        const b = other.getBoundingClientRect();
        const over =
          Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
        // The words of a cover stand on a sheet of their own that overlaps its art.
        const isCover = one.matches('.cover > .lead :is(img, svg)') && other.closest('.cover > .lead') !== null;
        if (over && !isCover && !one.contains(other) && !other.contains(one))
          faults.push(`${name(one)} lies on ${name(other)}`);
      }
    }
  }
  /** Where an element stands; the box of first words is as high as the room for them, whatever they fill of it. */
  const spanOf = (element: Element) => {
    const { top, bottom } = element.getBoundingClientRect();
    if (!element.matches('.fill')) return { top, bottom };
    const range = document.createRange();
    range.selectNodeContents(element);
    return { top, bottom: Math.min(bottom, range.getBoundingClientRect().bottom) };
  };
  // A column beside others is filled to its end but for `emptyMax`.
  for (const column of document.querySelectorAll('.top-news > *, .rail .column')) {
    const pieces = [...column.querySelectorAll('h2, h3, .dek, .byline, .fill, img, svg')].filter(shown);
    const box = column.getBoundingClientRect();
    if (pieces.length === 0) {
      if (box.height > 1) faults.push(`${name(column)} is empty`);
      continue;
    }
    // The share of its height in which nothing stands: gaps between what it shows, and what is below the last.
    const spans = pieces.map(spanOf).sort((a, b) => a.top - b.top);
    let end = box.top;
    let empty = 0;
    for (const span of spans) {
      empty = Math.max(empty, span.top - end);
      end = Math.max(end, span.bottom);
    }
    empty = Math.max(empty, box.bottom - end);
    if (empty > emptyMax) faults.push(`${Math.round(empty)}px of ${name(column)} are empty`);
  }
  return faults;
}

/** The first days of a paper: a pictured lead with a long headline, and one piece that was there before. */
const second = { language: 'en', headline: 50, dek: 100, prose: 500, ratio: null };
const newcomer: Paper = {
  theme: 'broadsheet',
  language: 'en',
  lead: { language: 'en', headline: 88, dek: 75, prose: 300, ratio: 1.8 },
  seconds: [second],
  pictured: true,
  sections: [],
  personas: 1,
};

test('any pieces, pictures and languages make a front without overlap, empty column or overflow', async () => {
  const { render } = await loadBuild();
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`;
  await fc.assert(
    fc.asyncProperty(paper, async (one) => {
      html = await render('/paper/front', viewOf(one));
      await page.goto(url, { waitUntil: 'load' });
      await page.evaluate(() => document.fonts.ready);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const faults = await page.evaluate(faultsOfLayout, EMPTY_MAX);
        assert.deepEqual(faults, [], `${one.theme} at ${width}px`);
      }
    }),
    { numRuns: 6, endOnFailure: true, examples: THEMES.map((theme): [Paper] => [{ ...newcomer, theme }]) },
  );
});
