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

  const [width, covered] = await page.evaluate(() => {
    const right = document.querySelector('main')?.getBoundingClientRect().right ?? 0;
    const left =
      document.querySelector('broadsheet-desk')?.shadowRoot?.querySelector('aside')?.getBoundingClientRect().left ?? 0;
    return [document.documentElement.scrollWidth, right > left];
  });
  assert.deepEqual([width, covered], [1_440, false], 'beside the page');
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  const [narrow, above] = await page.evaluate(() => {
    const bottom = document.querySelector('broadsheet-desk')?.getBoundingClientRect().bottom ?? 0;
    return [
      document.documentElement.scrollWidth,
      bottom <= (document.querySelector('h1')?.getBoundingClientRect().top ?? 0),
    ];
  });
  assert.deepEqual([narrow, above], [390, true], 'above the page, not over it');
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
