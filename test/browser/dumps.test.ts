import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { DAY } from '../../src/proof/time.ts';
import { DUMP, type DumpRow } from '../../src/records/archive/dump-row.ts';
import { writeParquet } from '../../src/records/archive/parquet-write.ts';
import { dumpIndex } from '../../src/records/dumps.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { runDumps } from '../../src/records/jobs/dump-run.ts';
import { fileScope, tempFolder } from '../support/app-context.ts';
import { parquetRows } from '../support/dumps.ts';
import { probe } from '../support/probes.ts';
import { type RecordsStand, recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const HOST = 'xn--bcher-kva.example';
const NOON = Date.UTC(2026, 10, 1, 12);
const DAYS = 9;
const NAMES = [HOST, 'www.example.com', 'example.com', 'a.test', 'b.test', 'gone.test'];

describe('a name is looked up in the dumps by ranges, in the browser', () => {
  const scope = fileScope();
  const folder = tempFolder(scope);
  let stand: RecordsStand;
  let browser: Browser;
  let page: Page;
  let asked: { path: string; range: string | null }[] = [];
  before(async () => {
    browser = await openBrowser();
    stand = await recordsStand(scope, { DUMPS_URL: join(folder, 'dumps') }, NOON);
    for (let n = 0; n < DAYS; n++) {
      const names = n === 3 ? NAMES.slice(1) : NAMES;
      stand.enter(
        ...names.map((name) =>
          probe(name, NOON + n * DAY, { A: ['192.0.2.1'], NS: [n < 5 ? 'ns1.old.example' : 'ns1.new.example'] }),
        ),
      );
    }
    stand.clock.now = NOON + DAYS * DAY;
    await runDumps(stand.app);
    page = await (await browser.newContext()).newPage();
    page.on('request', (request) => {
      asked.push({ path: new URL(request.url()).pathname, range: request.headers().range ?? null });
    });
    await page.goto(`${stand.url}/dumps/`);
  });
  after(async () => {
    await browser?.close();
  });

  const textOf = async (where: string): Promise<string> => (await page.locator(where).allInnerTexts()).join('\n');
  const lookUp = async (name: string, span: string): Promise<string> => {
    asked = [];
    await page.fill('#name', name);
    await page.selectOption('#span', span);
    await page.click('#look button');
    await page.waitForSelector('#found .cost');
    return textOf('#found');
  };

  it('finds the history of a name, typed in Unicode, and checks each receipt', async () => {
    const text = await lookUp('Bücher.example', String(DAYS));
    assert.match(text, /xn--bcher-kva\.example: 8 observations on 8 of 9 days\. All receipts hold/);
    assert.equal(await page.locator('#found tbody tr').count(), 8);
    assert.equal(await page.locator('#found td.receipt.good').count(), 8);
    const servers = await page.locator('#found tbody tr td:nth-child(3)').allInnerTexts();
    assert.deepEqual(servers, [
      ...['ns1.new.example', 'the same', 'the same', 'the same'],
      ...['ns1.old.example', 'the same', 'the same', 'the same'],
    ]);
    const files = asked.filter(({ path }) => path.endsWith('.parquet'));
    assert.ok(files.length > 0 && files.every(({ range }) => range !== null));
    const others = asked.filter(({ path }) => !path.endsWith('.parquet')).map(({ path }) => path);
    assert.deepEqual(others, ['/.well-known/records-keys.json'], 'nothing is asked of the API');
    assert.match(text, new RegExp(`Read in ${files.length} requests: \\d+ kB of 9 files with \\d+ kB`));
  });

  it('says clearly that a name is absent', async () => {
    await page.reload();
    const text = await lookUp('nobody.example', '7');
    assert.match(text, /No dump of the newest 7 days has nobody\.example\./);
    assert.equal(await page.locator('#found table').count(), 0);
    assert.match(text, /Read in 7 requests/);
    assert.match(await lookUp('nobody.example', '7'), /nothing was asked of any server/);
  });

  it('refuses what is no hostname, and asks for nothing', async () => {
    asked = [];
    await page.fill('#name', 'not a name<b>');
    await page.click('#look button');
    assert.match(await textOf('#found'), /not a name<b> is not a hostname/);
    assert.deepEqual(asked, []);
  });

  it('does not believe a file that is cut short, or rows that nobody signed', async () => {
    const [newest] = dumpIndex(stand.app).days;
    const file = join(folder, 'dumps', newest?.files[0]?.name ?? '');
    const whole = readFileSync(file);
    await page.reload();
    writeFileSync(file, whole.subarray(0, 100));
    assert.match(await lookUp('a.test', '1'), /2026-11-09: it is being made again/);
    assert.doesNotMatch(await textOf('#found'), /No dump of/);
    writeFileSync(file, whole);

    const rows = await parquetRows(whole);
    const altered = join(folder, 'altered.parquet');
    const forged = rows.map((row) => ({
      ...row,
      ...{ seq: Number(row.seq), observed_at: Number(row.observed_at), nameservers: '["ns1.evil.example"]' },
    }));
    await writeParquet(DUMP, forged as unknown as DumpRow[], altered);
    const bytes = readFileSync(altered);
    await page.route('**/*.parquet', (route) => {
      const [, start, end] = /bytes=(\d+)-(\d+)/.exec(route.request().headers().range ?? '') ?? [];
      return route.fulfill({ status: 206, body: bytes.subarray(Number(start), Number(end) + 1) });
    });
    await page.route('**/dumps/', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace(`data-bytes="${whole.length}"`, `data-bytes="${bytes.length}"`);
      return route.fulfill({ response: answer, body });
    });
    await page.reload();
    const text = await lookUp('a.test', '1');
    assert.match(text, /1 receipt did not hold: do not rely on it/);
    assert.match(text, /What it says is what was signed/);
    await page.unrouteAll();
    await page.reload();
  });

  it('is told of a day that was made again since', { skip: ONLY_WIDE }, async () => {
    stand.app.store.records.optOut(parseHostname('gone.test'), 'asked', 'cli', stand.clock.now);
    assert.match(await lookUp('a.test', '1'), /2026-11-09: it is being made again, as when a name opts out/);
    await runDumps(stand.app);
    assert.match(
      await lookUp('a.test', '1'),
      /2026-11-09: it was replaced since this page was opened; reload the page/,
    );
    await page.reload();
    assert.match(await lookUp('a.test', '1'), /a\.test: 1 observation on 1 of 1 day\. Its receipt holds/);
    assert.match(await textOf('table.dumps'), /made again: a name opted out/);
  });

  it('has no fault that axe finds, with a result', async () => {
    await lookUp('a.test', '7');
    assert.deepEqual(await axeFaults(page), []);
  });

  it('lists the files without script', async () => {
    const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await plain.goto(`${stand.url}/dumps/`);
    assert.equal(await plain.locator('table.dumps a[download]').count(), DAYS * 2);
    assert.match((await plain.textContent('main')) ?? '', /needs JavaScript/);
    assert.equal(await plain.locator('#look button').isDisabled(), true);
  });
});
