import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { axeFaults } from '../browser/axe.ts';
import { openBrowser } from '../browser/chromium.ts';
import { until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { type EditorDesk, editorDesk } from './editor-desk.ts';

/** The most script that the editor may transfer, in bytes; and as it is read. */
const TRANSFER_MAX = 100_000;
const SCRIPT_MAX = 262_144;
/** A red picture of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const picture = { name: 'red.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') };

/** Answers with a status of their own, axe's script in the frame, and the style that Chromium adds to typed text. */
const EXPECTED = /status of (?:409|422)|Blocked script execution|Applying inline style/;

const FACTS = [
  { statement: 'It is so.', source: 'RFC Editor', instrument: 'https://www.rfc-editor.org/' },
  { statement: 'It is so too.', source: 'NIST', instrument: 'https://www.nist.gov/' },
];
const PIECE = {
  headline: 'What a tide table says',
  dek: 'One sentence.',
  category: 'Measures',
  byline: 'osric-tamblyn',
  prose: 'One thing is so.[^1] Another is so.[^2]',
  cited_facts: FACTS,
};

describe('the editor', () => {
  const endings: (() => unknown)[] = [];
  let desk: EditorDesk;
  let browser: Browser;
  let seat: BrowserContext;
  before(async () => {
    browser = await openBrowser();
    desk = await editorDesk({ after: (work) => void endings.unshift(work) });
    seat = await desk.signedIn(browser, { viewport: { width: 1400, height: 900 } });
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  /** What went wrong in pages that were opened; each test ends without any. */
  const complaints: string[] = [];
  const opened = async (path: string, context = seat): Promise<Page> => {
    const page = await context.newPage();
    page.setDefaultTimeout(8_000);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) complaints.push(message.text());
    });
    const response = await page.goto(path.startsWith('http') ? path : `${desk.paper}/console/${path}`);
    assert.equal(response?.status(), 200, path);
    return page;
  };
  const filed = async (more: object = {}): Promise<{ id: string; revision: number }> => {
    const { status, body } = await desk.api('POST', 'stories', { ...PIECE, ...more });
    assert.equal(status, 201, JSON.stringify(body));
    return body.story;
  };
  const text = (page: Page) => page.locator('.cm-content');
  const prose = (page: Page) => page.locator('#prose').inputValue();
  /** Replaces the text as a person does, who selects it all. */
  const write = async (page: Page, words: string): Promise<void> => {
    await text(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(words);
  };
  const source = async (
    page: Page,
    n: number,
    [statement = '', publisher = '', document = ''] = ['A.', 'NIST', 'B'],
  ) => {
    await page.locator(`#fact-${n}-statement`).fill(statement);
    await page.locator(`#fact-${n}-source`).fill(publisher);
    await page.locator(`#fact-${n}-instrument`).fill(document);
  };
  const statements = (page: Page) =>
    page.locator('#sources textarea').evaluateAll((all) => all.map((one) => (one as HTMLTextAreaElement).value));
  const isSound = () => assert.deepEqual(complaints.splice(0), []);

  it('files a piece that was typed, with sources that number themselves, a note and a picture', async () => {
    const page = await opened('write');
    await page.locator('#headline').fill('What the tide tables leave out');
    await page.locator('#category').selectOption('Measures');
    await text(page).click();
    await page.keyboard.type('The moon pulls. The wind pushes.');
    await page.keyboard.press('Control+Alt+f');
    await page.keyboard.type('The wind pushes water.');
    assert.equal(await prose(page), 'The moon pulls. The wind pushes.[^1]');
    await source(page, 1, ['The wind pushes water.', 'Met Office', 'https://www.metoffice.gov.uk/']);

    // A source that is cited before the first becomes the first.
    await text(page).click();
    await page.keyboard.press('Control+Home');
    for (let n = 0; n < 'The moon pulls.'.length; n++) await page.keyboard.press('ArrowRight');
    await page.locator('[data-do="cite"]').click();
    await page.getByRole('button', { name: 'A new source' }).click();
    assert.equal(await prose(page), 'The moon pulls.[^1] The wind pushes.[^2]');
    assert.deepEqual(await statements(page), ['', 'The wind pushes water.']);
    await source(page, 1, ['The moon pulls water.', 'NIST', 'https://www.nist.gov/']);
    await text(page).focus();
    await page.keyboard.press('Control+z');
    assert.equal(await prose(page), 'The moon pulls. The wind pushes.[^1]');
    assert.deepEqual((await statements(page)).filter(Boolean).length, 2);
    assert.equal((await statements(page))[0], 'The wind pushes water.');
    await page.keyboard.press('Control+y');
    assert.equal(await prose(page), 'The moon pulls.[^1] The wind pushes.[^2]');
    assert.deepEqual(await statements(page), ['The moon pulls water.', 'The wind pushes water.']);

    // One of the list again, and a note.
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' Both count.');
    await page.locator('[data-do="cite"]').click();
    await page.getByRole('button', { name: '2. The wind pushes water.' }).click();
    await page.keyboard.press('Control+Alt+d');
    await page.keyboard.type('At spring tide.');
    assert.equal(
      await prose(page),
      'The moon pulls.[^1] The wind pushes.[^2] Both count.[^2][^note-1]\n\n[^note-1]: At spring tide.',
    );
    assert.equal((await page.locator('#sources > li').nth(1).locator('.cited').textContent()) ?? '', 'cited 2 times');

    // A picture that is dropped asks what it shows.
    await page.evaluate((data) => {
      const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
      const given = new DataTransfer();
      given.items.add(new File([bytes], 'quay.png', { type: 'image/png' }));
      document
        .querySelector('.cm-content')
        ?.dispatchEvent(new DragEvent('drop', { dataTransfer: given, bubbles: true, cancelable: true }));
    }, PNG);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Put it into the text' }).click();
    assert.ok(await dialog.isVisible(), 'a picture without a description was taken');
    await dialog.getByLabel('What it shows').fill('Two ferries [at] the quay');
    await dialog.getByRole('button', { name: 'Put it into the text' }).click();
    await until(async () =>
      (await prose(page)).includes('![Two ferries \\[at\\] the quay](media/quay.png)') ? true : null,
    );

    // Bold, a link, and a file without leaving the page.
    await page.locator('#problems').getByText('Nothing keeps it from being filed').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Filed as revision 1, a draft').waitFor();
    assert.match(page.url(), /\/console\/pieces\/[0-9a-z]{26}\/edit$/);
    const id = page.url().split('/').at(-2);
    await page.locator('#dek').fill('A dek.');
    await page.locator('.send').getByRole('button', { name: 'File' }).click();
    await page.waitForURL(/\/console\/pieces\/[0-9a-z]{26}\?said=/);
    const { body } = await desk.api('GET', `stories/${id}`);
    assert.equal(body.revision, 2);
    assert.equal(body.dek, 'A dek.');
    assert.deepEqual(
      body.cited_facts.map((fact: { source: string }) => fact.source),
      ['NIST', 'Met Office'],
    );
    await page.close();
    isSound();
  });

  it('marks up what is selected, and takes the marks away again', async () => {
    const page = await opened('write');
    await write(page, 'ebb and flow');
    await page.keyboard.press('Control+a');
    for (const [keys, after] of [
      ['Control+b', '**ebb and flow**'],
      ['Control+b', 'ebb and flow'],
      ['Control+i', '*ebb and flow*'],
      ['Control+i', 'ebb and flow'],
      ['Control+k', '[ebb and flow](https://)'],
    ] as const) {
      await page.keyboard.press(keys);
      assert.equal(await prose(page), after, keys);
    }
    await page.keyboard.insertText('https://tides.example/');
    assert.equal(await prose(page), '[ebb and flow](https://tides.example/)');
    await write(page, '- one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.keyboard.type('end 👩‍🚀');
    await page.keyboard.press('Backspace');
    assert.equal(await prose(page), '- one\n- two\nend ');
    // Tab leaves the text.
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.cm-editor') ?? null), null);
    await page.locator('#matter').focus();
    await page.keyboard.press('?');
    assert.match((await page.getByRole('dialog').textContent()) ?? '', /Cite a source/);
    await page.evaluate(() => localStorage.clear());
    await page.close();
    isSound();
  });

  it('shows what is wrong where it is, while it is typed and when it is refused, and loses nothing', async () => {
    const page = await opened('write');
    await page.locator('#headline').fill('A piece with faults');
    await write(page, 'A <b>bold</b> claim.[^7]\n\nAnd ![](media/none.png)');
    await page.locator('.problem-here').first().waitFor();
    assert.deepEqual(await page.locator('.problem-here').allInnerTexts(), [
      '<b>bold</b>',
      '</b>',
      '[^7]',
      'media/none.png)',
    ]);
    await page.locator('#problems a', { hasText: 'Text, line 3' }).first().click();
    await page.keyboard.insertText('HERE');
    assert.match(await prose(page), /\(HEREmedia\/none/);
    await source(page, 1, ['', 'NIST', 'javascript:alert(1)']);
    await page.locator('.send').getByRole('button', { name: 'File' }).click();
    await page.locator('#fact-1-statement-problem').getByText('empty').waitFor();
    assert.match(
      (await page.locator('#fact-1-instrument-problem').textContent()) ?? '',
      /not the address of a document/,
    );
    assert.equal(await page.locator('#fact-1-instrument').getAttribute('aria-invalid'), 'true');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'problems');
    await page.locator('#problems a', { hasText: 'Source 1, document' }).click();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'fact-1-instrument');
    assert.equal(await page.locator('#fact-1-source').inputValue(), 'NIST');
    assert.deepEqual(await axeFaults(page), []);

    // After a reload all of it is there, with a notice.
    await page.reload();
    assert.match((await page.locator('#restored').textContent()) ?? '', /what you wrote .* and did not file/);
    assert.equal(await page.locator('#headline').inputValue(), 'A piece with faults');
    assert.match(await prose(page), /^A <b>bold/);
    assert.equal(await page.locator('#fact-1-instrument').inputValue(), 'javascript:alert(1)');
    await page.getByRole('button', { name: 'Discard it' }).click();
    assert.deepEqual([await page.locator('#headline').inputValue(), await prose(page)], ['', '']);
    await page.reload();
    assert.ok(await page.locator('#restored').isHidden());
    await page.close();
    // The page shows the picture that does not exist.
    assert.deepEqual(
      complaints.splice(0).filter((one) => !one.includes('404')),
      [],
    );
  });

  it('keeps a draft until it is filed, of each piece its own', { skip: ONLY_WIDE }, async () => {
    const { id } = await filed({ headline: 'A piece for drafts' });
    const page = await opened(`pieces/${id}/edit`);
    await write(page, 'Changed.[^1] Again.[^2]');
    await until(() => page.evaluate((name) => localStorage.getItem(name), `broadsheet /the-plumb-line ${id}`));
    await page.goto(`${desk.paper}/console/write`);
    assert.ok(await page.locator('#restored').isHidden());
    await page.goto(`${desk.paper}/console/pieces/${id}/edit`);
    assert.equal(await prose(page), 'Changed.[^1] Again.[^2]');
    await page.locator('.send').getByRole('button', { name: 'File' }).click();
    await page.waitForURL(/said=/);
    assert.equal((await desk.api('GET', `stories/${id}`)).body.prose, 'Changed.[^1] Again.[^2]');
    assert.equal(await page.evaluate((name) => localStorage.getItem(name), `broadsheet /the-plumb-line ${id}`), null);
    await page.close();
    isSound();
  });

  it('shows two editors of one piece what the other did, and makes one text of both', { skip: ONLY_WIDE }, async () => {
    const before = 'The ferry is blue.[^1]\n\nIt sails at nine.[^2]\n\nIt is never late.';
    const { id } = await filed({ headline: 'The ferry', prose: before });
    const [first, second] = [await opened(`pieces/${id}/edit`), await opened(`pieces/${id}/edit`)];
    await write(first, before.replace('at nine', 'at ten'));
    await first.keyboard.press('Control+s');
    await first.getByText('Filed as revision 2').waitFor();
    await second.locator('#headline').fill('The blue ferry');
    await write(second, before.replace('never late', 'often late'));
    await second.locator('.send').getByRole('button', { name: 'File' }).click();
    await second.getByText('Somebody else revised this piece').waitFor();
    const shown = second.locator('#conflict');
    assert.deepEqual(await shown.locator('fieldset del').allInnerTexts(), ['ten', 'never']);
    assert.deepEqual(await shown.locator('fieldset ins').allInnerTexts(), ['blue ', 'nine', 'often']);
    // What only they changed is proposed as theirs; what only I changed, as mine.
    assert.deepEqual(
      await shown
        .locator('input[type="checkbox"]')
        .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked)),
      [false, true, false],
    );
    assert.deepEqual(await axeFaults(second), []);
    assert.match(await prose(second), /at nine[\s\S]*often late/);
    await second.getByRole('button', { name: 'Make one of both' }).click();
    await second.locator('#problems').getByText('Nothing keeps it').waitFor();
    assert.equal(await prose(second), before.replace('at nine', 'at ten').replace('never late', 'often late'));
    await second.locator('.send').getByRole('button', { name: 'File' }).click();
    await second.waitForURL(/said=/);
    const { body } = await desk.api('GET', `stories/${id}`);
    assert.deepEqual([body.revision, body.headline], [3, 'The blue ferry']);
    await Promise.all([first.close(), second.close()]);
    isSound();
  });

  it('shows the page of the newest text alone, whatever comes first', { skip: ONLY_WIDE }, async () => {
    const page = await opened('write');
    await page.locator('#page').waitFor();
    let held = 0;
    await page.route('**/console/write', async (route) => {
      if (route.request().postData()?.includes('\nfirst') && held++ === 0)
        await new Promise((go) => setTimeout(go, 2_500));
      await route.continue().catch(() => {});
    });
    await write(page, 'first');
    await until(() => (held > 0 ? true : null));
    await write(page, 'second');
    const frame = page.frameLocator('#page');
    await frame.getByText('second', { exact: true }).waitFor();
    await page.waitForTimeout(2_600);
    assert.equal((await frame.locator('.prose').textContent())?.trim(), 'second');
    await page.evaluate(() => localStorage.clear());
    await page.close();
    isSound();
  });

  it('schedules in the zone that it names, and says the time in UTC', { skip: ONLY_WIDE }, async () => {
    const page = await opened('write');
    await page.locator('#headline').fill('A piece for the morning');
    await write(page, PIECE.prose);
    for (const [index, { statement, source: publisher, instrument }] of FACTS.entries())
      await source(page, index + 1, [statement, publisher, instrument]);
    await page.getByLabel('Put it on air at a time').check();
    await page.locator('#air_at').fill('2031-03-30T02:30');
    await page.locator('#air_zone').fill('Europe/Berlin');
    await page.locator('.send').getByRole('button', { name: 'File' }).click();
    await page.locator('#air_at-problem').getByText('does not exist in Europe/Berlin').waitFor();
    await page.locator('#air_at').fill('2031-03-30T03:30');
    await page.locator('#air-utc').getByText('That is 2031-03-30 01:30 UTC.').waitFor();
    await page.locator('.send').getByRole('button', { name: 'File' }).click();
    await page.getByText('to go on air at 2031-03-30T01:30:00').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Take it off the schedule' }).isVisible());
    await page.close();
    isSound();
  });

  it('does all of it without script', { skip: ONLY_WIDE }, async () => {
    const still = await desk.signedIn(browser, { javaScriptEnabled: false });
    const page = await opened('write', still);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await page.locator('#headline').fill('Without script');
    await page.locator('#prose').fill('B.[^2] A.[^1] <i>C</i>.[^3]');
    await source(page, 1, ['First', 'NIST', 'A']);
    await source(page, 2, ['Second', 'BIPM', 'B']);
    await press('Add a source');
    await source(page, 3, ['Third', 'IANA', 'C']);
    await press('Number them as the text cites them');
    assert.deepEqual(await statements(page), ['Second', 'First', 'Third']);
    assert.equal(await prose(page), 'B.[^1] A.[^2] <i>C</i>.[^3]');
    await page.getByRole('button', { name: 'Remove source 2' }).click();
    assert.deepEqual([await statements(page), await prose(page)], [['Second', 'Third'], 'B.[^1] A. <i>C</i>.[^2]']);
    await press('File');
    assert.match((await page.locator('#prose-problem').textContent()) ?? '', /Line 1: raw HTML/);
    assert.equal(await page.locator('#headline').inputValue(), 'Without script');
    assert.match((await page.frameLocator('#page').locator('h1').textContent()) ?? '', /Without script/);
    assert.deepEqual(await axeFaultsWithoutScript(page), []);
    await page.locator('#prose').fill('B.[^1] A. C.[^2]');
    await page.getByText('Upload a picture').click();
    await page.locator('#picture').setInputFiles({ ...picture, name: 'still.png' });
    await press('Upload it, and put it at the end of the text');
    assert.match((await page.locator('#picture_alt-problem').textContent()) ?? '', /description is missing/);
    await page.locator('#picture').setInputFiles({ ...picture, name: 'still.png' });
    await page.locator('#picture_alt').fill('A red dot');
    await press('Upload it, and put it at the end of the text');
    assert.equal(await prose(page), 'B.[^1] A. C.[^2]\n\n![A red dot](media/still.png)\n');
    // Enter in a field checks, and neither removes nor files.
    await page.locator('#fact-1-source').press('Enter');
    assert.match((await page.locator('#problems').textContent()) ?? '', /Nothing keeps it/);
    await press('File');
    assert.match((await page.locator('.notice').textContent()) ?? '', /Filed as revision 1, a draft/);
    const id = new URL(page.url()).pathname.split('/').at(-1);

    await page.goto(`${desk.paper}/console/pieces/${id}/edit`);
    const { body } = await desk.api('GET', `stories/${id}`);
    const theirs = { ...PIECE, headline: 'Theirs', prose: body.prose, cited_facts: body.cited_facts, revision: 1 };
    assert.equal((await desk.api('PUT', `stories/${id}`, theirs)).status, 200);
    await page.locator('#headline').fill('Mine');
    await press('File');
    assert.match((await page.locator('#conflict').textContent()) ?? '', /Somebody else revised/);
    assert.equal(await page.locator('#headline').inputValue(), 'Mine');
    await page.getByLabel('Take theirs: Headline').check();
    await press('Make one of both, as chosen');
    assert.equal(await page.locator('#headline').inputValue(), 'Theirs');
    await press('File');
    assert.match((await page.locator('.notice').textContent()) ?? '', /Filed as revision [23]/);
    await still.close();
    isSound();
  });

  it('shows what looks like code as text, in every field and in the page', async () => {
    const code = `"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>{{7*7}}</textarea>`;
    const page = await opened('write');
    for (const field of ['headline', 'dek']) await page.locator(`#${field}`).fill(code);
    for (const details of await page.locator('.editor details').all())
      await details.evaluate((one) => one.setAttribute('open', ''));
    for (const field of [
      'tags',
      'credit',
      'authors',
      'slug',
      'aliases',
      'image_src',
      'image_alt',
      'image_credit',
      'language',
    ])
      await page.locator(`#${field}`).fill(code);
    await source(page, 1, [code, code, 'javascript:window.pwned=1']);
    await write(page, `${code}\n\n[a](javascript:window.pwned=1) ![${code}](${code}) [^1]\n\n[^x]: ${code}`);
    await page.locator('.send').getByRole('button', { name: 'File' }).click();
    await page.locator('#problems li').first().waitFor();
    const pwned = () =>
      Promise.all(page.frames().map((frame) => frame.evaluate(() => 'pwned' in window).catch(() => false)));
    assert.deepEqual((await pwned()).filter(Boolean), []);
    assert.equal(await page.locator('#problems :is(img, script)').count(), 0);
    assert.equal(await page.frameLocator('#page').locator('img[src="x"], script:not([src]):not([type])').count(), 0);
    await page.reload();
    assert.equal(await page.locator('#headline').inputValue(), code);
    assert.deepEqual((await pwned()).filter(Boolean), []);
    await page.evaluate(() => localStorage.clear());
    complaints.splice(0);
    // The same from the server, without script.
    const still = await desk.signedIn(browser, { javaScriptEnabled: false });
    const plain = await opened('write', still);
    await plain.locator('#headline').fill(code);
    await plain.locator('#prose').fill(code);
    await source(plain, 1, [code, code, code]);
    await plain.getByRole('button', { name: 'File', exact: true }).click();
    assert.equal(await plain.locator('#headline').inputValue(), code);
    assert.equal(await plain.locator('#prose').inputValue(), code);
    assert.equal(await plain.locator('main img[src="x"]').count(), 0);
    await still.close();
    await page.close();
  });

  it('shows the page of a private paper with its styles and pictures', async () => {
    const page = await seat.newPage();
    const missing: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) missing.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(`${desk.hidden}/console/write`);
    await page.locator('#headline').fill('In private');
    await page.frameLocator('#page').getByText('In private').first().waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(missing, []);
    const face = await page
      .frameLocator('#page')
      .locator('h1')
      .evaluate((one) => getComputedStyle(one).fontSize);
    assert.notEqual(face, '32px');
    await page.evaluate(() => localStorage.clear());
    await page.close();
  });

  it('loads its script on its own page alone, and little of it', { skip: ONLY_WIDE }, async () => {
    const page = await seat.newPage();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.setCacheDisabled', { cacheDisabled: true });
    const scripts = new Map<string, string>();
    let transferred = 0;
    network.on('Network.responseReceived', ({ requestId, response, type }) => {
      if (type === 'Script') scripts.set(requestId, response.url);
    });
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (scripts.has(requestId)) transferred += encodedDataLength;
    });
    await page.goto(`${desk.paper}/console/pieces`, { waitUntil: 'networkidle' });
    assert.deepEqual(
      [...scripts.values()].filter((url) => url.includes('editor')),
      [],
    );
    transferred = 0;
    scripts.clear();
    await page.goto(`${desk.paper}/console/write`, { waitUntil: 'networkidle' });
    assert.ok(transferred > 0 && transferred < TRANSFER_MAX, `${transferred} bytes`);
    let read = 0;
    for (const url of scripts.values()) read += (await (await seat.request.get(url)).body()).byteLength;
    assert.ok(read < SCRIPT_MAX, `${read} bytes`);
    await page.close();
  });

  for (const [who, options] of Object.entries({
    'in the dark': { colorScheme: 'dark', viewport: { width: 1400, height: 900 } },
    'on a phone': { colorScheme: 'light', viewport: { width: 375, height: 700 } },
  } as const)) {
    // On a push console-pages.test.ts has the page, on a phone at night.
    it(`is accessible and fits ${who}`, { skip: ONLY_WIDE }, async () => {
      const context = await desk.signedIn(browser, options);
      const page = await opened('write', context);
      await page.locator('#headline').fill('Accessible');
      await write(page, '## A heading\n\nA *word*, a [link](https://a.example/), `code`.[^1]');
      await page.locator('.problem-here, #problems li').first().waitFor();
      for (const details of await page.locator('.editor details').all())
        await details.evaluate((one) => one.setAttribute('open', ''));
      assert.deepEqual(await axeFaults(page), []);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.ok(overflow <= 0, `${overflow} pixels too wide`);
      await page.locator('[data-do="picture"]').click();
      assert.deepEqual(await axeFaults(page, 'dialog[open]'), []);
      await context.close();
      isSound();
    });
  }

  it('is no page for a seat that reads, nor for a form of another page', async () => {
    const reader = await desk.signedIn(browser, { level: 'read' });
    const { id } = await filed({ headline: 'Not for readers' });
    const page = await reader.newPage();
    for (const path of ['write', `pieces/${id}/edit`]) {
      assert.equal((await page.goto(`${desk.paper}/console/${path}`))?.status(), 403, path);
      const sent = (context: BrowserContext, multipart: Record<string, string>, headers: Record<string, string> = {}) =>
        context.request.post(`${desk.paper}/console/${path}`, {
          multipart,
          headers: { Origin: new URL(desk.paper).origin, ...headers },
        });
      const body = { do: 'file', headline: 'x' };
      assert.equal((await sent(reader, body)).status(), 403, path);
      assert.equal((await sent(seat, body)).status(), 403, path);
      assert.equal((await sent(seat, body, { Origin: 'https://elsewhere.example' })).status(), 403, path);
      const plain = await seat.request.post(`${desk.paper}/console/${path}`, {
        form: body,
        headers: { Origin: new URL(desk.paper).origin },
      });
      assert.equal(plain.status(), 415, path);
    }
    await reader.close();
  });
});

/** Axe brings its own script, which a page without script takes from the test. */
async function axeFaultsWithoutScript(page: Page): Promise<string[]> {
  const html = await page.content();
  const context = await page.context().browser()?.newContext();
  const copy = await context?.newPage();
  if (copy === undefined) throw new Error('the browser has closed');
  await copy.setContent(html);
  const faults = await axeFaults(copy, '.editor');
  await context?.close();
  return faults.filter((fault) => !/^(?:color-contrast|target-size)/.test(fault));
}
