import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { axeFaultsAA } from './axe.ts';

/** The most that a page may move while it loads (Cumulative Layout Shift). */
const SHIFT_MAX = 0.02;

interface Opened {
  page: Page;
  status: number;
}

/** The most that a page of a paper may weigh with all that it loads; a story, which story.test.ts weighs, less. */
export const WEIGHT_MAX = 300_000;

/** Weighs what a page loads, in bytes, as a first visit: nothing comes from the cache. */
export async function weighing(page: Page): Promise<{ taken(): number }> {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  let weight = 0;
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    weight += encodedDataLength;
  });
  return {
    taken() {
      const was = weight;
      weight = 0;
      return was;
    },
  };
}

/** Opens an address and waits until nothing of it is still on its way. */
export async function opened(page: Page, address: string, hasScript = true): Promise<Opened> {
  const response = await page.goto(address, { waitUntil: 'load' });
  if (address.includes('/playground'))
    await page
      .locator(hasScript ? '.opblock' : 'noscript')
      .first()
      .waitFor({ state: 'attached' });
  return { page, status: response?.status() ?? 0 };
}

/** What is wrong with an open page: what axe finds, how much it moved, and what is wider than the screen. */
export async function faultsOf(
  { page }: Opened,
  where: string,
  { hasAxe = true, hasContrast = true } = {},
): Promise<string[]> {
  const { shift, moved, tooWide } = await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
    const entries = await new Promise<{ value: number; sources: { node: Node | null }[] }[]>((done) => {
      const observer = new PerformanceObserver((list) => done(list.getEntries() as never));
      observer.observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => done(observer.takeRecords() as never), 50);
    });
    return {
      shift: entries.reduce((sum, { value }) => sum + value, 0),
      moved: entries.flatMap(({ sources }) =>
        sources.map(({ node }) => (node as Element | null)?.outerHTML?.slice(0, 90)),
      ),
      tooWide: document.documentElement.scrollWidth - innerWidth,
    };
  });
  return [
    ...(shift > SHIFT_MAX ? [`${where}: it moved by ${shift.toFixed(3)}: ${moved.join(' | ')}`] : []),
    ...(tooWide > 0 ? [`${where}: ${tooWide}px wider than the screen`] : []),
    ...(hasAxe ? await axeFaultsAA(page, hasContrast) : []).map((fault) => `${where}: ${fault}`),
  ];
}

/** The keyboard: the skip link comes first and leads to the content, the next stop lies behind it, and each is seen. */
export async function walk(page: Page, where: string): Promise<void> {
  // From the start of the page, also where a field has the focus at once.
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus({ preventScroll: true });
    document.body.removeAttribute('tabindex');
  });
  const stop = () =>
    page.evaluate(() => {
      const here = document.activeElement as HTMLElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(here);
      const box = here.getBoundingClientRect();
      return {
        isSkip: here.classList.contains('skip'),
        isSeen: box.width > 0 && box.bottom > 0 && outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0,
        target: (here as HTMLAnchorElement).hash,
        html: here.outerHTML.slice(0, 120),
      };
    });
  await page.keyboard.press('Tab');
  const first = await stop();
  assert.ok(first.isSkip && first.isSeen, `${where}: the first stop is ${first.html}`);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  const second = await stop();
  if (second.html.startsWith('<body')) return;
  assert.ok(second.isSeen, `${where}: nobody sees that ${second.html} has the focus`);
  const isBehind = await page.evaluate((target) => {
    const goal = document.querySelector(target);
    const here = document.activeElement;
    return (
      goal !== null && here !== null && (goal.compareDocumentPosition(here) & Node.DOCUMENT_POSITION_FOLLOWING) > 0
    );
  }, first.target);
  assert.ok(isBehind, `${where}: the skip link leads to ${second.html}`);
}

/** What a sound page never does: an error on the console, a request that fails or goes to another host. */
export class Complaints {
  readonly #all: string[] = [];
  /** The status of the page that is opened. */
  expected = 200;

  constructor(page: Page, hosts: readonly string[]) {
    const add = (complaint: string) => void this.#all.push(complaint);
    page.on('console', (message) => {
      // A browser says itself that a page was a 404.
      if (message.type() === 'error' && this.expected === 200) add(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => add(`script: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(?:data|blob):/.test(url) && !hosts.some((host) => url.startsWith(`${host}/`)))
        add(`another host: ${url}`);
    });
    page.on('response', (response) => {
      const isPage = response.request().isNavigationRequest();
      if (response.status() >= 400 && !(isPage && response.status() === this.expected)) {
        add(`${response.status()}: ${response.url()}`);
      }
    });
  }

  taken(): string[] {
    return this.#all.splice(0);
  }
}
