// Runs every test: builds the pages if they are not those of the present code, then calls Node's own runner.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'broadsheet-build-'));
const summary = join(folder, 'summary.txt');
// Hundreds of processes read the same modules: what Node made of each is kept for the others, as long as this runs.
const compiled = join(folder, 'compiled');
const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', NODE_COMPILE_CACHE: compiled };

/** Runs Node to its end. A signal ends all of a terminal's or of CI's processes: this one stays to say how far it came. */
async function run(args, more = {}) {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...env, ...more } });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/** Under CI, up to so many files that failed are run once more: a machine with other work fails tests that wait. */
const RERUN_MAX = 4;
const failedFiles = () =>
  existsSync(summary)
    ? [...new Set([...readFileSync(summary, 'utf8').matchAll(/^✖ (\S+):\d+ /gm)].map(([, file]) => file))]
    : [];

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});

try {
  // The build files and presses as well: in a folder of its own, so that no paper of the reader's is touched.
  // Tests that need a desk with these papers copy it (copyDemo): drawing their cards takes longer than starting it.
  const built = await run(['node_modules/astro/bin/astro.mjs', 'build'], {
    DATA_DIR: join(folder, 'var'),
    DIST_DIR: join(folder, 'papers'),
    LOG_DIR: join(folder, 'log'),
  });
  // --shard=1/4 runs one quarter of the files.
  const shard = process.argv.slice(2).filter((arg) => arg.startsWith('--shard='));
  const files = process.argv.slice(2).filter((arg) => !shard.includes(arg));
  const part = shard.map((arg) => arg.replace('--', '--test-'));
  const options = [
    // One file more at a time than there are cores: many wait for the processes that they start.
    `--test-concurrency=${availableParallelism() + 1}`,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./test/summary.mjs', '--test-reporter-destination=stderr'],
  ];
  const test = (chosen) => run(['--test', ...options, ...chosen], { PRESSED_DEMO: folder, TEST_SUMMARY: summary });
  process.exitCode = built || (await test([...part, ...(files.length > 0 ? files : ['test/**/*.test.ts'])]));
  if (existsSync(summary)) process.stdout.write(readFileSync(summary));
  // A property with a new seed would fail once, and be forgotten.
  const failed = process.env.CI && !process.env.PROPERTY_TIMES ? failedFiles() : [];
  if (failed.length > 0 && failed.length <= RERUN_MAX) {
    console.log(`\nci: once more, by themselves: ${failed.join(' ')}`);
    process.exitCode = await test(failed);
    process.stdout.write(readFileSync(summary));
    if (process.exitCode === 0) console.log(`ci: flaky, which is a defect to be mended: ${failed.join(' ')}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
