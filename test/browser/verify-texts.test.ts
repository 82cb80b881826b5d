import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSources } from '../../src/desk/jobs/evidence-job.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { NotFetched } from '../../src/parts/client/verify/fetched.ts';
import { textsOutcome } from '../../src/parts/client/verify/texts.ts';
import type { Proof } from '../../src/proof/proof.ts';
import { treeOf } from '../support/app-context.ts';
import { demoPaper, PAPER } from '../support/demo-sources.ts';
import { openBrowser } from './chromium.ts';
import { pressVerify } from './verify-panel.ts';

const TITLE = 'The texts of the sources are those that were read';
const STORY = 'stories/desk-note-two-publishers/';

test('the panel compares what the desk read with the signed notes', async (t) => {
  const app = await demoPaper(t);
  app.settings = { ...app.settings, demoSources: true };
  await checkSources(app, [PAPER]);
  await pressPapers(app, { cards: false });
  const tree = join(app.settings.distDir, PAPER);
  const proof = JSON.parse(readFileSync(join(tree, STORY, 'proof.json'), 'utf8')) as Proof;
  const texts = [...treeOf(tree).keys()].filter((name) => name.startsWith('evidence/'));
  assert.equal(texts.length, 2, 'two documents are cited');

  await t.test('a text that differs, is not there or lacks the quote where the note says', async () => {
    const files = new Map([...treeOf(tree).keys()].map((name) => [`/${name}`, readFileSync(join(tree, name))]));
    const outcome = (change = (bytes: Uint8Array | null) => bytes, of = proof, address = '/evidence/') =>
      textsOutcome(of, { address, fetch: async (name) => change(files.get(name) ?? null) });
    const whole = await outcome();
    assert.deepEqual([whole.check?.holds, whole.open], [true, '']);
    assert.match(`${whole.check?.found}`, /^Texts compared: 1\./);
    const altered = await outcome((bytes) => bytes && Buffer.concat([bytes, Buffer.from('.')]));
    assert.equal(altered.check?.holds, false);
    assert.match(`${altered.check?.found}`, /^The text at \/evidence\/\w+\.txt has the hash sha256:\w+, but the note/);
    assert.deepEqual(await outcome(() => null), {
      check: null,
      open: 'Texts of sources that are not on this site, and so were not compared: 1.',
    });
    assert.match((await outcome(undefined, proof, '')).open, /^The paper does not publish the texts/);
    assert.deepEqual(await outcome(undefined, { ...proof, evidence: [] }), { check: null, open: '' });
    const offline = () => Promise.reject(new NotFetched('the line is cut.'));
    assert.match((await textsOutcome(proof, { address: '/', fetch: offline })).open, /because the line is cut\.$/);
    // A desk that signs the wrong place.
    const moved = structuredClone(proof);
    for (const one of moved.evidence ?? []) one.note = one.note.replace(/\nquote \d+-\d+\n/, '\nquote 0-9\n');
    const at = await outcome(undefined, moved);
    assert.deepEqual(at.check?.found.slice(0, 1), ['Source 5: at the place of the quote the text says “The Plumb”.']);
    for (const one of moved.evidence ?? []) one.note = one.note.replace('\nquote 0-9\n', '\nquote 0-999999\n');
    assert.match(`${(await outcome(undefined, moved)).check?.found}`, /at byte 999999 of a text of \d+/);
  });

  await t.test('in a browser', async () => {
    const browser = await openBrowser();
    t.after(() => browser.close());
    const root = `http://localhost/${PAPER}/`;
    const types: Record<string, string> = {
      html: 'text/html',
      js: 'text/javascript',
      css: 'text/css',
      txt: 'text/plain',
    };
    const opened = async (isWhole: boolean) => {
      const page = await browser.newPage();
      await page.route('**/*', async (route) => {
        const name = new URL(route.request().url()).pathname.slice(PAPER.length + 2).replace(/\/$|^$/, '/index.html');
        const file = name.startsWith('evidence/') && !isWhole ? join(tree, 'robots.txt') : join(tree, name);
        const contentType = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
        await route.fulfill({ path: file, contentType }).catch(() => route.fulfill({ status: 404 }));
      });
      await page.goto(root + STORY);
      return pressVerify(page);
    };
    const whole = await opened(true);
    assert.deepEqual([whole.checks.includes(TITLE), whole.failed], [true, []], whole.text);
    assert.deepEqual((await opened(false)).failed, [TITLE]);
  });
});
