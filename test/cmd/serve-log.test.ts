import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';

test('a server whose log is not read still exits', { skip: process.platform === 'win32' }, async (t) => {
  const pipe = join(tempFolder(t), 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  // Opened for reading too, it has a reader, who does not read.
  const unread = openSync(pipe, 'r+');
  t.after(() => closeSync(unread));
  const ending = `const { flushed, openServerLog } = await import(${JSON.stringify(new URL('../../src/server/server-log.ts', import.meta.url))});
    const log = openServerLog('info');
    for (let line = 0; line < 2_000; line++) log.info('x'.repeat(200));
    process.stdout.write('full');
    await flushed(log);
    process.exit(0);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', ending], {
    stdio: ['ignore', 'pipe', unread],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  child.stdout?.resume();
  assert.deepEqual(await ended, [null, 'SIGKILL']);
});
