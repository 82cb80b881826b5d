// Runs the tests: builds the pages if the code has changed since the last build, then runs the files with Node's
// runner.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { planOf } from './plan.mjs';
import summary from './summary.mjs';

const folder = mkdtempSync(join(tmpdir(), 'broadsheet-build-'));
Object.assign(process.env, {
  ASTRO_TELEMETRY_DISABLED: '1',
  // Hundreds of processes load the same modules, so they share what Node compiled, for the duration of this run.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
});

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopped.abort());

/** The build files and presses as well: in a folder of its own, so that no paper of the reader's is touched. */
async function build() {
  const env = {
    ...process.env,
    DATA_DIR: join(folder, 'var'),
    DIST_DIR: join(folder, 'papers'),
    LOG_DIR: join(folder, 'log'),
    // As in test/support/app-context.ts, because tests file the same content again.
    DEMO_DATES: 'off',
  };
  const child = spawn(process.execPath, ['node_modules/astro/bin/astro.mjs', 'build'], { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  if (code !== 0 || stopped.signal.aborted) return false;
  // Where all data folders of the run keep the pictures that they draw: test/support/empty-database.ts.
  const [pictures, drawn] = [join(env.DATA_DIR, 'pictures'), join(folder, 'drawn')];
  renameSync(pictures, drawn);
  symlinkSync(drawn, pictures);
  return true;
}

/** Runs files in their order, and returns whether all tests passed. After a signal no file is started. */
async function test(files) {
  // Tests that need a desk with these papers copy it (copyDemo): drawing their cards takes longer than starting it.
  process.env.PRESSED_DEMO = folder;
  const events = run({
    files,
    // Twice as many files at a time as there are cores, because most wait for a disk or for processes that they start.
    concurrency: 2 * availableParallelism(),
    // Tests make much short-lived garbage: a larger young generation saves a twelfth of their time.
    execArgv: ['--max-semi-space-size=32'],
    signal: stopped.signal,
    // So that a test that waits for a dead process, such as a browser, does not block the others for ever.
    timeout: 20 * 60_000,
  });
  let isPassed = true;
  events.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) isPassed = false;
  });
  const ending = summary(events);
  await once(
    events.compose(spec).on('data', (text) => process.stdout.write(text)),
    'end',
  );
  process.stdout.write(ending());
  return isPassed && !stopped.signal.aborted;
}

/** The files and folders named on the command line, or all; `--shard=1/4` leaves every fourth. */
function chosen(args) {
  const shard = args.findLast((arg) => arg.startsWith('--shard='));
  const [, index, total] = /^--shard=(\d+)\/(\d+)$/.exec(shard ?? '--shard=1/1') ?? [];
  if (index === undefined || +index < 1 || +index > +total) throw new Error(`${shard}: name a shard as --shard=1/4`);
  const named = args.filter((arg) => !arg.startsWith('--shard='));
  const patterns = named.length > 0 ? named : ['test/**/*.test.ts'];
  const files = patterns.flatMap((pattern) =>
    statSync(pattern, { throwIfNoEntry: false })?.isDirectory()
      ? globSync(join(pattern, '**/*.test.ts'))
      : globSync(pattern),
  );
  if (files.length === 0) throw new Error(`${patterns.join(' ')}: no such file`);
  return planOf([...new Set(files)].map((file) => resolve(file)).sort(), folder).filter(
    (_, n) => n % +total === +index - 1,
  );
}

try {
  const files = chosen(process.argv.slice(2));
  if (!(await build()) || !(await test(files))) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
