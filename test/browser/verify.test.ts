import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Route } from 'playwright-core';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { jwks, thumbprint, vkey } from '../../src/proof/keyring.ts';
import type { Proof } from '../../src/proof/proof.ts';
import { tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { AUTHORED, type SharedStand, sharedStand } from './fixture.ts';
import { pressVerify } from './verify-panel.ts';

/** Revised twice: its chain has three links. */
const STORY = AUTHORED;
const KEYS = '**/.well-known/newsdesk-keys.json';
const PROOF = '**/proof.json';

type KeyDocument = ReturnType<typeof jwks>;

/** The checks by their titles, in order. */
const HASH = 'The hash is that of the text';
const RECEIPT = 'The receipt is for this piece';
const SIGNED = 'The paper’s door signed the receipt';
const CHAIN = 'The chain of revisions is whole';
const SHOWN = 'This page shows that text';

/** The alterations that a push tries in a browser: of each check one, since test/ledger has every one. */
const ON_A_PUSH = new Set([
  'a prose altered in the proof',
  'a receipt made to fit another text',
  'a revision left out of the chain',
  'a proof that is none',
  'a stranger’s key under the kid of the paper’s',
  'a sentence more on the page',
]);

describe('the panel that verifies a piece', { concurrency: 2 }, () => {
  let stand: SharedStand;
  let browser: Browser;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
  });

  /** Opens the story in a window of its own, some of its files altered on their way. */
  async function open(
    altered: Record<string, (route: Route) => Promise<void>> = {},
    options: BrowserContextOptions = {},
  ) {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    for (const [glob, alter] of Object.entries(altered)) await page.route(glob, alter);
    await page.goto(stand.url + STORY);
    return page;
  }

  for (const [where, options] of [
    ['at a desk', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
    ['on a phone at night', { viewport: { width: 360, height: 700 }, colorScheme: 'dark' }],
  ] as const) {
    it(`finds a sound piece sound ${where}, quietly and for everyone`, {
      skip: where === 'at a desk' && ONLY_WIDE,
    }, async () => {
      const page = await open({}, options);
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(`console: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
      page.on('request', (request) => {
        if (!request.url().startsWith(`${stand.url}/the-plumb-line/`)) complaints.push(`elsewhere: ${request.url()}`);
      });
      const { status, checks, failed } = await pressVerify(page);
      assert.deepEqual(checks, [HASH, RECEIPT, SIGNED, CHAIN, SHOWN]);
      assert.deepEqual(failed, []);
      assert.match(status, /^All checks hold: .*no proof that a claim in it is true/);
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Check again');
      assert.deepEqual(await axeFaults(page, '.proof'), []);
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(tooWide <= 0, `${tooWide}px wider than the screen`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  it('shows what one changed letter does, and that the piece is as it was', async () => {
    const page = await open();
    await pressVerify(page);
    await page.getByRole('button', { name: 'Change one letter, then check' }).click();
    await page.locator('#verify li.failed').first().waitFor();
    const failed = await page.locator('#verify li.failed').allTextContents();
    assert.deepEqual(
      [HASH, SHOWN].map((title) => failed.some((text) => text.includes(title))),
      [true, true],
    );
    assert.match((await page.locator('#verify [role="status"]').textContent()) ?? '', /changed one letter of its copy/);
    assert.deepEqual((await pressVerify(page)).failed, []);
    await page.context().close();
  });

  it('finds every piece of the demo papers sound, under the policy that its pages are served with', async () => {
    const page = await browser.newPage();
    await page.route(/\.(woff2|svg|png|jpe?g)$/, (route) => route.abort());
    const outcomes: Record<string, string> = {};
    const addresses = (
      await Promise.all(
        ['the-plumb-line', 'the-leading-light'].map(async (paper) => {
          const text = await (await fetch(`${stand.url}/${paper}/llms.txt`)).text();
          return text.match(/http:\S+?\/stories\/[a-z0-9-]+(?=\.md)/g) ?? [];
        }),
      )
    ).flat();
    assert.ok(addresses.length >= 10, `only ${addresses.length} stories`);
    // Every twentieth on a push, which loads a page for each.
    const all = [...new Set(addresses)].filter((_, n) => ONLY_WIDE === false || n % 20 === 0);
    for (const address of all) {
      const response = await page.goto(`${address}/`, { waitUntil: 'domcontentloaded' });
      assert.match(response?.headers()['content-security-policy'] ?? '', /script-src 'self';/);
      const { status, text } = await pressVerify(page);
      if (!status.startsWith('All checks hold')) outcomes[address] = text;
    }
    assert.deepEqual(outcomes, {});
    await page.close();
  });

  it('is worked by the keyboard, as often as one likes', { skip: ONLY_WIDE }, async () => {
    const page = await open();
    await page.locator('#verify button').focus();
    for (const key of ['Enter', 'Space']) {
      await page.keyboard.press(key);
      await page.getByText('All checks hold').waitFor();
    }
    await page.waitForFunction(() => document.querySelectorAll('#verify li').length === 5);
    await page.context().close();
  });

  /** Files altered on their way to the reader, and the checks that must fail for it. */
  const ALTERED: [string, Record<string, (route: Route) => Promise<void>>, string[], RegExp][] = [
    [
      'a prose altered in the proof',
      proofWith((proof) => ({ ...proof, basis: { ...proof.basis, prose: proof.basis.prose.replace('the', 'thee') } })),
      [HASH, SHOWN],
      /The text differs: this page has “.*\bthe\b.*”, the proof has “.*\bthee\b.*”/,
    ],
    [
      'a receipt that was changed after it was signed',
      proofWith((proof) => alterReceipt(proof, /filed_by \S+/, 'filed_by key:someone-else')),
      [SIGNED, CHAIN],
      /changed after it was signed/,
    ],
    [
      'a receipt made to fit another text',
      proofWith((proof) => alterReceipt(proof, /content_hash sha256:\S{6}/, 'content_hash sha256:abcdef')),
      [RECEIPT, SIGNED, CHAIN],
      /The receipt is for sha256:abcdef/,
    ],
    [
      'a revision left out of the chain',
      proofWith((proof) => ({ ...proof, generations: proof.generations.slice(1) })),
      [CHAIN],
      /Revision 1 is missing/i,
    ],
    [
      'the proof of an older revision',
      proofWith((proof) => ({ ...proof, revision: 1 })),
      [RECEIPT],
      /This page shows revision 3; the receipt and the proof name 3 and 1/,
    ],
    [
      'a proof that is none',
      { [PROOF]: (route) => route.fulfill({ json: { id: 'x' } }) },
      ['The files are a proof and its keys'],
      /proof\.json is not a proof record/,
    ],
    [
      'a proof that is not JSON',
      { [PROOF]: (route) => route.fulfill({ body: '<p>Welcome', contentType: 'text/html' }) },
      ['The files are a proof and its keys'],
      /proof\.json is not a proof record/,
    ],
    [
      'another paper’s keys',
      { [KEYS]: (route) => route.fulfill({ json: strangers('another.example/door') }) },
      [SIGNED, CHAIN],
      /lists no such key/,
    ],
    [
      'a stranger’s key under the kid of the paper’s',
      {
        [KEYS]: altering((document: KeyDocument) => ({
          keys: document.keys.flatMap(({ kid, vkey: own }) =>
            strangers(own.split('+')[0] ?? '').keys.map((stranger) => ({ ...stranger, kid })),
          ),
        })),
      },
      [SIGNED, CHAIN],
      /lists no such key/,
    ],
    [
      'the paper’s key under another name',
      {
        [KEYS]: altering((document: KeyDocument) => ({
          keys: document.keys.map((key) => {
            const publicKey = Buffer.from(key.x, 'base64url');
            return { ...key, vkey: vkey('another.example/door', publicKey) };
          }),
        })),
      },
      [SIGNED, CHAIN],
      /changed after it was signed, or never signed/,
    ],
    [
      'an author altered on the page',
      pageWith(/(<bdi class="author">)Ann/, '$1An'),
      [SHOWN],
      /The list of authors differs: .*“An Lee;.*“Ann Lee;/,
    ],
    [
      'an author’s address altered on the page',
      pageWith(/(class="author"><a href="https:\/\/)bo/, '$1no'),
      [SHOWN],
      /no\.example/,
    ],
    ['an author added to the page', pageWith(/(<bdi class="author">)/, '$1Cy</bdi>, $1'), [SHOWN], /authors differs/],
    ['a headline altered on the page', pageWith(/(<h1[^>]*>)/, '$1Not '), [SHOWN], /The headline differs: .*“Not /],
    ['a summary altered on the page', pageWith(/(<p class="dek">)/, '$1Not '), [SHOWN], /The summary differs/],
    [
      'a sentence more on the page',
      pageWith(/<\/div>(?=\s*(<p class="credit">|<section class="sources"))/, '<p>One more.</p></div>'),
      [SHOWN],
      /The text differs: .*One more/,
    ],
    [
      'a paragraph put before the text',
      pageWith(/(?=<div class="prose">)/, '<p>Read all about it.</p>'),
      [SHOWN],
      /no part of it: “Read all about it\.”/,
    ],
    [
      'a second text under the first',
      pageWith(/(?=<section class="sources")/, '<div class="prose">And so on.</div>'),
      [SHOWN],
      /no part of it: “And so on\.”/,
    ],
    [
      'a link turned elsewhere on the page',
      pageWith(/(<a href="#fact-)1"/, '$12"'),
      [SHOWN],
      /The list of links in the text differs/,
    ],
    [
      'another source on the page',
      pageWith(/(<span class="origin">\s*<b>)/, '$1The Other '),
      [SHOWN],
      /The list of sources differs: .*The Other/,
    ],
    [
      'a page that says it is another revision',
      pageWith(/data-revision="3"/, 'data-revision="4"'),
      [RECEIPT],
      /This page shows revision 4/,
    ],
  ];
  for (const [what, altered, expected, words] of ALTERED) {
    it(`refuses ${what}`, { skip: !ON_A_PUSH.has(what) && ONLY_WIDE }, async () => {
      const page = await open(altered);
      const { status, failed, text } = await pressVerify(page);
      assert.deepEqual(failed, expected, text);
      assert.match(text, words);
      assert.match(status, /^\d of \d checks? failed: .*do not rely on this page/);
      await page.context().close();
    });
  }

  /** What stands in the way of a check is told from a check that fails. */
  const UNREACHED: [string, Record<string, (route: Route) => Promise<void>>, RegExp][] = [
    ['no proof file', { [PROOF]: answer(404) }, /has no proof\.json\. Without it/],
    ['a server in trouble', { [KEYS]: answer(503) }, /answered 503 instead of newsdesk-keys\.json/],
    ['no connection', { [PROOF]: (route) => route.abort() }, /proof\.json could not be fetched\. Your connection/],
    ['no connection for the program', { '**/panel.*.js': (route) => route.abort() }, /program that checks could not/],
  ];
  for (const [what, altered, words] of UNREACHED) {
    it(`says that nothing was checked for ${what}`, { skip: what !== 'no proof file' && ONLY_WIDE }, async () => {
      const page = await open(altered);
      await page.locator('#verify button').click();
      await page.getByText('Nothing was checked').waitFor();
      assert.match((await page.locator('#verify [role="status"]').textContent()) ?? '', words);
      assert.equal(await page.locator('#verify li').count(), 0);
      await page.context().close();
    });
  }

  it('reaches an outcome once the connection is back', { skip: ONLY_WIDE }, async () => {
    const page = await open({ [PROOF]: (route) => route.abort() });
    await pressVerify(page);
    await page.unroute(PROOF);
    await page.locator('#verify button').click();
    await page.getByText('All checks hold').waitFor();
    await page.context().close();
  });

  it('without scripts there is no button, and the manual steps are shown', async () => {
    const page = await open({}, { javaScriptEnabled: false });
    assert.equal(await page.getByRole('button', { name: 'Verify this piece' }).count(), 0);
    assert.equal(await page.locator('#verify').isVisible(), false);
    assert.ok(await page.getByRole('link', { name: 'The whole proof (JSON)' }).isVisible());
    await page.getByText('Check it without this page').click();
    assert.ok(await page.getByText(`npm run -s broadsheet -- verify ${stand.url}${STORY}proof.json`).isVisible());
    assert.ok(await page.getByText('openssl pkeyutl -verify').isVisible());
    await page.context().close();
  });

  const missing = ['curl', 'jq', 'openssl'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  const skip = missing.length > 0 && `there is no ${missing.join(', no ')} here`;
  it('shows commands that verify the piece when pasted', { skip }, async (t) => {
    const page = await open();
    const commands = await page.locator('.proof pre').filter({ hasText: 'openssl' }).textContent();
    const hash = await page.locator('#verify').getAttribute('data-hash');
    await page.context().close();
    const folder = tempFolder(t);
    // The server answers from this process, so nothing may hold it up.
    const { stdout } = await promisify(execFile)('sh', ['-euc', commands ?? ''], { cwd: folder });
    assert.match(stdout, /^Signature Verified Successfully$/m);
    assert.equal(`sha256:${/[0-9a-f]{64}/.exec(stdout)?.[0]}`, hash);
    assert.ok(readFileSync(join(folder, 'signed.txt'), 'utf8').includes(`content_hash ${hash}\n`));
  });
});

/** A key document of a door that is not the paper's, under the name that the test asks for. */
function strangers(name: string) {
  const { publicKey } = signerFrom(name, new Uint8Array(32).fill(1));
  return jwks([{ kid: thumbprint(publicKey), name, publicKey, nbf: 0, retired_at: null }]);
}

/** A route that passes a JSON file on, altered. */
function altering<T>(alter: (document: T) => unknown): (route: Route) => Promise<void> {
  return async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: alter((await response.json()) as T) });
  };
}

function proofWith(alter: (proof: Proof) => unknown): Record<string, (route: Route) => Promise<void>> {
  return { [PROOF]: altering(alter) };
}

function pageWith(pattern: RegExp, put: string): Record<string, (route: Route) => Promise<void>> {
  return {
    [`**${STORY}`]: async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      assert.match(html, pattern);
      await route.fulfill({ response, body: html.replace(pattern, put) });
    },
  };
}

/** A proof whose newest receipt says something else, everywhere it stands. */
function alterReceipt(proof: Proof, pattern: RegExp, put: string): Proof {
  const receipt = proof.receipt.replace(pattern, put);
  assert.notEqual(receipt, proof.receipt);
  return {
    ...proof,
    receipt,
    generations: proof.generations.map((generation) =>
      generation.receipt === proof.receipt ? { ...generation, receipt } : generation,
    ),
  };
}

function answer(status: number): (route: Route) => Promise<void> {
  return (route) => route.fulfill({ status, body: '' });
}
