import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Browser } from 'playwright-core';
import { LONG_READ } from '../support/long-read.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { openBrowser } from './chromium.ts';

export interface Stand {
  /** Address of the host that serves the demo papers. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves the repository's own papers from a folder of its own, as `npm start` does, and waits until they are pressed.
 * `change` may add to the folder first.
 */
export async function openStand(change?: (folder: string) => void): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-stand-'));
  copyDemo(folder);
  change?.(folder);
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const { url } = await serveHere({ after: (end) => void ends.push(end) }, folder, { SERVICES: 'desk' });
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The paper in Arabic of the shared stand. */
const ARABIC = 'al-mizan';
const ARABIC_STORIES = [
  'im-a-teapot',
  'meridian-by-vote',
  'metre-of-light',
  'nine-billion-beats',
  'three-dates-one-day',
  'yard-and-pound-1959',
];
/** In the shared stand this story's last revision, of three, has two people as its authors. */
export const AUTHORED = '/the-plumb-line/stories/keepers-of-the-zones/';

/** In the shared stand these are long, with contents, footnotes and code. */
export const LONG = ['/the-plumb-line/stories/nine-billion-beats/', `/${ARABIC}/stories/nine-billion-beats/`] as const;

/** The stand and the browser of all files in this process. Each opens pages of its own, and changes nothing else. */
export interface SharedStand {
  url: string;
  browser: Browser;
}

let shared: Promise<{ stand: Stand; browser: Browser }> | null = null;

/** Opens what the files share that test/plan.mjs puts into one process: those that name `sharedStand`. */
export async function sharedStand(): Promise<SharedStand> {
  shared ??= (async () => {
    const browser = await openBrowser();
    try {
      return { browser, stand: await openStand(addToDemo) };
    } catch (error) {
      await browser.close();
      throw error;
    }
  })();
  const { stand, browser } = await shared;
  return { url: stand.url, browser };
}

after(async () => {
  const opened = await shared?.catch(() => null);
  await opened?.browser.close();
  await opened?.stand.close();
});

function addToDemo(folder: string): void {
  const long = join(folder, 'content/the-plumb-line/stories/nine-billion-beats.md');
  writeFileSync(long, readFileSync(long, 'utf8') + LONG_READ);
  // A few of its pieces are enough, and so are their cards.
  const inArabic = (yaml: string) =>
    yaml.replace('language: en', 'language: ar').replace(/^motto: .*/m, 'motto: ما يتفق عليه العالم');
  copyPaper(folder, 'the-plumb-line', ARABIC, inArabic, ARABIC_STORIES);
  const file = join(folder, 'content/the-plumb-line/stories/keepers-of-the-zones.2.md');
  const authors = 'authors:\n  - Ann Lee\n  - name: Bo Ray\n    url: https://bo.example/?a&b\n';
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^---\n/, `---\n${authors}`));
}
