import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { logSource } from '../../src/operate/audit/log/served-log.ts';
import { verifyLog } from '../../src/operate/audit/log/verify-log.ts';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { publishLog } from '../../src/signing/log/log-publication.ts';
import { appContextIn, envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { MemoryLog } from '../support/log.ts';
import { testLeaf } from '../support/log-leaves.ts';
import { LOG_FSCK, serveFiles, without } from '../support/log-peers.ts';
import { NO_STRACE } from '../support/strace.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('log-child.ts', import.meta.url));
const LEAVES = 10_000;
const run = promisify(execFile);

/** Starts a process that grows the log to a size, under a program if one is given. */
function grow(t: TestContext, folder: string, size: number, batch: number, under: string[] = []) {
  const [program = '', ...args] = [...under, process.execPath, CHILD, String(size), String(batch)];
  const env = { ...process.env, ...envIn(folder) };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  t.after(() => child.kill('SIGKILL'));
  return { child, ended: once(child, 'close'), said: () => said };
}

/** What is published is a whole log that goes on from the checkpoint before. Returns its checkpoint. */
async function assertWhole(folder: string, before: number): Promise<number> {
  const where = join(folder, 'log/records');
  if (!existsSync(join(where, 'checkpoint'))) return before;
  const { faults, size, root } = await verifyLog(logSource(where), null);
  assert.deepEqual(faults, []);
  assert.ok(size >= before, `${size} leaves follow ${before}`);
  const honest = new MemoryLog();
  honest.append(Array.from({ length: size }, (_, at) => testLeaf(at)));
  assert.equal(root, Buffer.from(honest.tree().root()).toString('base64'), 'no leaf was lost or repeated');
  return size;
}

test('a process that is killed at any step leaves a log that is whole, and the next one goes on', {
  skip: ONLY_WIDE || NO_STRACE,
}, async (t) => {
  const folder = tempFolder(t);
  let [size, published, killed] = [250, 0, 0];
  for (const call of ['rename', 'fsync', 'fdatasync', 'write', 'unlink']) {
    for (const number of [1, 3, 6]) {
      size += 3;
      const at = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`];
      const inject = `inject=${call}:signal=KILL:when=${call === 'write' ? 4 * number : number}`;
      const { ended } = grow(t, folder, size, 2, [...at, '-e', inject]);
      const [code] = await ended;
      if (code !== 0) killed++;
      published = await assertWhole(folder, published);
    }
  }
  assert.ok(killed >= 8, `${killed} processes were killed`);
  const { ended, said } = grow(t, folder, size, size);
  assert.equal((await ended)[0], 0, said());
  assert.equal(await assertWhole(folder, published), size);
});

test('10,000 leaves in batches, with processes that are killed in between, are a log that others accept', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  let published = 0;
  for (const [round, batch] of [1, 7, 255, 256, 300, 1_000].entries()) {
    const { child, ended } = grow(t, folder, LEAVES, batch);
    await once(child.stdout, 'data');
    setTimeout(() => child.kill('SIGKILL'), 40 + 70 * round);
    await ended;
    published = await assertWhole(folder, published);
  }
  const { ended, said } = grow(t, folder, LEAVES, 777);
  assert.equal((await ended)[0], 0, said());
  assert.equal(await assertWhole(folder, published), LEAVES);
  const app = appContextIn(t, folder, { now: Date.now() });
  await publishLog(app, 'records', openLogKey(app, 'records'), { isWhole: true, assertHeld() {} });
  assert.deepEqual(readdirSync(join(folder, 'log')), ['records'], 'nothing that was half written is left');
  const files = treeOf(join(folder, 'log/records'));

  const bytes = new Map([...files].map(([path, text]) => [path, Buffer.from(text, 'latin1')]));
  const url = await serveFiles(t, bytes);
  if (LOG_FSCK === null) t.diagnostic('no fsck of logs on the PATH');
  else {
    const key = join(folder, 'log/records/vkey');
    const { stderr } = await run(LOG_FSCK, [`--storage_url=${url}`, `--public_key=${key}`, '--ui=false']);
    assert.match(stderr, /Successfully fsck'd log/);
  }
  if (without('tlog-verify') !== false) t.diagnostic('no tlog-verify on the PATH');
  else {
    const policy = join(folder, 'log/records/policy');
    assert.match((await run('tlog-verify', ['log', policy, url])).stdout, /^10000 entries read and authenticated/);
  }
});

test('two processes that sign concurrently never fork', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.UTC(2026, 10, 20, 12) });
  const key = openLogKey(app, 'records');
  const children = [3, 5].map((batch) => grow(t, folder, 400, batch));
  for (const { ended, said } of children) assert.equal((await ended)[0], 0, said());
  await publishLog(app, 'records', key, { isWhole: true, assertHeld() {} });
  assert.equal(signHead(app, 'records', key), 'none');
  const honest = new MemoryLog();
  for (const head of app.store.database.log.heads('records')) {
    const { size, root } = parseCheckpoint(head.checkpoint);
    honest.append(Array.from({ length: size - honest.size }, (_, at) => testLeaf(honest.size + at)));
    assert.deepEqual(root, honest.tree().root());
  }
  assert.equal(await assertWhole(folder, 0), 400);
  assert.ok(readFileSync(join(folder, 'log/records/vkey'), 'utf8').startsWith(key.vkey));
});
