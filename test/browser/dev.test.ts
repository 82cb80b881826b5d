import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { serveDev } from '../support/dev-server.ts';
import { copyContent, until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

test('the writing desk: problems beside the page, links both ways, and a reload for every save', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  const { url, said } = await serveDev(t, folder);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const stories = join(folder, 'content/the-plumb-line/stories');
  const file = join(stories, 'metre-of-light.md');
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(`${url}/the-plumb-line/stories/metre-of-light/`);
  const panel = page.locator('broadsheet-desk aside');
  await panel.getByText('This piece: No problems').waitFor();
  // Saved as many editors do: a new file takes the place of the old one.
  const text = readFileSync(file, 'utf8');
  writeFileSync(`${file}~`, `${text}\nA last paragraph, marked as nothing allows.[^99]\n`);
  renameSync(`${file}~`, file);
  await panel.getByText('This piece: 1 problem').waitFor();
  await panel.getByText('[^99] points at no entry').waitFor();
  // The terminal says so too, maybe after the page.
  await until(() => (/metre-of-light\.md:\d+ prose: \[\^99\] points at no entry/.test(said.text) ? true : null));
  await page.getByText('A last paragraph, marked as nothing allows.').waitFor();
  await page.locator('.broadsheet-flag').click();
  assert.equal(
    await page.evaluate(() => document.querySelector('broadsheet-desk')?.shadowRoot?.activeElement?.id),
    'desk-problem-1',
  );
  assert.match(
    String(await panel.getByText('Show on the page').getAttribute('href')),
    /^#:~:text=A%20last%20paragraph/,
  );
  assert.deepEqual(await axeFaults(page, 'broadsheet-desk'), []);

  const sides = () =>
    page.evaluate(() => {
      const [main, aside] = [
        document.querySelector('main'),
        document.querySelector('broadsheet-desk')?.shadowRoot?.querySelector('aside'),
      ].map((part) => part?.getBoundingClientRect());
      const isBeside = (main?.right ?? 0) <= (aside?.left ?? 0);
      const isAbove = (aside?.bottom ?? 0) <= (main?.top ?? 0);
      return { width: document.documentElement.scrollWidth, isBeside, isAbove, main: main?.width };
    });
  const above = await sides();
  assert.deepEqual([above.width, above.isAbove, above.isBeside], [1_440, true, false], 'above the page');
  await page.setViewportSize({ width: 1_900, height: 900 });
  const beside = await sides();
  assert.deepEqual([beside.width, beside.isAbove, beside.isBeside], [1_900, false, true], 'beside the page');
  assert.ok((beside.main ?? 0) >= (above.main ?? 0), 'and the page is as wide as a reader has it');
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  const [narrow, isAbove] = await page.evaluate(() => {
    const bottom = document.querySelector('broadsheet-desk')?.getBoundingClientRect().bottom ?? 0;
    return [
      document.documentElement.scrollWidth,
      bottom <= (document.querySelector('h1')?.getBoundingClientRect().top ?? 0),
    ];
  });
  assert.deepEqual([narrow, isAbove], [390, true], 'above the page, not over it');
  assert.deepEqual(await axeFaults(page, 'broadsheet-desk'), []);

  await page.goto(`${url}/the-plumb-line/`);
  await panel.getByText('The Plumb Line: 1 problem').waitFor();
  writeFileSync(file, text.replace(/^air: .*$/m, 'air: false'));
  const badge = () =>
    page.evaluate(() => {
      const link = [...document.querySelectorAll('h2 > a, h3 > a')].find((a) =>
        a.getAttribute('href')?.endsWith('/metre-of-light/'),
      );
      return link?.parentElement == null ? null : getComputedStyle(link.parentElement, '::after').content;
    });
  await until(async () => ((await badge().catch(() => null)) === '"Draft"' ? true : null));
  await page.goto(`${url}/_desk/`);
  await page.getByRole('heading', { name: 'Drafts (1)' }).waitFor();
  await page.getByText('Without a piece for 7 days').first().waitFor();
  await page.frameLocator('.front iframe').first().getByRole('main').waitFor();
  assert.equal(await page.frameLocator('.front iframe').first().locator('broadsheet-desk').count(), 0);
  assert.deepEqual(await axeFaults(page), []);

  // A template is as alive as a piece. No page is open that the save would reload, which ends a navigation under way.
  await page.goto('about:blank');
  appendFileSync(file, '\nOne more line.\n');
  await page.goto(`${url}/`);
  assert.equal(
    new URL(page.url()).pathname,
    '/the-plumb-line/stories/metre-of-light/',
    'it opens at what was saved last',
  );
  await page.getByText('One more line.').waitFor();
});
