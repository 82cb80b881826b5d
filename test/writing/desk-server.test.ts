import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { listenTo } from '../support/events.ts';
import { ask } from '../support/http.ts';
import { copyContent, start, until } from '../support/program.ts';
import { send } from '../support/send.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('dev shows a folder with the built pages, and reloads what is open', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  const running = start(t, folder, ['dev']);
  const [, url = ''] = await until(() => {
    assert.equal(running.child.exitCode, null, running.said.stderr);
    return /^(http:\S+)\/ shows \S+ as it is on disk; nothing is filed\n$/.exec(running.said.stdout);
  });
  const paper = '/the-plumb-line';
  const story = `${paper}/stories/yard-and-pound-1959/`;
  for (const [path, type, text] of [
    ['/newsstand/', 'text/html', 'The Plumb Line'],
    ['/_desk/', 'text/html', 'Writing desk'],
    ['/log/', 'text/html', 'Transparency log'],
    ['/favicon.svg', 'image/svg+xml', '<svg'],
    [`${paper}/`, 'text/html', '<broadsheet-desk'],
    [story, 'text/html', '/_desk/reload.js'],
    ['/_desk/reload.js', 'text/javascript', 'EventSource'],
    [`${paper}/embed/yard-and-pound-1959/`, 'text/html', 'yard'],
    [`${paper}/hue.css`, 'text/css', '--hue'],
    [`${paper}/rss.xml`, 'application/rss+xml', '<rss'],
    [`${paper}/media/art/yard.svg`, 'image/svg+xml', '<svg'],
  ] as const) {
    const answer = await ask(url, path);
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
    assert.ok(String(answer.headers['content-type']).startsWith(type), `${path} is ${answer.headers['content-type']}`);
    assert.ok(answer.text.includes(text), `${path} holds ${text}`);
  }
  for (const page of ['/newsstand/', '/log/', `${paper}/`, story]) {
    const links = [
      ...(await ask(url, page)).text.matchAll(/<(?:link rel="stylesheet"|script)[^>]* (?:href|src)="(\/[^"]+)"/g),
    ];
    assert.ok(links.length > 1, page);
    for (const [, href = ''] of links) assert.equal((await ask(url, href)).status, 200, `${page} links ${href}`);
  }
  for (const path of [`${paper}/nothing`, '/nothing', '/records/landing', `${story}proof.json`, '/../package.json'])
    assert.equal((await ask(url, path)).status, 404, path);
  assert.equal((await ask(url, paper)).headers.location, `${paper}/`);

  const changes = await listenTo(url, '/_desk/changes');
  const file = join(folder, 'content/the-plumb-line/stories/yard-and-pound-1959.2.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^headline: .*/m, 'headline: Metres for all'));
  await changes.atLeast(1);
  changes.hangUp();
  assert.match((await ask(url, story)).text, /Metres for all/);

  // A site whose name was given this address reads no draft.
  const foreign = await ask(url, story, { host: 'attacker.example' });
  assert.equal(foreign.status, 400);
  assert.match(foreign.text, /^attacker\.example: this server is not known by that name; /);
  assert.equal((await send(url, { method: 'POST', path: story, body: {} })).status, 400);
  assert.deepEqual(readdirSync(folder), ['content'], 'nothing is filed');
  const second = await start(t, folder, ['dev'], { PORT: new URL(url).port }).ended;
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    /^broadsheet: port \d+ of \S+ is taken; set PORT to another one, or to 0 for a free one\n$/,
  );
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).stderr, '');
});
