import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LateJobs } from '../../src/cmd/serve/jobs.ts';
import { tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('jobs start in order when the server is ready; stopped ones do not', async () => {
  const told: string[] = [];
  const late = new LateJobs((start) => start());
  const job = (name: string) => () => {
    told.push(name);
    return async () => {
      told.push(`${name} stopped`);
    };
  };
  const [stopFirst, stopSecond] = [late.startJob(job('first')), late.startJob(job('second'))];
  late.startJob(job('third'));
  await stopSecond();
  assert.deepEqual(told, []);
  late.begin();
  assert.deepEqual(told, ['first', 'third']);
  late.startJob(job('after a reload'));
  await stopFirst();
  assert.deepEqual(told.slice(2), ['after a reload', 'first stopped']);
});

test('a job that cannot be started fails the start', () => {
  const late = new LateJobs((start) => start());
  late.startJob(() => {
    throw new Error('no such job');
  });
  assert.throws(() => late.begin(), /no such job/);
});

test('a server that is killed leaves its compiled modules to the next one', { skip: ONLY_WIDE }, async (t) => {
  const cache = join(tempFolder(t), 'compiled');
  const serving = `const { keepCompiled } = await import(${JSON.stringify(new URL('../../src/cmd/serve/keep-compiled.ts', import.meta.url))});
    keepCompiled();
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', serving], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache },
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  t.after(() => child.kill('SIGKILL'));
  const kept = () => existsSync(cache) && readdirSync(cache, { recursive: true }).length > 1;
  await until(() => kept() || child.exitCode !== null || null);
  assert.equal(child.exitCode, null);
  child.kill('SIGKILL');
  await ended;
  assert.ok(kept());
});
