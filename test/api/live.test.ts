import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http.ts';
import { writeStory } from '../support/papers.ts';
import { copyDemo, run, serve, until } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { shared } from '../support/shared.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = '/the-plumb-line';

const served = shared(async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  return { folder, url: (await serve(t, folder)).url };
});

test('what another process files is on air while the server runs', { skip: ONLY_WIDE }, async (t) => {
  const { folder, url } = served();
  const file = writeStory(folder, 'filed-live', { air: new Date().toISOString() });
  const filed = await run(t, folder, ['file', file], { ORIGIN: url });
  assert.equal(filed.code, 0, filed.stderr);
  for (const path of [
    '/',
    '/rss.xml',
    '/feed.json',
    '/front.json',
    '/sections/measures/',
    '/sitemap-news.xml',
    '/llms.txt',
  ]) {
    await shows(url, `${PAPER}${path}`, 'filed-live');
  }
  await shows(url, `${PAPER}/stories/filed-live/`, 'What filed-live means');
  const left = writeStory(folder, 'left-to-the-server', { air: new Date().toISOString() });
  assert.equal((await run(t, folder, ['file', '--no-press', left], { ORIGIN: url })).code, 0);
  await shows(url, `${PAPER}/`, 'left-to-the-server');
  await until(async () => ((await run(t, folder, ['audit'], { ORIGIN: url })).code === 0 ? true : null));
});

// On a push test/api/writes.test.ts does so with a piece of the API.
test('a scheduled piece goes on air on time, also after suspend', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const port = String(await freePort());
  const first = await serveHere(t, folder, { PORT: port });
  const soon = Date.now() + 4_000;
  const later = soon + 4_000;
  writeStory(folder, 'soon', { air: new Date(soon).toISOString() });
  writeStory(folder, 'later', { air: new Date(later).toISOString() });
  assert.equal((await run(t, folder, ['file'], { ORIGIN: first.url })).code, 0);
  const { status } = await ask(first.url, `${PAPER}/stories/soon/`);
  if (Date.now() < soon) assert.equal(status, 404, 'not before its time');
  await shows(first.url, `${PAPER}/`, '/stories/soon/');
  assert.ok(Date.now() >= soon);
  assert.equal((await first.stop()).code, 0);
  await until(() => (Date.now() > later ? true : null));
  const second = await serveHere(t, folder, { PORT: port });
  assert.match((await ask(second.url, `${PAPER}/`)).text, /\/stories\/later\//);
  const feed = JSON.parse((await ask(second.url, `${PAPER}/feed.json`)).text);
  const item = feed.items.find(({ url }: { url: string }) => url.endsWith('/stories/later/'));
  assert.equal(item.date_published, new Date(later).toISOString());
});

test('a reader never sees half a file while everything is pressed again', { skip: ONLY_WIDE }, async (t) => {
  const { folder, url } = served();
  const yaml = join(folder, 'content/the-plumb-line/paper.yaml');
  const text = readFileSync(yaml, 'utf8');
  const paths = ['/', '/stories/yard-and-pound-1959/', '/stories/year-2038/', '/rss.xml', '/feed.json'];
  let pressing = true;
  let answers = 0;
  const watch = async (path: string): Promise<void> => {
    while (pressing) {
      const { status, text: body, headers } = await ask(url, `${PAPER}${path}`);
      assert.equal(status, 200);
      assert.equal(Number(headers['content-length']), Buffer.byteLength(body));
      assert.match(
        body,
        path.endsWith('/') ? /^<!doctype html>[\s\S]*<\/html>\s*$/i : /^[<{][\s\S]*(?:<\/rss>|\})\s*$/,
      );
      answers++;
    }
  };
  const watching = Promise.all(paths.map(watch));
  const longer = 'The Plumb Line, at Greater Length Than Before';
  for (const nameplate of ONLY_WIDE === false ? [longer, 'Plumb', 'The Plumb Line'] : [longer]) {
    writeFileSync(yaml, text.replace('nameplate: The Plumb Line', `nameplate: ${nameplate}`));
    assert.equal((await run(t, folder, ['file', '--no-press'], { ORIGIN: url })).code, 0);
    await shows(url, `${PAPER}/`, `<title>${nameplate}`);
  }
  pressing = false;
  await watching;
  assert.ok(answers > 0);
});

/** Waits until an address shows a text. */
function shows(url: string, path: string, text: string): Promise<true> {
  return until(async () => ((await ask(url, path)).text.includes(text) ? true : null));
}
