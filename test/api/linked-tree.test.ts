import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

const PAPER = 'the-plumb-line';
const STORY = 'stories/high-water';

test('a link in a pressed tree is neither served nor published, and a full press replaces it', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: PAPER }, { slug: 'hidden', isPublic: false }]);
  const { url } = await serveHere(t, folder);
  const tree = join(folder, 'papers', PAPER);
  const before = readFileSync(join(tree, 'rss.xml'), 'utf8');
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'SECRET');
  writeFileSync(join(outside, 'index.html'), 'SECRET');

  // A file with other bytes, one with the same bytes, a whole folder, a new name, and the page for what is missing.
  rmSync(join(tree, 'rss.xml'));
  symlinkSync(join(outside, 'secret.txt'), join(tree, 'rss.xml'));
  renameSync(join(tree, 'feed.json'), join(outside, 'feed.json'));
  symlinkSync(join(outside, 'feed.json'), join(tree, 'feed.json'));
  renameSync(join(tree, STORY), join(outside, 'story'));
  symlinkSync(join(outside, 'story'), join(tree, STORY));
  symlinkSync(outside, join(tree, 'new'));
  rmSync(join(tree, '404.html'));
  symlinkSync(join(outside, 'secret.txt'), join(tree, '404.html'));
  const log = join(folder, 'log/desk/vkey');
  renameSync(log, join(outside, 'vkey'));
  symlinkSync(join(outside, 'secret.txt'), log);

  for (const path of [
    'rss.xml',
    'feed.json',
    `${STORY}/`,
    `${STORY}/index.html`,
    'new/',
    'new/secret.txt',
    'nothing',
  ]) {
    const { status, text } = await ask(url, `/${PAPER}/${path}`);
    // A story's page is awaited from the press.
    assert.ok(status === 404 || status === 503, `${path}: ${status}`);
    assert.doesNotMatch(text, /SECRET/, path);
  }
  const { status, text } = await ask(url, '/log/vkey');
  assert.equal(status, 404);
  assert.doesNotMatch(text, /SECRET/);
  rmSync(log);
  renameSync(join(outside, 'vkey'), log);

  const published = await run(t, folder, ['publish', '--to', join(folder, 'out'), '--paper', PAPER]);
  assert.equal(published.code, 1);
  assert.match(published.stderr, /is a link, and nothing that a link leads to is published/);

  const audit = await run(t, folder, ['audit']);
  assert.equal(audit.code, 1);
  assert.match(audit.stdout, /feed\.json: this is a link, which is never served/);
  assert.match(audit.stdout, /the-plumb-line\/new: the (?:ledger|manifest) does not/);

  assert.equal((await run(t, folder, ['press', '--full'])).code, 0);
  const healed = await run(t, folder, ['audit']);
  assert.equal(healed.code, 0, healed.stdout);
  assert.equal((await ask(url, `/${PAPER}/rss.xml`)).text, before);
  assert.equal((await ask(url, `/${PAPER}/${STORY}/`)).status, 200);
  assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), 'SECRET');
});
