import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { writeStory } from '../support/papers.ts';
import { copyDemo, DEMO_ORIGINS, run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const { ORIGIN: origin } = DEMO_ORIGINS;
const ORIGIN = { ORIGIN: origin };

test('press leaves the published log of a desk without a server', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const log = join(folder, 'log/desk');
  // Where a file is, not even root can write a folder.
  mkdirSync(join(folder, 'log'), { recursive: true });
  writeFileSync(log, '');
  const refused = await run(t, folder, ['press'], ORIGIN);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^broadsheet: [^\n]*there is a file where a folder belongs; move it away[^\n]*\n$/);
  assert.ok(existsSync(join(folder, 'papers/tide-table/index.html')), 'the papers are pressed all the same');
  rmSync(log);
  const pressed = await run(t, folder, ['press'], ORIGIN);
  assert.deepEqual([pressed.code, pressed.stderr], [0, '']);
  const checked = await run(t, folder, ['log', 'verify', log, '--json']);
  assert.equal(checked.code, 0, checked.stdout);
  const before = treeOf(log);
  assert.equal((await run(t, folder, ['press'], ORIGIN)).code, 0);
  assert.deepEqual(treeOf(log), before, 'without new leaves nothing is signed');
  assert.ok(!existsSync(join(folder, 'log/records')), 'the records have a server');
});

test('a server on a copy of yesterday serves what it has, says why it signs nothing, and recovers', async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const at = (name: string) => join(folder, name);
  const restore = (from: string, to: string) => {
    rmSync(at(to), { recursive: true, force: true });
    cpSync(at(from), at(to), { recursive: true });
  };
  restore('var', 'yesterday');
  const file = writeStory(folder, 'since-yesterday', { air: new Date().toISOString() });
  assert.equal((await run(t, folder, ['file', file], ORIGIN)).code, 0);
  assert.equal((await run(t, folder, ['press'], ORIGIN)).code, 0);
  const { size } = parseCheckpoint(readFileSync(at('log/desk/checkpoint'), 'utf8'));
  restore('var', 'today');
  restore('yesterday', 'var');

  const old = await serveHere(t, folder, ORIGIN);
  const health = JSON.parse((await ask(old.url, '/health')).text) as { log_fence: string };
  assert.match(
    health.log_fence,
    new RegExp(`^the log \\S+ has \\d+ leaves here, and its published checkpoint has ${size}; restore the newest copy`),
  );
  assert.equal((await ask(old.url, '/the-plumb-line/')).status, 200);
  const filed = await run(t, folder, ['file', file], ORIGIN);
  assert.equal(filed.code, 1);
  assert.ok(filed.stderr.includes(`nothing is signed: ${health.log_fence}`), filed.stderr);
  assert.ok((await run(t, folder, ['log', 'status'], ORIGIN)).stdout.includes(health.log_fence));
  await old.stop();

  restore('today', 'var');
  const newest = await serveHere(t, folder, ORIGIN);
  assert.equal(JSON.parse((await ask(newest.url, '/health')).text).log_fence, null);
  const again = writeStory(folder, 'and-again', { air: new Date().toISOString() });
  assert.equal((await run(t, folder, ['file', again], ORIGIN)).code, 0);
  assert.equal((await newest.stop()).code, 0);
});
