import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { listenDesk, listenRecords } from '../../api/server.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import type { AppContext } from '../../src/server/context.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { LogHeads } from '../support/log-heads.ts';
import { publish, revise, withdraw } from '../support/newsroom.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const LOGGER = pino({ level: 'silent' });
const NOON = Date.parse('2026-11-20T12:00:00Z');

const READERS = [
  { who: 'at a desk', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { who: 'on a phone at night', viewport: { width: 390, height: 800 }, colorScheme: 'dark' },
] as const;

const NO_WITNESSES = { desk: /This log has no witnesses/, records: /This log has no witnesses/ };
const EMPTY = { desk: /Nothing is in this log yet/, records: /Nothing is in this log yet/ };

interface LogStand {
  app: AppContext;
  desk: string;
  records: string;
  close(): Promise<void>;
}

/** Serves both logs from the database: one with a witness when `policy` says so, both empty without leaves. */
async function openLogStand({ isFilled, isWitnessed }: { isFilled: boolean; isWitnessed: boolean }): Promise<LogStand> {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.unshift(end) };
  const folder = tempFolder(scope);
  const policy = join(folder, 'policy');
  const clock = { now: NOON };
  const files = appContextIn(scope, folder, clock);
  const heads = {
    desk: new LogHeads(files.store.database.log, 'desk'),
    records: new LogHeads(files.store.database.log, 'records'),
  };
  writeFileSync(policy, heads.desk.policyText.replace(/^witness .*$/m, '$& http://127.0.0.1:9/'));
  const app = isWitnessed ? appContextIn(scope, folder, clock, { LOG_POLICY: policy }) : files;
  if (isFilled) {
    createPaper(app);
    publish(app, 'high-water', { headline: 'What high water means for the harbour, and for those who cross it' });
    publish(app, 'low-water');
    publish(app, 'neap-tide', { language: 'ar', headline: 'ما معنى المد المحاقي' });
    withdraw(app, 'low-water');
    revise(app, 'high-water', { dek: 'Another dek.' });
    for (const log of ['desk', 'records'] as const) {
      const head = heads[log].sign();
      if (isWitnessed) heads[log].cosign(head);
    }
    publish(app, 'spring-tide');
    heads.desk.sign();
    // The page links the fonts of papers.
    await pressPapers(app, { cards: false });
    if (isWitnessed)
      app.store.database.log.setWitness('desk', heads.desk.origin, {
        ...app.store.database.log.witness('desk', heads.desk.origin, heads.desk.witness.vkey),
        ...{ seen_size: 4, cosigned_size: 4, cosigned_at: NOON, fault: 'down', fault_at: NOON, failures: 1 },
      });
  }
  const desk = await listenDesk({ app, presses: new PressQueue(app), logger: LOGGER });
  scope.after(() => desk.close());
  const records = await listenRecords(app, LOGGER);
  scope.after(() => records.close());
  return {
    app,
    desk: desk.url,
    records: records.url,
    close: async () => {
      for (const end of ends) await end();
    },
  };
}

describe('the page of a log', { concurrency: 1 }, () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  for (const [state, options, said] of [
    ['with a witness', { isFilled: true, isWitnessed: true }, { desk: /Up to 9 leaves/, records: /Yes, this head/ }],
    ['without witnesses', { isFilled: true, isWitnessed: false }, NO_WITNESSES],
    ['before its first leaf', { isFilled: false, isWitnessed: true }, EMPTY],
  ] as const) {
    describe(state, { skip: state !== 'with a witness' && ONLY_WIDE }, () => {
      let stand: LogStand;
      before(async () => {
        stand = await openLogStand(options);
      });
      after(() => stand?.close());

      if (options.isFilled) {
        it('names the pieces on air and the withdrawals, and nothing private', async () => {
          const html = await (await fetch(`${stand.desk}/log/`)).text();
          assert.match(
            html,
            /<a class="headline" href="[^"]*\/stories\/spring-tide\/"[^>]*>What spring-tide means<\/a>/,
          );
          assert.match(html, /Withdrawal · harbor-ledger/);
          // For its Arabic headline.
          assert.match(html, /<link rel="stylesheet" href="\/harbor-ledger\/fonts\.css">/);
          assert.match((await fetch(`${stand.desk}/harbor-ledger/fonts.css`)).headers.get('content-type') ?? '', /css/);
          assert.doesNotMatch(html, /What low-water means/);
          assert.match(html, /4 are only hashes/);
        });
      }

      for (const { who, ...screen } of READERS) {
        for (const service of ['desk', 'records'] as const) {
          // On a push each service has one reader.
          const skip = (who === 'at a desk') === (service === 'desk') && ONLY_WIDE;
          it(`of the ${service} is sound ${who}`, { skip }, async (t) => {
            const page = await browser.newPage({ ...screen, reducedMotion: 'reduce' });
            t.after(() => page.close());
            const complaints: string[] = [];
            page.on('console', (message) => {
              if (message.type() === 'error') complaints.push(message.text());
            });
            page.on('response', (response) => {
              if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
            });
            await page.goto(`${stand[service]}/log/`, { waitUntil: 'load' });
            await shoot(page, `${state}-${service}-${who}`);
            assert.match((await page.locator('.log').textContent()) ?? '', said[service]);
            assert.deepEqual(await axeFaults(page), []);
            assert.deepEqual(complaints, []);
            const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(tooWide <= 0, `${tooWide}px wider than the screen`);
          });
        }
      }
    });
  }
});

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS;
  if (folder === undefined) return;
  await page.screenshot({ path: join(folder, `${name.replaceAll(' ', '-')}.png`), fullPage: true });
}
